"""Findings of compilers and linters of any kind: what a line says, where it says it, and how lists of them are read."""
