"""Lesson on VOILA and Neyman: its scenes, and the values of its exercises."""
