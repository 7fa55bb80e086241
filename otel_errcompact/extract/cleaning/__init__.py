"""What stands around an output and comes off before it is read."""
