"""RUNTIME: threads, forks, bounds and faults of our own, kept away from the application."""
