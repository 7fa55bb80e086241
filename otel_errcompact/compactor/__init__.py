"""COMPACTOR: extract, redact, classify: the one way from a raw error to its error class."""
