"""The scene of a lesson to repeat for each misconception in a graded exercise."""

# (exercise, misconception of `workbench.lessons.checking`) -> heading of the scene to repeat
SCENES = {
    ("1.1", "no finite-population factor"): "How many labels do you need?",
    ("1.2", "budget not spent"): "Strata and allocation: where do the 100 labels go?",
    ("1.2", "fewer than two labels"): "The paper's robot",
    ("1.2", "equal shares"): "Strata and allocation: where do the 100 labels go?",
    ("2.1", "sum taken for the mean"): "Half-samples: one box of each district",
    ("2.1", "variance of a mean of two"): "Half-samples: one box of each district",
    ("2.4", "clusters ignored"): "The effective sample size of fourteen boxes",
    ("3.1", "drawn with replacement"): "Paper box: what was printed, what we found",
    ("3.2", "budget not spent"): "Place value",
    ("3.2", "labels below zero"): "One label at a time",
    ("3.2", "more labels than items"): "Place value",
    ("4.1", "calibration after a shift"): "Months: who follows the truth?",
    ("4.1", "counted share taken for the true one"): "Why counting is biased",
    ("4.4", "levels taken as independent"): "Did it change?",
    ("5.1", "variance divided by K"): "By hand: where the factor comes from",
    ("5.1", "normal distribution for t"): "One slider for all K-fold t-tests",
    ("5.1", "one-sided p"): "One slider for all K-fold t-tests",
    ("5.1", "t shrunk by rho itself"): "One slider for all K-fold t-tests",
    ("5.3", "repeats counted as new forms"): "Two clerks",
    ("5.3", "degrees of freedom of one repeat"): "Two clerks",
}
