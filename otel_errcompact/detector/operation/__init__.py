"""
Operations of calls: identity, coverage, programs, and fingerprints.

Tables of programs, the parser of command lines and the search for targets are modules of their own.
"""

from __future__ import annotations

from otel_errcompact.detector.operation.command_line import Invocation, invocations_of, last_command, runs_commands
from otel_errcompact.detector.operation.coverage import covers, leaves_behind
from otel_errcompact.detector.operation.fingerprint import call_fingerprint
from otel_errcompact.detector.operation.identity import operation_of

__all__ = [
    "Invocation",
    "call_fingerprint",
    "covers",
    "invocations_of",
    "last_command",
    "leaves_behind",
    "operation_of",
    "runs_commands",
]
