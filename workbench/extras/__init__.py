"""Optional parts that the five topics do not need: papers, classroom, compare and sessions.

Each folder is self-contained, with its own pages and commands. The core imports none of them. It
loads what `workbench.registry` lists.
"""
