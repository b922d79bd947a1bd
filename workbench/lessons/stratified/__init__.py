"""Lesson on stratified accuracy: its scenes, and the values of its exercises."""
