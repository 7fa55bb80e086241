"""
Run commands for agents: as without us if they succeed, with a digest if they fail.

Its cost is paid for each command. So what runs before and beside a command imports only what the interpreter holds
anyway, and neither `typing` nor `re`; whatever reads a failure is imported once there is one.
"""
