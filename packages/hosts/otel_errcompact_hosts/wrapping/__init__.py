"""
Run commands for agents, with a digest if they fail.

What succeeds is byte for byte as without us.

Its cost is paid for each command. So what runs before and beside a command imports only what the interpreter holds
anyway, and neither `typing` nor `re`; whatever reads a failure is imported once there is one.
"""
