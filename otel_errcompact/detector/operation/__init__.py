"""
Operations of calls: their identity, their targets, their programs, and the fingerprint of identical calls.

What only `operation_of` needs lies in modules of its own: tables of programs, the parser of command lines, targets.
"""

from __future__ import annotations

from otel_errcompact.detector.operation.command_line import last_command, programs_of, runs_commands
from otel_errcompact.detector.operation.coverage import covers
from otel_errcompact.detector.operation.fingerprint import call_fingerprint
from otel_errcompact.detector.operation.identity import operation_of

__all__ = ["call_fingerprint", "covers", "last_command", "operation_of", "programs_of", "runs_commands"]
