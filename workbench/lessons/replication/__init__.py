"""Lesson on BRR and orthogonal arrays: what it reads first, its scenes, its exercises."""
