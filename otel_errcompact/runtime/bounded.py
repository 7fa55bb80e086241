"""A mapping that cannot grow without bound."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")
V = TypeVar("V")


class BoundedTable(Generic[K, V]):
    """
    A mapping of at most `size` entries, shared by threads.

    Beyond that number the oldest entry is evicted.

    Args:
        size: The number of entries.
        on_evict: Called once for each evicted entry.
    """

    def __init__(self, size: int, on_evict: Callable[[], object] = lambda: None) -> None:
        # A plain dictionary would look through all that has been deleted to find its oldest entry.
        self.entries: OrderedDict[K, V] = OrderedDict()
        """The entries, oldest first; read it freely, write through the methods."""
        self._size = size
        self._on_evict = on_evict
        self._lock = ReentrantLock()

    def put(self, key: K, value: V) -> None:
        """Set an entry."""
        with self._lock:
            evicted = len(self.entries) >= self._size and self._make_room(key)
            self.entries[key] = value
        if evicted:
            self._on_evict()

    def update(self, key: K, change: Callable[[V | None], V]) -> None:
        """Set an entry to `change(old)`, where `old` is None without an entry."""
        with self._lock:
            evicted = len(self.entries) >= self._size and self._make_room(key)
            self.entries[key] = change(self.entries.get(key))
        if evicted:
            self._on_evict()

    def get(self, key: K) -> V | None:
        """Return an entry, or None if there is none."""
        return self.entries.get(key)

    def pop(self, key: K) -> V | None:
        """Remove an entry and return it; None without one."""
        if key not in self.entries:  # mostly, and then a lock would be the better part of the cost
            return None
        with self._lock:
            return self.entries.pop(key, None)

    def clear(self) -> None:
        """
        Remove all entries.

        It is safe after a fork, when another thread may have held the lock.
        """
        self._lock = ReentrantLock()
        self.entries.clear()

    def _make_room(self, key: K) -> bool:
        if key in self.entries:
            return False
        self.entries.popitem(last=False)
        return True
