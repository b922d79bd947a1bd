"""Lesson on misclassification correction: scenes in `views`, values of the exercises in `exercises`."""
