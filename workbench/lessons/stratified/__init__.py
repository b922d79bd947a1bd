"""Lesson on stratified accuracy: what it reads first, its scenes, its exercises."""
