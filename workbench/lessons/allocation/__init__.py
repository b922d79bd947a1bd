"""Lesson on VOILA and Neyman: `views` has the scenes, `exercises` the values of exercises."""
