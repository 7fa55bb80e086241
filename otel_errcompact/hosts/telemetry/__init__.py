"""
Receive the telemetry of agents, and count their failed calls.

What arrives is read (`entries`), one emitter knows its names (`emitters`), the runs count what it reports (`counting`),
and everything is forwarded as it came, but for the class on what has failed (`marking`, `forwarding`).
"""
