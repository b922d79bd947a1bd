"""A course for many: students' copies with tasks of their own, grading that runs nothing, pages for the lecturer."""
