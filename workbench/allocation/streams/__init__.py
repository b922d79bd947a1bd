"""A sample that is kept while items arrive, and what it estimates."""
