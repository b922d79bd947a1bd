"""Values that annotators enter: annotation sheets, and estimates from them."""
