"""Lesson on BRR and orthogonal arrays: `views` has the scenes, `exercises` the values of exercises."""
