"""A sample that is kept while records arrive, and estimates from it."""
