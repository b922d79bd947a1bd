"""Stratified accuracy: strata of scores, estimates, intervals, plans and waves."""
