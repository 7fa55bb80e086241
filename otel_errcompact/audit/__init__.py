"""AUDIT SINK: every raw error whole, and the life of each run, in files that other tools read."""
