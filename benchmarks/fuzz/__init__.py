"""Hostile input for all that takes text of others: `python -m benchmarks.fuzz`."""
