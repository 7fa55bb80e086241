"""Calls of a model: compact before, and again after a refusal."""
