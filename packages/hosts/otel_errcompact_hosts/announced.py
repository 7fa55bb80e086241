"""Calls that hosts have announced, for reports that know less of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.operation.fingerprint import call_fingerprint
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact_hosts.wrapping.quoting import strip_line

if TYPE_CHECKING:
    from otel_errcompact_hosts.calls import HostCall

MAX_CALLS: Final = 4_096
MAX_IDENTICAL: Final = 64
"""Identical calls of one session that are under way at the same time."""

_COMMAND: Final = '"command"'
"""The argument of what starts a command; what looks at one lacks it."""

_Key = tuple[str, str]
_Table = BoundedTable[_Key, "tuple[HostCall, ...]"]


class AnnouncedCalls:
    """
    Finds the call behind a report without an id.

    What wraps the commands of a host reports them beside the host, mostly before it, and knows neither id nor
    sub-agent. Both are one call.
    """

    def __init__(self) -> None:
        self._lock = ReentrantLock()
        self._calls = _Table(MAX_CALLS)
        self._tasks: BoundedTable[_Key, HostCall] = BoundedTable(MAX_CALLS)
        self._reported = _Table(MAX_CALLS)
        """Calls that the host has reported, and nothing else yet."""

    def add(self, call: HostCall) -> None:
        """Remember a call that is going to be executed."""
        if call.call_id:
            with self._lock:
                _put_call(self._calls, _describe_call(call), call)

    def find(self, call: HostCall) -> HostCall:
        """
        Return the call as its host has announced it, and forget that.

        One that has an id, or was not announced, is returned as it is.
        """
        key = _describe_call(call)
        with self._lock:
            if call.call_id:
                announced = _take_call(self._calls, key, call.call_id)
                if announced is not None:
                    _put_call(self._reported, key, announced)
                return call
            # One that is under way first: what wraps commands may leave out some, and is rarely late.
            return _take_call(self._calls, key) or _take_call(self._reported, key) or call

    def follow_task(self, call: HostCall, task: str, *, is_over: bool) -> HostCall | None:
        """
        Return the call that a report on a background command concludes.

        Args:
            call: The call that the report answers: the one that has started the command, or a look at it.
            task: The host's name of the command.
            is_over: Whether it has ended.

        Returns:
            The call that has started it; None while it runs, and where its end was known.
        """
        key = (call.run_id.partition("/")[0], task)
        with self._lock:
            started = self._tasks.get(key)
            if is_over:
                self._tasks.pop(key)
                return started or (call if _COMMAND in call.arguments else None)
            if started is None or _COMMAND in call.arguments:
                self._tasks.put(key, call)
            return None


def _put_call(table: _Table, key: _Key, call: HostCall) -> None:
    table.put(key, (*(table.get(key) or ())[1 - MAX_IDENTICAL :], call))


def _take_call(table: _Table, key: _Key, call_id: str = "") -> HostCall | None:
    calls = table.get(key) or ()
    # The newest: an older one may never have been made, as where another hook has refused it.
    found = next((each for each in reversed(calls) if call_id in {"", each.call_id}), None)
    if found is None:
        return None
    left = tuple(each for each in calls if each is not found)
    if left:
        table.put(key, left)
    else:
        table.pop(key)
    return found


def _describe_call(call: HostCall) -> _Key:
    session = call.run_id.partition("/")[0]
    # The line is all that its wrapper knows: no time limit, and not where its input comes from.
    return session, call_fingerprint(call.tool, strip_line(call.line) or call.arguments) or call.tool
