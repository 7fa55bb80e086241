"""ESCALATOR: thresholds, the decision that counts call for, and what a handler may answer."""
