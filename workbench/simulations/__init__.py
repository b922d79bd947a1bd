"""Simulations that repeat an experiment thousands of times, all runs at once."""
