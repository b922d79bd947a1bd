"""Lesson on cross-validation t-tests: its scenes, and the values of its exercises."""
