"""Compactor: extract, redact and classify raw errors."""
