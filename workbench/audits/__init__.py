"""Audits from the plan to the finding."""
