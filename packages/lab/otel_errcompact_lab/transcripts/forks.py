"""Forks and copies of sessions, which share calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_lab.transcripts.model import RecordedRun

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedCall, RecordedLife, RecordedTrace

MAX_CALLS: Final = 1_000_000
"""Calls that are remembered."""

_FIRST_REAL_NS: Final = 978_307_200_000_000_000
"""2001: made-up times are earlier, and prove nothing."""


@dataclass(slots=True)
class Forks:
    """The calls of the sessions before."""

    shared: int = 0
    """Calls that were left out because an earlier session has them."""

    _seen: set[int] = field(default_factory=set[int])

    def own_part(
        self, record: RecordedRun | RecordedTrace | RecordedLife
    ) -> RecordedRun | RecordedTrace | RecordedLife | None:
        """Return a record without shared calls; None if nothing is left."""
        if not isinstance(record, RecordedRun):
            return record
        known = list(takewhile(self._is_known, record.calls))
        if len(self._seen) < MAX_CALLS:
            self._seen.update(hash(_identity_of_call(call)) for call in record.calls[len(known) :] if _is_unique(call))
        if not known:
            return record
        self.shared += len(known)
        return _without_calls(record, known) if len(known) < len(record.calls) else None

    def _is_known(self, call: RecordedCall) -> bool:
        return _is_unique(call) and hash(_identity_of_call(call)) in self._seen


def _is_unique(call: RecordedCall) -> bool:
    return bool(call.call_id) and call.start_ns >= _FIRST_REAL_NS


def _identity_of_call(call: RecordedCall) -> tuple[object, ...]:
    return call.call_id, call.tool, call.arguments, call.result, call.start_ns, call.end_ns


def _without_calls(run: RecordedRun, known: list[RecordedCall]) -> RecordedRun:
    before = known[-1].context_tokens
    own = (replace(call, context_tokens=call.context_tokens - before) for call in run.calls[len(known) :])
    return replace(
        run,
        calls=tuple(own),
        context_tokens=run.context_tokens - before,
        result_tokens=run.result_tokens - sum(estimate_tokens(call.result) for call in known),
    )
