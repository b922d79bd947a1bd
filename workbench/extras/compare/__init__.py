"""Comparison of models on items that are all scored."""
