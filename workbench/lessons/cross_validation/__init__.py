"""Lesson on cross-validation t-tests: `views` has the scenes, `exercises` the values of exercises."""
