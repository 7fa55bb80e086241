"""Asking about a paused run in a framework's own dialogue, which is about a tool call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.boundary.runs import Run

MAX_QUESTIONS: Final = 4_096


class Questions:
    """
    The calls that a human is asked about because their run is paused: what is said to the call answers for the run.
    """

    def __init__(self) -> None:
        self._asked: BoundedTable[str, tuple[str, str]] = BoundedTable(MAX_QUESTIONS)
        self._let_through: BoundedTable[str, bool] = BoundedTable(MAX_QUESTIONS)

    def let_through(self, run_id: str) -> bool:
        """Return whether a paused run may ask its model once more, for the call that a human is asked about."""
        first = self._let_through.get(run_id) is None
        self._let_through.put(run_id, True)
        return first

    def ask(self, run_id: str, call_id: str, tool: str) -> None:
        """Note that a human is asked about a call."""
        self._asked.put(call_id, (run_id, tool))

    def owner(self, said: Callable[[str, str], object], call_id: str = "") -> str:
        """
        Return the run that a framework has restored without its id: the one of a call that was answered; else empty.

        Args:
            said: What was said to the call of a tool, by the tool's name and the call's id; None if nothing was.
            call_id: The call that the framework tells of, if it does. What was said to all calls of a tool names none.
        """
        if (asked := self._asked.get(call_id)) is not None:
            return asked[0]
        return next((run_id for known, (run_id, tool) in self._open() if said(tool, known) != said(tool, "")), "")

    def settle(self, run: Run, said: Callable[[str, str], object]) -> None:
        """Answer for a run that is still paused what was said to its calls; `said` as for `owner`."""
        for call_id, (run_id, tool) in self._open():
            reply = said(tool, call_id) if run_id == run.run_id else None
            if reply is None:
                continue
            self._asked.pop(call_id)
            self._let_through.pop(run_id)
            if run.verdict.standing == "pause":
                run.answer(reply)

    def _open(self) -> tuple[tuple[str, tuple[str, str]], ...]:
        return tuple(self._asked.entries.items())
