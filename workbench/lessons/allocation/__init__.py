"""Lesson on VOILA and Neyman: scenes in `views`, values of the exercises in `exercises`."""
