"""What waits to be exported: bounded in bytes, sent in order by a thread of its own, kept while nobody takes it."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from functools import partial
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from otel_errcompact.otel.sdk import suppress_instrumentation
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_BYTES: Final = 64 * 1024 * 1024
"""What may wait in memory, the batch that is under way included."""

MAX_BATCH_BYTES: Final = 2 * 1024 * 1024
"""Half of what a collector accepts by gRPC unless it is told otherwise. What is larger by itself goes alone."""

BACKOFF_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Pauses after the first failed attempt, the second and so on; then the last one again and again."""

REFUSALS: Final = 5
"""Failed attempts in a row after which an item that fails alone is doubted: it may be the item, not the collector."""

STALLED_S: Final = 1.4
"""How long a shutdown waits for an attempt that does not end. Spans, log records and metrics each have as much."""

DRAIN_S: Final = 5.0
"""How long a shutdown waits in all while batch after batch is taken."""

T = TypeVar("T")


class Pace(NamedTuple):
    """
    When a batch is sent.
    """

    delay_s: float = 5.0
    """How long what is fresh waits for company."""

    batch: int = 512
    """How many go together at most."""


class Outbox(Generic[T]):
    """
    Take items from any thread without ever blocking it, and send them in batches, in order, from a thread of its own.

    A batch that fails is kept and tried again after a pause. A smaller one is tried then, since it may have been too
    large; and items that fail again and again by themselves are given up once one behind them passes. Beyond the bound
    the oldest items go. An attempt whose answer is lost may have arrived all the same: then it arrives twice.

    Args:
        send: Sends a batch and tells whether it has arrived; what it raises is a failure.
        size_of: Estimates the bytes that an item holds in memory.
        settle: Makes of an item what is sent, once it has waited its delay.
        close: Called at the end, by the thread that sends.
        on_lost: Told how many items were given up; never while a lock is held. What it raises is dropped.
        max_bytes: What may wait in memory.
        pace: When a batch is sent.
        backoff_s: Pauses between attempts, the last one again and again.
    """

    def __init__(
        self,
        send: Callable[[Sequence[T]], bool],
        size_of: Callable[[T], int],
        *,
        settle: Callable[[T], T] = lambda item: item,
        close: Callable[[], object] = lambda: None,
        on_lost: Callable[[int], object] = lambda _: None,
        max_bytes: int = MAX_BYTES,
        pace: Pace | None = None,
        backoff_s: Sequence[float] = BACKOFF_S,
    ) -> None:
        self.bytes = 0
        """What waits or is under way, by estimate."""
        self._send = send
        self._size_of = size_of
        self._settle = settle
        self._close = close
        self._on_lost = on_lost
        self._max_bytes = max_bytes
        self._delay_s, self._batch = pace or Pace()
        self._backoff_s = backoff_s
        # Each with its size: plain tuples, and a bare lock in `put`, since every span that ends pays for it.
        self._fresh: deque[tuple[T, int]] = deque()
        self._settled: deque[tuple[T, int]] = deque()
        self._begin()
        reset_in_child(self._begin)

    def __len__(self) -> int:
        return len(self._fresh) + len(self._settled) + self._under_way

    def _begin(self) -> None:
        """Start empty. So does a child process: what waits is its parent's to send, who may have held the lock."""
        # Re-entrant, since a finalizer that ends a span may run while its own thread is in here.
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._closing: bool = False
        self._done: bool = False
        self._abandoned: bool = False
        """Whether nobody wants to know any more what becomes of an attempt that is still under way."""
        self._hurry: bool = False
        self._flushing: bool = False
        self._gone: int = 0
        """How many have left: arrived, or given up."""
        self._given_up: int = 0
        self._failures: int = 0
        self._in_a_row: int = 0
        """Failed attempts since one has succeeded."""
        self._largest = self._batch
        self._empty()
        self._sender = Thread(target=self._run, name="errcompact-outbox", daemon=True)
        self._sender.start()

    def _empty(self) -> None:
        self._fresh.clear()
        self._settled.clear()
        self._under_way = self.bytes = 0

    def put(self, item: T) -> None:
        """Let an item wait to be sent; the oldest ones go if there is no room."""
        size = self._size_of(item)
        lost = 0
        with self._lock:
            if self.bytes + size > self._max_bytes:
                lost = self._make_room(size)
            held = self.bytes + size
            if self._closing or held > self._max_bytes:
                lost += 1
            else:
                self.bytes = held
                self._fresh.append((item, size))
                # To wake a thread costs more than all the rest: once for a batch is enough.
                if not self._hurry and (len(self._fresh) >= self._batch or held >= MAX_BATCH_BYTES):
                    self._hurry = True
                    self._changed.notify_all()
        if lost:
            self._tell_lost(lost)

    def flush(self, timeout_s: float) -> bool:
        """Send what waits now, and tell whether all of it has arrived; a failed attempt ends the waiting."""
        if current_thread() is self._sender:  # what an exporter logs may reach a handler that flushes
            return False
        with self._changed:
            goal, failures, given_up = self._gone + len(self), self._failures, self._given_up
            self._flushing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._gone >= goal or self._failures > failures or self._done, timeout_s)
            return self._gone >= goal and self._given_up == given_up

    def shutdown(self) -> None:
        """Send what waits for as long as that goes on; what a failed attempt, or one without an end, leaves is lost."""
        deadline = time.monotonic() + DRAIN_S
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify_all()
            gone = -1
            while not self._done and gone < self._gone and (left_s := deadline - time.monotonic()) > 0:
                gone = self._gone
                self._changed.wait_for(partial(self._has_moved, gone), min(STALLED_S, left_s))
            lost = len(self)
            self._abandoned = True
            self._empty()
        self._tell_lost(lost)

    def _has_moved(self, gone: int) -> bool:
        return self._done or self._gone > gone

    def _make_room(self, size: int) -> int:
        lost = 0
        while size <= self._max_bytes < self.bytes + size and (self._settled or self._fresh):
            # What is let go may end a span with its last breath, which comes here again: in a statement of its own.
            oldest, freed = (self._settled or self._fresh).popleft()
            self.bytes -= freed
            del oldest
            lost += 1
        self._gone += lost
        self._given_up += lost
        return lost

    def _tell_lost(self, number: int) -> None:
        if number:
            # It logs, and an application's handler may raise: the thread that sends must not end of it.
            with suppress(Exception):
                self._on_lost(number)

    def _run(self) -> None:
        suppress_instrumentation()
        going_on = True
        while going_on:
            going_on = self._wait()
            self._settle_fresh()
            while (batch := self._take(self._largest)) and self._deliver(batch):
                pass
        with suppress(Exception):
            self._close()
        with self._changed:
            self._done = True
            self._changed.notify_all()

    def _wait(self) -> bool:
        """Wait until it is time for an attempt, and tell whether there will be another one after it."""
        with self._changed:
            failed = self._in_a_row
            pause_s = self._backoff_s[min(failed, len(self._backoff_s)) - 1] if failed else self._delay_s
            self._changed.wait_for(lambda: self._closing or self._flushing or (self._hurry and not failed), pause_s)
            self._hurry = self._flushing = False
            return not self._closing

    def _settle_fresh(self) -> None:
        """Settle also what cannot be sent yet: what is known of it now may be forgotten by then."""
        for _ in range(len(self._fresh)):
            with self._changed:
                if self._fresh:
                    item, size = self._fresh.popleft()
                    self._settled.append((self._settled_form(item), size))

    def _settled_form(self, item: T) -> T:
        try:
            return self._settle(item)
        except Exception:  # noqa: BLE001 - as it is, it is better than lost
            return item

    def _take(self, number: int) -> list[tuple[T, int]]:
        with self._changed:
            batch: list[tuple[T, int]] = []
            size = 0
            while self._settled and len(batch) < number:
                size += self._settled[0][1]
                if batch and size > MAX_BATCH_BYTES:
                    break
                batch.append(self._settled.popleft())
            self._under_way += len(batch)
            return batch

    def _deliver(self, batch: list[tuple[T, int]]) -> bool:
        """Send a batch, and tell whether to go on with the next one."""
        if self._arrives(batch):
            self._leave(batch)
            return True
        with self._changed:
            self._failures += 1
            self._in_a_row += 1
            self._largest = max(1, len(batch) // 2)
            doubted = len(batch) == 1 and self._in_a_row > REFUSALS and not self._closing
            if not doubted:
                self._put_back(batch)
            self._changed.notify_all()
        return doubted and self._give_up_or_put_back(batch)

    def _give_up_or_put_back(self, head: list[tuple[T, int]]) -> bool:
        """
        Try an item behind, each time one further back: if that arrives and those before it still do not, then the fault
        is theirs.
        """
        behind = self._take_singly((self._in_a_row - REFUSALS - 1) % self._batch + 1)
        doubted, probe = [*head, *behind[:-1]], behind[-1:]
        if not probe or not self._arrives(probe):
            with self._changed:
                self._put_back([*head, *behind])
            return False
        self._leave(probe)
        for waiting in doubted:
            arrived = self._arrives([waiting])
            self._leave([waiting], arrived=arrived)
            self._tell_lost(0 if arrived or self._abandoned else 1)
        return True

    def _take_singly(self, number: int) -> list[tuple[T, int]]:
        """However large they are: together they are never sent."""
        return [waiting for _ in range(number) for waiting in self._take(1)]

    def _arrives(self, batch: list[tuple[T, int]]) -> bool:
        try:
            return self._send([item for item, _ in batch])
        except Exception:  # noqa: BLE001 - exporters raise whatever their transport does
            return False

    def _leave(self, batch: list[tuple[T, int]], *, arrived: bool = True) -> None:
        size = sum(size for _, size in batch)
        with self._changed:
            if self._abandoned:
                return
            self._gone += len(batch)
            self._given_up += 0 if arrived else len(batch)
            self._under_way -= len(batch)
            self.bytes -= size
            self._in_a_row = 0
            self._largest = min(self._batch, 2 * self._largest)
            self._changed.notify_all()

    def _put_back(self, batch: list[tuple[T, int]]) -> None:
        if not self._abandoned:
            self._under_way -= len(batch)
            self._settled.extendleft(reversed(batch))
