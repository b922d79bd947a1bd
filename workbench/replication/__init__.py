"""Variances by replication: fields, arrays, designs, replicates and metrics of clustered items."""
