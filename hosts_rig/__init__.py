"""The real programs of coding agents, against a stand-in for their model on this machine."""
