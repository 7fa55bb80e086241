"""What was cut, whole, and what was read before."""
