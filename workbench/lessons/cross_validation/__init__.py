"""Lesson on cross-validation t-tests: what it reads first, its scenes, its exercises."""
