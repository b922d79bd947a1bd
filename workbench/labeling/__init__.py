"""What people are handed, and what they hand back: sheets, answers, plans, the files of labeling tools."""
