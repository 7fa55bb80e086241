"""Stacks of exceptions: live ones, and those that programs print."""
