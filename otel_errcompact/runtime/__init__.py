"""RUNTIME: threads, forks, bounds, and our own faults."""
