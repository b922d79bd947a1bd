"""Paper 3: samples of strata and of streams."""
