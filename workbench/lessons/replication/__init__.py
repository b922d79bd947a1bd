"""Lesson on BRR and orthogonal arrays: scenes in `views`, values of the exercises in `exercises`."""
