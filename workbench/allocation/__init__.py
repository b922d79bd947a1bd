"""Allocation of labels to strata: rules, label plans, samples of data frames and streams."""
