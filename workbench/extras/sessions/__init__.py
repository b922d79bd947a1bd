"""Audit sessions: audits over days, in a file that keeps every label of every annotator."""
