"""Calls of a model within its window: compact before, and again when the provider refuses."""
