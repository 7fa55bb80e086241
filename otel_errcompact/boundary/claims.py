"""Keep a claim while what it is for takes its time."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

RENEW_S: Final = 10.0
"""A third of the time for which a claim holds."""


@contextmanager
def keep_claiming(claim: Callable[[], object], every_s: float = RENEW_S) -> Generator[None]:
    """
    Call `claim` again and again until the block is left.

    A thread of its own does.

    Args:
        claim: Renews the claim; it must not raise.
        every_s: Seconds between two calls.
    """
    is_over = Event()

    def renew() -> None:
        while not is_over.wait(every_s):
            claim()

    thread = Thread(target=renew, name="errcompact-claim", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
