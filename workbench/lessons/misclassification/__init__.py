"""Lesson on misclassification correction: its scenes, and the values of its exercises."""
