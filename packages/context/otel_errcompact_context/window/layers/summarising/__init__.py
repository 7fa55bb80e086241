"""How a summary is asked for, and what is wrong with one."""
