"""Lesson on cross-validation t-tests: scenes in `views`, values of the exercises in `exercises`."""
