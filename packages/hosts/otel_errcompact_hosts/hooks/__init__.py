"""
Answer the hooks of coding agents, a module for each host.

An event comes in as the host writes it, the host's own JSON answer goes out: by what each host can do, the digest in
place of the raw output or beside it, a refusal before an identical call, the end of a run that was stopped.
"""

from __future__ import annotations

from otel_errcompact_hosts.hooks.profiles import HOSTS, answer

__all__ = ["HOSTS", "answer"]
