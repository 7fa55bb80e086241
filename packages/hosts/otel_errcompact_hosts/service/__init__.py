"""Count the calls of all agents of a machine, in one service."""
