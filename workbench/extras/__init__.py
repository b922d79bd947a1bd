"""What a user of the five topics can do without: papers, classroom, compare, sessions.

Each folder is self-contained, with its own pages and commands. The core imports none of them. It
loads what `workbench.registry` lists.
"""
