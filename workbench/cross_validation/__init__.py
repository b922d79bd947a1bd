"""Comparison of models by cross-validation: losses, t-tests of folds and other tests."""
