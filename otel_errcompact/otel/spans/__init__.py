"""Spans: which failures they tell of, and which run and call each belongs to."""
