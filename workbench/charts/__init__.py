"""Charts of results: one file per topic, each function takes a result and returns an altair chart."""
