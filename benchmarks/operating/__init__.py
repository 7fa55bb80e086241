"""What the operator's side costs, measured on the real programs with the shipped configuration."""
