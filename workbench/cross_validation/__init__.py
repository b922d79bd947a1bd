"""Is model A better than model B: losses, t-tests of folds, other tests and comparisons."""
