"""Audits on the command line: the commands of `workbench audit`, and the page of a report."""
