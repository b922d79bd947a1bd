"""True class proportions behind predicted counts: audits, corrections, theory and periods."""
