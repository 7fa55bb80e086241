from __future__ import annotations

from threading import Thread

import pytest

from otel_errcompact.runtime.locks import Held, ReentrantLock


def is_held(lock: ReentrantLock) -> bool:
    """Tell whether a thread holds a lock, by what its `repr` begins with."""
    return repr(lock).startswith("<locked ")


def test_a_lock_may_be_taken_again_by_its_thread() -> None:
    """A signal handler in the middle of a count passes, and the lock is free in the end."""
    lock = ReentrantLock()
    assert (is_held(lock), lock.is_mine()) == (False, False)
    with lock, lock:
        assert (is_held(lock), lock.is_mine()) == (True, True)
    assert (is_held(lock), lock.is_mine()) == (False, False)


def test_a_lock_of_another_thread_is_locked_and_not_mine() -> None:
    """It may not be taken for one's own."""
    lock = ReentrantLock()
    seen: list[tuple[bool, bool]] = []
    with lock:
        other = Thread(target=lambda: seen.append((is_held(lock), lock.is_mine())))
        other.start()
        other.join()
    assert seen == [(True, False)]


def test_a_value_is_held_as_long_as_its_lock() -> None:
    """Also where the block ends with an exception."""
    lock = ReentrantLock()
    with pytest.raises(KeyError), Held(lock, "state") as value:
        assert (value, lock.is_mine()) == ("state", True)
        raise KeyError(value)
    assert not is_held(lock)


@pytest.mark.parametrize("taken", [False, True], ids=["while it waits", "when it was just taken"])
def test_an_interrupt_leaves_no_lock_held(taken: bool) -> None:
    """The block is not entered, and so never left."""

    class Interrupted(ReentrantLock):
        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            if taken:
                super().acquire()
            raise KeyboardInterrupt

    lock = Interrupted()
    with pytest.raises(KeyboardInterrupt), Held(lock, "state"):
        raise AssertionError("must not be reached")
    assert not lock.is_mine()
