"""Count identical calls that succeed in a row with the same result."""

from __future__ import annotations

from typing import Final

from otel_errcompact.runtime.foreign import string_of

TOLD_FROM: Final = 3
"""Identical successes in a row at which the agent first reads of them."""


class IdenticalSuccesses:
    """
    Counts how often in a row a call had one result.

    Any other call ends the row, a failed one too. Calls of one turn count once: the agent had read none of their
    results when it asked for them.
    """

    __slots__ = ("_call", "_closed_at", "_count", "_result")

    def __init__(self) -> None:
        self._call: tuple[str, str, str] | None = None
        self._result: int | None = None
        self._count = self._closed_at = 0

    def succeed(self, call: tuple[str, str, str], result: object, *, began: int, closed: int) -> int:
        """
        Return how long the row is; 0 if this call adds nothing.

        Args:
            call: Tool, arguments and working directory.
            result: What it returned. One that is no text is compared from the second identical call on.
            began: The tick at which the agent asked for it.
            closed: The tick at which it ended.
        """
        same = call == self._call
        read = hash(result) if isinstance(result, str) else hash(string_of(result)) if same else None
        if not same or read != self._result:
            self._call, self._result, self._count, self._closed_at = call, read, 1, closed
            return 1
        if began <= self._closed_at:
            return 0
        self._count += 1
        self._closed_at = closed
        return self._count

    def end(self) -> None:
        """End the row: another call has failed or was refused."""
        self._call = None
