"""Lesson on misclassification correction: `views` has the scenes, `exercises` the values of exercises."""
