"""Adapters import tools that only their own environments have."""

collect_ignore = ["adapters"]
