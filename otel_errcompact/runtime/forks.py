"""Resets in a forked child process, whose counts are its own."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


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
