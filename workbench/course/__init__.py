"""The data of the lessons: digit forms, the register, solar months and clerks."""
