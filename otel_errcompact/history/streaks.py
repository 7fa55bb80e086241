"""Count failures by turns: rows that success ends, or restores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ATTEMPTS: Final = 128
"""Failures of one row that are kept one by one; older ones are kept as a number."""

MAX_ENDED: Final = 8
"""Ended rows of one operation that may still be restored."""


class Attempt(NamedTuple):
    """One failure of a row."""

    tick: int
    """When it was recorded, and so shown to the agent."""

    began: int
    """When the agent asked for the call."""

    call: str
    """The fingerprint of the call that failed; empty where it is unknown."""

    counts: bool
    """Whether it is the first of its turn."""


class Attempts:
    """
    Failures in a row, counted by turns.

    A failure counts if its call began after the last counted failure was recorded: before, the agent could not have
    known better.
    """

    __slots__ = ("_attempts", "_escalated", "_forgotten", "_halted", "_last", "count")

    def __init__(self) -> None:
        self.count = 0
        """Turns in which there was a failure."""
        self._attempts: list[Attempt] = []
        self._last = 0
        """When the newest failure that counts was recorded, of those that are kept."""
        self._forgotten = 0
        self._escalated = self._halted = 0

    @property
    def escalated(self) -> bool:
        """Whether this row has reached its threshold and escalated once."""
        return self._escalated > 0

    @property
    def halted(self) -> bool:
        """Whether this row has reached the threshold that halts."""
        return self._halted > 0

    def fail(self, began: int, tick: int, call: str = "") -> bool:
        """
        Record a failure and return whether it counts.

        Args:
            began: When the agent asked for the call.
            tick: When the failure was recorded.
            call: The fingerprint of the call.
        """
        counts = began > self._last
        if counts:
            self.count += 1
            self._last = tick
        self._attempts.append(Attempt(tick, began, call, counts))
        if len(self._attempts) > MAX_ATTEMPTS:
            forgotten = self._attempts.pop(0)
            self._forgotten += forgotten.counts
            if forgotten.counts and forgotten.tick == self._last:
                self._last = 0
        return counts

    def mark_escalated(self, *, halted: bool) -> None:
        """
        Record that the newest failure led to an escalation.

        `halted` is true for the one that halts.
        """
        tick = self._attempts[-1].tick if self._attempts else 0
        self._escalated = self._escalated or tick
        if halted:
            self._halted = tick

    def includes(self, call: str) -> bool:
        """Return whether the call with this fingerprint is in the row."""
        return bool(call) and any(attempt.call == call for attempt in self._attempts)

    def forget_call(self, call: str, began: int) -> None:
        """Forget this call's failures up to `began`, since it has succeeded."""
        if self.includes(call):
            self._attempts = [
                each._replace(call="") if each.call == call and each.tick <= began else each for each in self._attempts
            ]

    def shares_call(self, other: Attempts) -> bool:
        """Return whether a call has failed in both rows."""
        return any(other.includes(attempt.call) for attempt in self._attempts)

    def split(self, began: int) -> Attempts | None:
        """
        Move failures recorded after `began` to a new row.

        Return that row, or None if there are none.
        """
        later = [attempt for attempt in self._attempts if attempt.tick > began]
        if not later:
            return None
        row = Attempts()
        row._attempts = later
        row._escalated, row._halted = (tick if tick > began else 0 for tick in (self._escalated, self._halted))
        self._attempts = [attempt for attempt in self._attempts if attempt.tick <= began]
        self._recount_attempts()
        row._recount_attempts()
        return row

    def append(self, later: Attempts) -> None:
        """Put a later row behind this one."""
        self._attempts += later._attempts
        self._forgotten += later._forgotten
        self._escalated = self._escalated or later._escalated
        self._halted = self._halted or later._halted
        self._recount_attempts()

    def dump(self) -> list[object]:
        """Return the row as JSON has it."""
        return [self.count, self._last, self._forgotten, self._escalated, self._halted, *self._attempts]

    @classmethod
    def load(cls, dumped: Sequence[Any]) -> Attempts:
        """Return the row that `dump` has written."""
        row = cls()
        row.count, row._last, row._forgotten, row._escalated, row._halted = dumped[:5]
        row._attempts = [Attempt(*attempt) for attempt in dumped[5:]]
        return row

    def _recount_attempts(self) -> None:
        attempts, self._attempts, self.count, self._last = self._attempts, [], self._forgotten, 0
        for attempt in attempts:
            self.fail(attempt.began, attempt.tick, attempt.call)


class Streak:
    """
    Holds one class in one operation: its live row and ended rows.

    Ended rows may be restored.
    """

    __slots__ = ("_ended", "_failed_at", "live")

    def __init__(self) -> None:
        self.live: Attempts | None = None
        """The failures since the operation last succeeded; None while it has."""
        self._ended: list[Attempts] = []
        self._failed_at = 0

    @property
    def count(self) -> int:
        """Turns in which the operation failed since its last success."""
        return self.live.count if self.live is not None else 0

    def fail(self, began: int, tick: int, call: str) -> bool:
        """
        Record a failure and return whether it takes a resolution back.

        It does where the same call had failed before a success of something else: that has resolved nothing.
        """
        place = next((place for place, row in enumerate(self._ended) if row.includes(call)), None)
        if place is not None:
            self._restore_row(place)
        if self.live is None:
            self.live = Attempts()
        self.live.fail(began, tick, call)
        self._failed_at = tick
        return place is not None

    def succeed(self, began: int, call: str) -> bool:
        """
        End the live row; return whether it ended and nothing is left.

        Failures that were recorded after the success began stay: within a turn successes come first.

        Args:
            began: When the agent asked for the call that has succeeded.
            call: Its fingerprint; it has succeeded itself, so that its earlier failures take nothing back.
        """
        row = self.live
        if row is not None:
            # Fresh counters have dropped the failures of a row, and not that it is open.
            self.live = row.split(began) or (Attempts() if self._failed_at > began else None)
            if row.count:
                self._ended.append(row)
        self._split_ended(began)
        for ended in (*self._ended, *filter(None, (self.live,))) if call else ():
            ended.forget_call(call, began)
        if self.live is not None and (place := self._place_of(self.live)) is not None:
            self._restore_row(place)
        return row is not None and self.live is None

    def _split_ended(self, began: int) -> None:
        """
        Split the row that was live when a success began.

        What came later was ended by another success.
        """
        for place, row in enumerate(self._ended):
            later = row.split(began)
            if later is not None:
                self._ended[place : place + 1] = [row, later] if row.count else [later]
                break
        del self._ended[:-MAX_ENDED]

    def refresh(self) -> None:
        """Count from zero; what was open stays open."""
        self._ended.clear()
        if self.live is not None:
            self.live = Attempts()

    def dump(self) -> list[object]:
        """Return the rows as JSON has them."""
        live = self.live.dump() if self.live is not None else None
        return [self._failed_at, live, *(ended.dump() for ended in self._ended)]

    @classmethod
    def load(cls, dumped: Sequence[Any]) -> Streak:
        """Return the rows that `dump` has written."""
        streak = cls()
        streak._failed_at, live, *ended = dumped
        streak.live = Attempts.load(live) if live is not None else None
        streak._ended = [Attempts.load(row) for row in ended]
        return streak

    def _place_of(self, row: Attempts) -> int | None:
        """
        Return the first ended row that shares a call with this one.

        Its success has resolved nothing.
        """
        return next((place for place, ended in enumerate(self._ended) if row.shares_call(ended)), None)

    def _restore_row(self, place: int) -> None:
        restored = self._ended[place]
        for row in (*self._ended[place + 1 :], *filter(None, (self.live,))):
            restored.append(row)
        del self._ended[place:]
        self.live = restored
