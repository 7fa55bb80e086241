"""Record calls and traces that a boundary counts, so spans do not."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger

MAX_TRACES: Final = 4_096
"""Traces with a run that an application or an integration opens."""

MAX_CALLS: Final = 4_096
"""Calls that are settled or under way, and whose spans are still to end."""


class _Expected(NamedTuple):
    """
    The calls under way whose spans look the same.
    """

    calls: int = 0
    ended: int = 0
    """Spans of theirs that have ended, where spans name the tool only."""

    def changed(self, *, calls: int = 0, ended: int = 0) -> _Expected:
        return _Expected(self.calls + calls, max(self.ended + ended, 0))


class Claims:
    """
    Holds a ledger's calls and traces that a boundary counts.

    `claims_of` finds them.
    """

    def __init__(self) -> None:
        self._settled: BoundedTable[str, int] = BoundedTable(MAX_CALLS)
        self._expected: BoundedTable[str, _Expected] = BoundedTable(MAX_CALLS)
        self._traces: BoundedTable[str, bool] = BoundedTable(MAX_TRACES)
        reset_in_child(self.clear)

    def settle_call(self, call_id: str, time_ns: int) -> None:
        """
        Record a call that a boundary has counted, for the call's span.

        Args:
            call_id: The id of the call; an empty one records nothing.
            time_ns: When the boundary counted it, in nanoseconds since the epoch.
        """
        if call_id:
            self._settled.put(call_id, time_ns)

    def is_settled(self, call_id: str, since_ns: int) -> bool:
        """
        Return whether a call that began at `since_ns` is counted.

        A later call may have the same id.
        """
        return bool(call_id) and (self._settled.get(call_id) or 0) >= since_ns

    def expect(self, call: str) -> None:
        """
        Record an open call that a boundary counts after its spans end.

        Args:
            call: What its spans hold: the id of the call, or the tool's name where they have no id.
        """
        self._expected.update(call, lambda known: (known or _Expected()).changed(calls=1))

    def expect_no_more(self, call: str) -> None:
        """Record that an expected call is over."""
        self._expected.update(call, lambda known: (known or _Expected()).changed(calls=-1, ended=-1))
        if (self._expected.get(call) or _Expected()).calls <= 0:
            self._expected.pop(call)

    def is_expected(self, call_id: str) -> bool:
        """Return whether a boundary will count the call with this id."""
        return call_id in self._expected.entries

    def take_expected(self, tool: str) -> bool:
        """
        Return whether a boundary counts an ended call, known by tool only.

        As many spans are taken as calls are under way: other tools may have the name, and a call may never end.
        """
        known = self._expected.get(tool)
        if known is None or known.ended >= known.calls:
            return False
        self._expected.update(tool, lambda known: (known or _Expected()).changed(ended=1))
        return True

    def claim_trace(self, trace_id: str) -> None:
        """
        Record that a trace holds a run which its owner ends.

        So the trace is no run of its own.
        """
        self._traces.put(trace_id, True)

    def is_trace_claimed(self, trace_id: str) -> bool:
        """Return whether a trace holds a run which its owner ends."""
        return trace_id in self._traces.entries

    def clear(self) -> None:
        """Forget everything."""
        self._settled.clear()
        self._expected.clear()
        self._traces.clear()


_by_ledger: Final[weakref.WeakKeyDictionary[Ledger, Claims]] = weakref.WeakKeyDictionary()


def claims_of(ledger: Ledger) -> Claims:
    """Return the claims of a ledger, the same object each time."""
    return _by_ledger.get(ledger) or _by_ledger.setdefault(ledger, Claims())  # atomic: two threads get the same
