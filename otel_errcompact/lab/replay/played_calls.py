"""Calls of a recorded run while they are played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

CallOutcome: TypeAlias = Literal["success", "failure", "ignored", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedCall:
    """One tool call of a record, before the ledger counts it."""

    run_id: str
    tool: str
    arguments: str
    """Empty where the record has none: a live run keeps those of failures alone."""

    outcome: CallOutcome
    """Of a trace the status of the span: a failure inside it may be counted with another span."""

    time_ns: int
    operation: str = ""
    """What it tried to do, where the record has it instead of arguments."""

    reason: str = ""
    """Why it is ignored, in a few words; empty otherwise."""

    line: int = 0
    """The place of its result in the record, as in `RecordedCall`; 0 in a trace or a live run."""

    span_id: int = 0
    fingerprint: str = ""
    """The fingerprint of the call, where the record has it."""


OnCall: TypeAlias = Callable[[PlayedCall], None]
"""Takes each call of a record, before the ledger counts it."""
