"""Read the failures of spans, and the run and call of each."""
