"""
Postpone counts that arrive while their run is counted.

They come from a signal handler or a finaliser of the same thread.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.engine.events import Event


class PostponedCounts:
    """
    Holds counts that are due once their run is whole again.

    A child process starts without any.

    Args:
        is_held: Whether this thread is at work on a run.
        apply: Counts an event.
    """

    def __init__(self, is_held: Callable[[str], bool], apply: Callable[[Event], object]) -> None:
        self._is_held = is_held
        self._apply = apply
        self._waiting: deque[Event] = deque()
        reset_in_child(self._forget_counts)

    def add(self, event: Event) -> None:
        """Count an event once its run is whole again."""
        self._waiting.append(event)

    def run(self) -> None:
        """Make the due counts, oldest first, until a run is still held."""
        while self._waiting:
            try:
                event = self._waiting.popleft()
            except IndexError:  # another thread was faster
                return
            if self._is_held(event.run_id):
                self._waiting.appendleft(event)
                return
            self._apply(event)

    def _forget_counts(self) -> None:
        self._waiting.clear()
