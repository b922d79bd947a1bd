"""Lesson on BRR and orthogonal arrays: its scenes, and the values of its exercises."""
