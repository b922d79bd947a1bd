"""The scene of a lesson to repeat for each misconception in a graded exercise."""

# (exercise, misconception of `workbench.lessons.checking`) -> heading of the scene to repeat
SCENES = {
    ("1.1", "the finite-population correction is missing"): "How many labels do you need?",
    (
        "1.2",
        "the labels do not add up to the budget",
    ): "Strata and allocation: where do the 100 labels go?",
    ("1.2", "a stratum has fewer than two labels"): "The paper's robot",
    (
        "1.2",
        "every stratum has the same number of labels",
    ): "Strata and allocation: where do the 100 labels go?",
    (
        "2.1",
        "the sum over districts was not divided by their number",
    ): "Half-samples: one box of each district",
    (
        "2.1",
        "the variance of the mean of two boxes was not divided by four",
    ): "Half-samples: one box of each district",
    (
        "2.4",
        "the labels were treated as independent, without clusters",
    ): "The effective sample size of fourteen boxes",
    (
        "3.1",
        "the variance is that of sampling with replacement",
    ): "Paper box: what was printed, what we found",
    ("3.2", "the labels do not add up to the budget"): "Place value",
    ("3.2", "a stratum has a negative number of labels"): "One label at a time",
    ("3.2", "a stratum has more labels than items"): "Place value",
    (
        "4.1",
        "calibration was used although the true proportion has changed",
    ): "Months: who follows the truth?",
    (
        "4.1",
        "the classify-and-count estimate was taken as the true proportion",
    ): "Why counting is biased",
    ("4.4", "the errors of the two months were treated as independent"): "Did it change?",
    (
        "5.1",
        "the variance was divided by K instead of K minus one",
    ): "By hand: where the factor comes from",
    (
        "5.1",
        "the normal distribution was used instead of the t distribution",
    ): "One slider for all K-fold t-tests",
    ("5.1", "the p-value is one-sided"): "One slider for all K-fold t-tests",
    (
        "5.1",
        "t was multiplied by one minus rho instead of its square root",
    ): "One slider for all K-fold t-tests",
    ("5.3", "the repeats were treated as if they used new forms"): "Two clerks",
    ("5.3", "the degrees of freedom are those of a single repeat"): "Two clerks",
}
