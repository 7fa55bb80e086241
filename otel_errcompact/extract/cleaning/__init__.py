"""What stands around an output, and is taken off before it is read."""
