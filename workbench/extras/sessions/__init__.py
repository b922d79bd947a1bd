"""Audits that last: a file that keeps every label of every person."""
