"""DETECTOR: whether a result is a failure, its kind, and its operation."""
