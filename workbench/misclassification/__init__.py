"""True shares behind predicted counts: audits, corrections, theory and series of periods."""
