"""Lesson on stratified accuracy: `views` has the scenes, `exercises` the values of exercises."""
