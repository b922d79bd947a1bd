"""Experiments repeated thousands of times, vectorized over runs."""
