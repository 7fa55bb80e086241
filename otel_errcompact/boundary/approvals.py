"""Approvals of tool calls, which answer for a paused run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.boundary.runs import Run

MAX_APPROVALS: Final = 4_096


class _Approval(NamedTuple):
    call_id: str
    run_id: str
    tool: str


class Approvals:
    """
    The calls whose approval by a human answers for a paused run.
    """

    def __init__(self) -> None:
        self._open: BoundedTable[str, _Approval] = BoundedTable(MAX_APPROVALS)
        self._let_through: BoundedTable[str, bool] = BoundedTable(MAX_APPROVALS)

    def let_through(self, run_id: str) -> bool:
        """Return whether a paused run may ask its model for a call."""
        first = self._let_through.get(run_id) is None
        self._let_through.put(run_id, True)
        return first

    def request(self, run_id: str, call_id: str, tool: str) -> None:
        """Note that a human is asked about a call."""
        self._open.put(call_id, _Approval(call_id, run_id, tool))

    def find_run(self, reply_to: Callable[[str, str], object], call_id: str = "") -> str:
        """
        Return the id of a restored run by an answered call.

        Args:
            reply_to: The reply to a call, by the tool's name and the call's id; None without one.
            call_id: The call that the framework names, if it does. A reply to all calls of a tool names none.
        """
        if (asked := self._open.get(call_id)) is not None:
            return asked.run_id
        answered = (each for each in self._list_open() if reply_to(each.tool, each.call_id) != reply_to(each.tool, ""))
        return next((each.run_id for each in answered), "")

    def apply_replies(self, run: Run, reply_to: Callable[[str, str], object]) -> None:
        """Answer for a paused run with replies, as `find_run` takes them."""
        for call_id, run_id, tool in self._list_open():
            reply = reply_to(tool, call_id) if run_id == run.run_id else None
            if reply is None:
                continue
            self._open.pop(call_id)
            self._let_through.pop(run_id)
            if run.verdict.standing == "pause":
                run.answer(reply)

    def _list_open(self) -> tuple[_Approval, ...]:
        return tuple(self._open.entries.values())
