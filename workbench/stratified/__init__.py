"""Accuracy from stratified samples: strata, estimates, intervals, plans and waves of labels."""
