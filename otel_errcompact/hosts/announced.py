"""Calls that hosts have announced, for reports that know less of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from otel_errcompact.hosts.calls import HostCall

MAX_CALLS: Final = 4_096
MAX_IDENTICAL: Final = 64
"""Identical calls of one session that are under way at the same time."""


class AnnouncedCalls:
    """
    Finds the call behind a report without an id.

    What wraps the commands of a host reports them before the host does, and knows no sub-agent. Both are one call.
    """

    def __init__(self) -> None:
        self._lock = ReentrantLock()
        self._calls: BoundedTable[tuple[str, str], tuple[HostCall, ...]] = BoundedTable(MAX_CALLS)

    def add(self, call: HostCall) -> None:
        """Remember a call that is going to be executed."""
        if not call.call_id:
            return
        key = _describe(call)
        with self._lock:
            self._calls.put(key, (*(self._calls.get(key) or ())[1 - MAX_IDENTICAL :], call))

    def find(self, call: HostCall) -> HostCall:
        """
        Return the call as its host has announced it.

        One that has an id, or was not announced, is returned as it is.

        Args:
            call: The call as it is reported after its end. It is forgotten, so that the next one finds the next.
        """
        key = _describe(call)
        with self._lock:
            announced = self._calls.get(key) or ()
            found = next((each for each in announced if call.call_id in {"", each.call_id}), None)
            if found is None:
                return call
            left = tuple(each for each in announced if each is not found)
            if left:
                self._calls.put(key, left)
            else:
                self._calls.pop(key)
        return call if call.call_id else found


def _describe(call: HostCall) -> tuple[str, str]:
    return call.run_id.partition("/")[0], call_fingerprint(call.tool, call.arguments) or call.tool
