"""Stratified accuracy: strata of scores, estimates, intervals, waves and the audit that joins them."""
