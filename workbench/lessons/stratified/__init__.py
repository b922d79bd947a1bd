"""Lesson on stratified accuracy: scenes in `views`, values of the exercises in `exercises`."""
