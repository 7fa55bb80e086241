"""Engine: turn every failure into a count, a decision and a text."""
