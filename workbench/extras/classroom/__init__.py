"""Courses for many students: copies with individual tasks, safe grading, and lecturer's pages."""
