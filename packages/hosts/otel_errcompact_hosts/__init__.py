"""
Serve agents that are no Python programs of their user.

Coding agents report their calls through hooks, clients of MCP through a proxy, others over HTTP or as telemetry: to one
service on their machine, which holds the ledger.
"""
