"""
Receive the telemetry of agents, and count their failed calls.

What arrives is taken apart within bounds (`bodies`, `entries`), one emitter knows its names (`emitters`), and the runs
count what it reports (`receiver`). Nothing is passed on: that is the collector's work.
"""
