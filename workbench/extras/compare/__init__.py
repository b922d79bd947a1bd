"""Models compared on items whose scores are all known: these models on these items."""
