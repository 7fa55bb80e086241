"""Queue telemetry for export: bounded in bytes, in order, kept during outages."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from otel_errcompact.otel.sdk import suppress_instrumentation
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes in memory at most, the batch under way included."""

MAX_BATCH_BYTES: Final = 2 * 1024 * 1024
"""Half of what a collector accepts by gRPC by default. A larger item is sent alone."""

BACKOFF_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Pauses after the first failed attempt, the second and so on; the last one repeats."""

REFUSALS: Final = 5
"""Failed attempts in a row after which an item that fails alone is suspect: the fault may be its own."""

STALLED_S: Final = 1.4
"""How long a shutdown waits for an attempt that does not end. Spans, log records and metrics have as much each."""

DRAIN_S: Final = 5.0
"""How long a shutdown waits in all while batch after batch arrives."""

T = TypeVar("T")


class BatchPolicy(NamedTuple):
    """
    When a batch is sent.
    """

    delay_s: float = 5.0
    """How long a fresh item waits for others."""

    batch: int = 512
    """Items of a batch at most."""


class ExportQueue(Generic[T]):
    """
    Sends items from any thread in batches, in order, without blocking.

    A thread of its own sends them.

    A batch that fails is kept and tried again after a pause, in a smaller size, since it may have been too large. Items
    that keep failing alone are suspect, and dropped once one behind them arrives. Beyond the bound the oldest items are
    dropped. An attempt whose answer is lost may have arrived: then it arrives twice.

    Args:
        send: Sends a batch and returns whether it has arrived; an exception is a failure.
        size_of: Estimates the bytes that an item holds in memory.
        finalise: Returns the item to send for an item that has waited its delay.
        close: Called at the end, by the thread that sends.
        on_lost: Called with the number of dropped items, never under a lock. Its exceptions are ignored.
        max_bytes: Bytes in memory at most.
        batches: When a batch is sent.
        backoff_s: Pauses between attempts, the last one again and again.
    """

    def __init__(
        self,
        send: Callable[[Sequence[T]], bool],
        size_of: Callable[[T], int],
        *,
        finalise: Callable[[T], T] = lambda item: item,
        close: Callable[[], object] = lambda: None,
        on_lost: Callable[[int], object] = lambda _: None,
        max_bytes: int = MAX_BYTES,
        batches: BatchPolicy | None = None,
        backoff_s: Sequence[float] = BACKOFF_S,
    ) -> None:
        self.bytes = 0
        """Bytes of all items, the batch under way included, by estimate."""
        self._send = send
        self._size_of = size_of
        self._finalise = finalise
        self._close = close
        self._on_lost = on_lost
        self._max_bytes = max_bytes
        self._delay_s, self._batch = batches or BatchPolicy()
        self._backoff_s = backoff_s
        # Each with its size: plain tuples, and a bare lock in `put`, since every span that ends pays for it.
        self._fresh: deque[tuple[T, int]] = deque()
        self._final: deque[tuple[T, int]] = deque()
        self._start_empty()
        reset_in_child(self._start_empty)

    def __len__(self) -> int:
        return len(self._fresh) + len(self._final) + self._under_way

    def _start_empty(self) -> None:
        """
        Start empty, also in a child process.

        Its parent sends the items, and may have held the lock.
        """
        # Re-entrant, since a finalizer that ends a span may run while its own thread is in here.
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._closing: bool = False
        self._done: bool = False
        self._abandoned: bool = False
        """Whether a shutdown has stopped waiting for the attempt under way: its result changes nothing."""
        self._hurry: bool = False
        self._flushing: bool = False
        self._gone: int = 0
        """Items that have left: arrived or dropped."""
        self._dropped: int = 0
        self._failures: int = 0
        self._in_a_row: int = 0
        """Failed attempts since one has succeeded."""
        self._largest = self._batch
        self._empty_queue()
        self._sender = Thread(target=self._run_sender, name="errcompact-export", daemon=True)
        self._sender.start()

    def _empty_queue(self) -> None:
        self._fresh.clear()
        self._final.clear()
        self._under_way = self.bytes = 0

    def put(self, item: T) -> None:
        """Queue an item, and drop the oldest items if space runs out."""
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
                # To wake a thread costs more than all the rest: once per batch.
                if not self._hurry and (len(self._fresh) >= self._batch or held >= MAX_BATCH_BYTES):
                    self._hurry = True
                    self._changed.notify_all()
        if lost:
            self._report_lost(lost)

    def flush(self, timeout_s: float) -> bool:
        """
        Send all items now, and return whether all have arrived.

        A failed attempt ends the wait.
        """
        if current_thread() is self._sender:  # a log record of the exporter may reach a handler that flushes
            return False
        with self._changed:
            goal, failures, dropped = self._gone + len(self), self._failures, self._dropped
            self._flushing = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._gone >= goal or self._failures > failures or self._done, timeout_s)
            return self._gone >= goal and self._dropped == dropped

    def shutdown(self) -> None:
        """
        Send all items while they arrive.

        Those left by a failed or endless attempt are lost.
        """
        deadline = time.monotonic() + DRAIN_S
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify_all()
            gone = -1
            while not self._done and gone < self._gone and (left_s := deadline - time.monotonic()) > 0:
                gone = self._gone
                self._changed.wait_for(lambda: self._done or self._gone > gone, min(STALLED_S, left_s))  # noqa: B023
            lost = len(self)
            self._abandoned = True
            self._empty_queue()
        self._report_lost(lost)

    def _make_room(self, size: int) -> int:
        lost = 0
        while size <= self._max_bytes < self.bytes + size and (self._final or self._fresh):
            # A dropped item's finaliser may end a span, which is queued here: in a statement of its own.
            oldest, freed = (self._final or self._fresh).popleft()
            self.bytes -= freed
            del oldest
            lost += 1
        self._gone += lost
        self._dropped += lost
        return lost

    def _report_lost(self, number: int) -> None:
        if number:
            # It logs, and an application's handler may raise, which must not end the sending thread.
            with suppress(Exception):
                self._on_lost(number)

    def _run_sender(self) -> None:
        suppress_instrumentation()
        continues = True
        while continues:
            continues = self._wait_for_attempt()
            self._finalise_fresh()
            while (batch := self._take_batch(self._largest)) and self._deliver_batch(batch):
                pass
        with suppress(Exception):
            self._close()
        with self._changed:
            self._done = True
            self._changed.notify_all()

    def _wait_for_attempt(self) -> bool:
        """Wait for the next attempt, and return whether another may follow."""
        with self._changed:
            failed = self._in_a_row
            pause_s = self._backoff_s[min(failed, len(self._backoff_s)) - 1] if failed else self._delay_s
            self._changed.wait_for(lambda: self._closing or self._flushing or (self._hurry and not failed), pause_s)
            self._hurry = self._flushing = False
            return not self._closing

    def _finalise_fresh(self) -> None:
        """
        Finalise also items that cannot be sent yet.

        The class of a failure may be forgotten by then.
        """
        for _ in range(len(self._fresh)):
            with self._changed:
                if self._fresh:
                    item, size = self._fresh.popleft()
                    self._final.append((self._finalise_item(item), size))

    def _finalise_item(self, item: T) -> T:
        try:
            return self._finalise(item)
        except Exception:  # noqa: BLE001 - an item as it is is better than a lost one
            return item

    def _take_batch(self, number: int) -> list[tuple[T, int]]:
        with self._changed:
            batch: list[tuple[T, int]] = []
            size = 0
            while self._final and len(batch) < number:
                size += self._final[0][1]
                if batch and size > MAX_BATCH_BYTES:
                    break
                batch.append(self._final.popleft())
            self._under_way += len(batch)
            return batch

    def _deliver_batch(self, batch: list[tuple[T, int]]) -> bool:
        """Send a batch, and return whether to continue with the next one."""
        if self._send_items(batch):
            self._settle_batch(batch)
            return True
        with self._changed:
            self._failures += 1
            self._in_a_row += 1
            self._largest = max(1, len(batch) // 2)
            is_suspect = len(batch) == 1 and self._in_a_row > REFUSALS and not self._closing
            if not is_suspect:
                self._put_back(batch)
            self._changed.notify_all()
        return is_suspect and self._drop_or_put_back(batch)

    def _drop_or_put_back(self, head: list[tuple[T, int]]) -> bool:
        """
        Try an item behind the suspect one, each time one further back.

        If it arrives and those before it still do not, the fault is theirs, and they are dropped.
        """
        # Whatever their sizes: they are sent one by one.
        number = (self._in_a_row - REFUSALS - 1) % self._batch + 1
        behind = [item for _ in range(number) for item in self._take_batch(1)]
        suspects, probe = [*head, *behind[:-1]], behind[-1:]
        if not probe or not self._send_items(probe):
            with self._changed:
                self._put_back([*head, *behind])
            return False
        self._settle_batch(probe)
        for item in suspects:
            arrived = self._send_items([item])
            self._settle_batch([item], arrived=arrived)
            self._report_lost(0 if arrived or self._abandoned else 1)
        return True

    def _send_items(self, batch: list[tuple[T, int]]) -> bool:
        try:
            return self._send([item for item, _ in batch])
        except Exception:  # noqa: BLE001 - exporters raise whatever their transport does
            return False

    def _settle_batch(self, batch: list[tuple[T, int]], *, arrived: bool = True) -> None:
        size = sum(size for _, size in batch)
        with self._changed:
            if self._abandoned:
                return
            self._gone += len(batch)
            self._dropped += 0 if arrived else len(batch)
            self._under_way -= len(batch)
            self.bytes -= size
            self._in_a_row = 0
            self._largest = min(self._batch, 2 * self._largest)
            self._changed.notify_all()

    def _put_back(self, batch: list[tuple[T, int]]) -> None:
        if not self._abandoned:
            self._under_way -= len(batch)
            self._final.extendleft(reversed(batch))
