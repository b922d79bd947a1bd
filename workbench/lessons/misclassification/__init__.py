"""Lesson on misclassification correction: what it reads first, its scenes, its exercises."""
