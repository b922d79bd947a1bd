"""Functions that read and check the files and options of each topic's report.

Each topic has a module with the dataclass of its parameters and a function `read`, which returns
objects of the library.
"""
