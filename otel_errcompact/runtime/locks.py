"""
Locks that a thread may take again.

Signal handlers and finalisers run in the middle of anything.
"""

from __future__ import annotations

from _thread import RLock
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class ReentrantLock(RLock):  # type: ignore[misc] # pyright: ignore[reportGeneralTypeIssues] - for checkers alone
    """
    A lock for `with` that cannot be left held.

    It is taken and released in C, where no signal handler raises.
    """

    __slots__ = ()

    def is_mine(self) -> bool:
        """
        Tell whether this thread holds the lock.

        Then the protected state may be half changed.
        """
        return self._is_owned()  # type: ignore[attr-defined,no-any-return] # what `Condition` asks, too


class Held(Generic[T]):
    """
    A value while a lock is held: `with Held(lock, value) as value:`.

    Args:
        lock: The lock.
        value: The value.
    """

    # `with` looks both methods up before it enters: what releases the lock is the lock's own, without a line of Python
    # at which an interrupt could leave it held.
    __slots__ = ("__exit__", "_lock", "_value")

    __exit__: Callable[..., None]

    def __init__(self, lock: ReentrantLock, value: T) -> None:
        self._lock = lock
        self._value = value
        self.__exit__ = lock.__exit__

    def __enter__(self) -> T:
        try:
            self._lock.acquire()
        except BaseException:  # an interrupt: while waiting for it, or when it was just taken
            with suppress(RuntimeError):
                self._lock.release()
            raise
        return self._value
