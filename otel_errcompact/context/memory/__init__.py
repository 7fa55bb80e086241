"""What is remembered: the whole of what was cut, and what was read of lists before."""
