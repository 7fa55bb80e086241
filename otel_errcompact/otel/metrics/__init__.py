"""Metrics: instruments, their labels and their bounds."""
