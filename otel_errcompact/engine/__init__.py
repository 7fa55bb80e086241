"""ENGINE: the one stateful object, in which every failure becomes a number, a decision and a text."""
