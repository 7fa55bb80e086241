"""Count the calls that telemetry reports, without the service."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from otel_errcompact.installation.install import current_ledger
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact_hosts.runs import LedgerRuns

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact_hosts.calls import Answer, HostCall, HostResult

IDLE_S: Final = 1_800.0
"""Seconds without a call after which a run has ended."""

_TICKS_S: Final = 1_000_000
"""Ticks of a shared store in a second."""


class ReportedRuns(LedgerRuns):
    """Runs that end when nothing is reported of them any more."""

    def __init__(
        self, ledger: Ledger | None = None, *, idle_s: float = IDLE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(ledger=ledger or current_ledger())
        self._idle_s = idle_s
        self._clock = clock
        self._counting = ReentrantLock()
        self._seen: OrderedDict[str, float] = OrderedDict()
        """When each run was reported last, the longest ago first."""

    def conclude(
        self, call: HostCall, result: HostResult, *, is_read: bool = True, is_recorded: bool = False
    ) -> Answer:
        """Judge and count a result, and end runs left for long."""
        self._end_left(call.run_id)
        return super().conclude(call, result, is_read=is_read, is_recorded=is_recorded)

    def close_all(self) -> None:
        """End all runs."""
        with self._counting:
            left = tuple(self._seen)
            self._seen.clear()
        for run_id in left:
            self.close(run_id)

    def _end_left(self, run_id: str) -> None:
        now = self._clock()
        ended: list[str] = []
        with self._counting:
            self._seen[run_id] = now
            self._seen.move_to_end(run_id)
            while len(self._seen) > 1:
                oldest, at = next(iter(self._seen.items()))
                if now - at < self._idle_s and len(self._seen) <= self.ledger.options.memory.runs:
                    break
                del self._seen[oldest]
                ended.append(oldest)
        for each in ended:
            if not self._is_reported_elsewhere(each):
                self.close(each)

    def _is_reported_elsewhere(self, run_id: str) -> bool:
        # Another receiver, which has heard of it since, ends it.
        store = self.ledger.store
        if not store.is_shared:
            return False
        state = store.peek(run_id)
        quiet = (store.next_tick() - state.newest_tick) / _TICKS_S if state is not None else self._idle_s
        return quiet < self._idle_s
