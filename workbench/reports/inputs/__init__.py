"""What the notebook of each topic reads before anything else: files and options, checked, as objects of the library.

Each topic has a file here, with the dataclass of its parameters and a function `read`.
"""
