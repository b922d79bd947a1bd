"""Lesson on VOILA and Neyman: what it reads first, its scenes, its exercises."""
