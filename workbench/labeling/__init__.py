"""Annotation sheets, answers, plans, agreement of annotators, and the files of labeling tools."""
