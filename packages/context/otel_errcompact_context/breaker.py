"""The circuit breaker: a conversation that compaction does not help is left alone for a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Callable

SESSIONS: Final = 10_000
"""How many conversations are remembered; the oldest is forgotten, as if it had never failed."""


class _Row(NamedTuple):
    failures: int
    closed_at: float
    """Until when nobody may try; a time gone by while the circuit is closed."""


class CircuitBreaker:
    """
    Stops compactions of a conversation after failures in a row; after a cool-down one may try whether it helps again.

    Args:
        failures: How many failures in a row open the circuit.
        seconds: The cool-down. A trial that never says how it ended is followed by another after the same time.
        clock: Seconds, monotonic.
        sessions: How many conversations are remembered.
    """

    def __init__(
        self,
        failures: int = 3,
        seconds: float = 60,
        *,
        clock: Callable[[], float] = time.monotonic,
        sessions: int = SESSIONS,
    ) -> None:
        self._failures = failures
        self._seconds = seconds
        self._clock = clock
        self._rows: BoundedTable[str, _Row] = BoundedTable(sessions)

    def is_open(self, session: str) -> bool:
        """Tell whether the conversation has failed so often in a row that it is left alone, or tried but by one."""
        row = self._rows.get(session)
        return row is not None and row.failures >= self._failures

    def allows(self, session: str) -> bool:
        """Tell whether to compact; after the cool-down the first who asks is told yes, and the others have to wait."""
        if not self.is_open(session):
            return True
        now, allowed = self._clock(), False

        def tried(row: _Row | None) -> _Row:
            nonlocal allowed
            # Another thread may have closed it meanwhile.
            row = row or _Row(0, now)
            allowed = row.failures < self._failures or now >= row.closed_at
            return row._replace(closed_at=now + self._seconds) if allowed else row

        self._rows.update(session, tried)
        return allowed

    def failed(self, session: str) -> None:
        """Count a compaction that did not help."""
        until = self._clock() + self._seconds
        self._rows.update(session, lambda row: _Row((row.failures if row else 0) + 1, until))

    def succeeded(self, session: str) -> None:
        """Close the circuit: the conversation fits."""
        self._rows.pop(session)
