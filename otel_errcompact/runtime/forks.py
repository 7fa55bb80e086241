"""Resets in a forked child process, whose counts are its own."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_WAIT_S: Final = 10.0
"""Seconds that a fork waits for an import at most."""

FORKS_WAIT: Final = RLock()
"""
Held around an import that a call or a failure starts: `with FORKS_WAIT: import ...`.

A module that one thread imports while another one forks stays locked in the child for ever, and the first failure there
that needs it would hang.
"""


def reset_in_child(reset: Callable[[], None]) -> None:
    """
    Call the bound method `reset` in every child process forked later.

    Platforms that cannot fork need no reset.
    """
    if not hasattr(os, "register_at_fork"):
        return
    reference = weakref.WeakMethod(reset)

    def start_anew() -> None:
        alive = reference()
        if alive is not None:
            alive()

    os.register_at_fork(after_in_child=start_anew)


def _release_in_parent() -> None:
    with suppress(RuntimeError):  # the wait was given up
        FORKS_WAIT.release()


def _release_in_child() -> None:
    try:
        FORKS_WAIT.release()  # the thread that forked is the only one here, under the same identity
    except RuntimeError:  # the wait was given up, and the thread that holds the lock is in the parent
        FORKS_WAIT._at_fork_reinit()  # type: ignore[attr-defined] # noqa: SLF001 - what `threading` calls itself


if hasattr(os, "register_at_fork"):  # pragma: no branch - on Windows
    os.register_at_fork(
        before=lambda: FORKS_WAIT.acquire(timeout=MAX_WAIT_S),
        after_in_parent=_release_in_parent,
        after_in_child=_release_in_child,
    )
