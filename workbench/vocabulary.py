"""The row keys of all results, one name per idea in every topic, and the words that people read for them."""

KEYS = frozenset("""
    stratum size items labeled correct accuracy sampled weight sd mean mean_score bounded unused budget above up_to
    id score prediction rival truth label counted predicted item value number wave psu psus strata box place
    estimate standard_error low high level half_width variance variance_ratio bias rmse difference change growth
    growth_low growth_high first second first_period last_period period month share true_share rate probability
    test statistic df pvalue adjusted_pvalue naive_pvalue nadeau_bengio_pvalue rho rho_of_all rho_alpha r assumed_rho
    true_rho repeat fold study region about verdict n
    metric quantity group naive_low naive_high design_effect worth mean_standard_error neyman proportional
    only_a only_b alike both_wrong
    method interval_method design estimator stratifier n_strata assumes constant use audit new_base_rate
    note problem flags undefined refused infinite zero_variance_refused
    runs factors levels strength full replicates count cv mean_ratio ratio records
    coverage rejects type_one mean_absolute_error estimated_variance_ratio
    coverage_error rejects_error type_one_error mean_absolute_error_error estimated_variance_ratio_error bias_error
    sd_error rmse_error variance_ratio_error half_width_error cv_error mean_ratio_error ratio_error true_rho_error
    claim printed ours error why name seconds data
    confidence margin digit read_a read_b vote_share exercise message hint explanation
""".split())
SHOWN = {"adjusted_pvalue": "adjusted p", "bounded": "labeled completely", "first_period": "from",
         "half_width": "half-width", "half_width_error": "half-width error", "interval_method": "interval",
         "label": "class", "labeled": "labels", "last_period": "to", "mean_standard_error": "SE of the mean",
         "nadeau_bengio_pvalue": "p, Nadeau-Bengio", "naive_pvalue": "p, naive t", "only_a": "only A right",
         "only_b": "only B right", "psu": "PSU", "psus": "PSUs", "pvalue": "p", "rho_of_all": "rho of all repeats",
         "type_one": "type I", "type_one_error": "type I error"}


def words(key: str) -> str:
    """Return what people read for a row key; what is none, such as a column of a user's file, stays as it is.

    Parameters
    ----------
    key : str

    Examples
    --------
    >>> words("pvalue"), words("standard_error"), words("my_column")
    ('p', 'standard error', 'my_column')
    """
    return SHOWN.get(key, key.replace("_", " ")) if key in KEYS else key
