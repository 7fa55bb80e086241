"""Audit: keep raw errors and the life of each run in files."""
