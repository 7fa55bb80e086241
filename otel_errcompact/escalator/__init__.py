"""Escalator: thresholds, decisions on counts, and answers of handlers."""
