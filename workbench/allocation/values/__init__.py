"""Values that people find out: their sheets, and what they estimate."""
