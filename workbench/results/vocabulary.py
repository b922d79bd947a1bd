"""The row keys of all results, and the words shown for them in headings and sentences.

`KEYS` lists the row keys: one key per idea, the same in every topic. `SHOWN` holds the headings of
tables. `METHODS` and `METRICS` hold the words used in sentences, `EXPLAINED` those that reports
explain.
"""

KEYS = frozenset(
    """
    stratum size items labeled skipped correct accuracy sampled weight sd mean mean_score
    bounded unused budget above up_to id score prediction rival truth label counted predicted
    item value number wave psu psus strata box place estimate estimate_low estimate_high
    bounded_low bounded_high standard_error low high level half_width variance variance_ratio
    bias rmse difference change growth growth_low growth_high first second first_period
    last_period period month share true_share rate probability test statistic df pvalue
    adjusted_pvalue naive_pvalue nadeau_bengio_pvalue rho rho_of_all rho_alpha r assumed_rho
    true_rho repeat fold study region about verdict n metric quantity group naive_estimate
    naive_low naive_high design_effect worth mean_standard_error neyman proportional only_a
    only_b alike both_wrong method interval_method design estimator stratifier n_strata assumes
    constant use audit new_base_rate note problem flags undefined refused infinite
    zero_variance_refused planned_sd to_label runs factors levels strength full replicates count
    cv mean_ratio ratio records coverage rejects type_one mean_absolute_error
    estimated_variance_ratio coverage_error rejects_error type_one_error
    mean_absolute_error_error estimated_variance_ratio_error bias_error sd_error rmse_error
    variance_ratio_error half_width_error cv_error mean_ratio_error ratio_error true_rho_error
    claim printed ours corrected reach error why name seconds data assured confidence margin
    digit read_a read_b vote_share exercise message hint explanation time who row reason limits
    setting simulated_bias simulated_sd simulated_rmse model best_rank worst_rank groups differ
    unscored slice first_label second_label proportion proportion_standard_error proportion_low
    proportion_high precision precision_standard_error precision_low precision_high recall
    recall_standard_error recall_low recall_high f1 f1_standard_error f1_low f1_high
""".split()
)
# numbers in the units of the estimate, rounded by the size of its error
ESTIMATES = frozenset(
    """
    bounded_low bounded_high estimate standard_error low high half_width difference change
    counted naive_estimate naive_low naive_high truth
""".split()
)
COUNTS = frozenset(
    """
    size items labeled skipped correct sampled bounded unused budget above psus worth n count
    records alike only_a only_b both_wrong differ unscored runs neyman proportional to_label
    assured
""".split()
)
SHOWN = {
    "adjusted_pvalue": "adjusted p",
    "alike": "same label twice",
    "assured": "labels, with assurance",
    "bounded": "labeled completely",
    "bounded_high": "high, bounded",
    "bounded_low": "low, bounded",
    "both_wrong": "both incorrect",
    "counted": "classify-and-count estimate",
    "differ": "items that differ",
    "estimate_high": "estimate, highest",
    "estimate_low": "estimate, lowest",
    "first_period": "from",
    "groups": "tie groups",
    "half_width": "half-width",
    "half_width_error": "half-width error",
    "interval_method": "interval",
    "label": "class",
    "labeled": "labels",
    "last_period": "to",
    "limits": "confidence interval",
    "mean_standard_error": "SE of the mean",
    "nadeau_bengio_pvalue": "p, Nadeau-Bengio",
    "naive_pvalue": "p, naive t",
    "only_a": "only A correct",
    "only_b": "only B correct",
    "psu": "PSU",
    "psus": "PSUs",
    "pvalue": "p",
    "reach": "tolerance",
    "rival": "second prediction",
    "rho_of_all": "rho of all repeats",
    "share": "proportion",
    "skipped": "could not be labeled",
    "to_label": "still to label",
    "true_share": "true proportion",
    "type_one": "type I",
    "type_one_error": "type I error",
    "vote_share": "proportion of votes",
    "worth": "effective sample size",
}
# words for methods in sentences
METHODS = {
    "mle": "maximum likelihood (mle)",
    "misclassification": "the misclassification estimator",
    "calibration": "the calibration estimator",
    "mixed": "the mixed estimator",
    "classify_and_count": "classify and count",
    "fay": "Fay's method",
    "brr": "balanced half-samples (BRR)",
    "jkn": "the jackknife",
    "jk1": "the jackknife",
    "jk2": "the jackknife",
    "bootstrap": "the bootstrap",
    "sdr": "successive differences (SDR)",
    "subtracted_bias": "subtracting the bias",
    "generalized": "the generalized method",
}
# words for metrics in sentences
METRICS = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "auc": "AUC",
    "mcc": "MCC",
    "brier": "Brier score",
    "rmse": "RMSE",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
}

EXPLAINED = {
    "AUC": "the probability that an item of the class has a higher score than an item of another "
    "class; 50% is guessing",
    "BRR": "balanced repeated replication: the estimate is computed again from balanced halves of "
    "the clusters, and the spread of these values is its standard error",
    "design effect": "the variance of an estimate, divided by that of a simple random sample of "
    "the same size; below 1, the design made the estimate more precise",
    "df": "degrees of freedom, roughly the number of clusters minus the number of strata",
    "F1": "one number for precision and recall (their harmonic mean): low if either is low",
    "frame": "all items from which the audit sample was taken",
    "gamma": "the covariance of two items in different folds (omega: of two in the same fold)",
    "mle": "maximum likelihood estimate: the true proportions under which the audit sample and the "
    "predicted counts together are most likely",
    "Nadeau-Bengio": "a t-test for cross-validation that allows for folds which share training "
    "items: rho is K / (2K - 1) for K folds",
    "Neyman": "Neyman's rule: each stratum gets labels in proportion to its size times its "
    "standard deviation",
    "omega": "the covariance of two items in the same fold (gamma: of two in different folds)",
    "P(prediction | truth)": "how often items of a class are predicted as each class: a property "
    "of the classifier",
    "P(truth | prediction)": "how often items predicted as a class are of each class: it changes "
    "with the class proportions",
    "precision": "of the items predicted to be of the class, the proportion that truly are",
    "PSU": "primary sampling unit, the cluster that was sampled: a person, a site, a box. Items of "
    "one PSU resemble each other, so they carry less information than items of different PSUs",
    "recall": "of the items truly of the class, the proportion that are predicted to be",
    "rho": "the dependence of folds: the proportion of the variance of a cross-validated mean that "
    "the folds do not show, because they share training items. At 0 the folds are independent; "
    "near 1 they show almost none of the variance",
    "RMSE": "root mean squared error: the typical error of an estimate, bias and chance combined",
    "SE": "standard error: the typical random error of an estimate; the estimate plus and minus "
    "two standard errors is roughly a 95% confidence interval",
    "stratum": "a group of items, such as those of similar scores, from which items to label are "
    "sampled separately",
    "theta": "theta1 to theta5: five estimates of the variance of a cross-validated mean, each "
    "correct under its own assumption",
    "VOILA": "the allocation of labels to strata, in whole numbers, with the smallest standard "
    "error; no stratum gets more labels than it has items",
    "wald": "the textbook interval: the estimate plus and minus two standard errors. It is too "
    "short with few labels",
}


def words(key: str) -> str:
    """Return the words for a row key; any other name, such as a user's column, is unchanged.

    Parameters
    ----------
    key : str
        Row key or other heading.

    Examples
    --------
    >>> words("pvalue"), words("standard_error"), words("my_column")
    ('p', 'standard error', 'my_column')
    """
    return SHOWN.get(key, key.replace("_", " ")) if key in KEYS else key


def method_words(name: str) -> str:
    """Return the words for a method in a sentence.

    Parameters
    ----------
    name : str
        Code of a method, such as "mle".

    Examples
    --------
    >>> method_words("fay"), method_words("baseline")
    ("Fay's method", 'baseline')
    """
    return METHODS.get(name, name)


def metric_words(name: str) -> str:
    """Return the words for a metric in a sentence.

    Parameters
    ----------
    name : str
        Code of a metric, such as "f1".

    Examples
    --------
    >>> metric_words("f1"), metric_words("recall")
    ('F1', 'recall')
    """
    return METRICS.get(name, name)
