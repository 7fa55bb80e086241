"""Calls at the end of a child process of `multiprocessing`."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST: Final = -100
"""The priority of our calls: after queues have sent what they hold."""

_calls: Final[dict[weakref.ReferenceType[Any], None]] = {}
_joined: Final[list[bool]] = []


def call_at_child_exit(method: Callable[[], object]) -> None:
    """
    Call a bound method where a forked child of `multiprocessing` ends.

    Such a child ends without `atexit`. The last method comes first, and its exceptions are ignored.

    Where a pool terminates it, as at the end of `with Pool()`, it is killed and nothing is called. All other processes
    end by `atexit`, which the caller looks after.
    """
    _calls[weakref.WeakMethod(method, lambda gone: _calls.pop(gone, None))] = None
    _join_multiprocessing()


def _join_multiprocessing() -> None:
    # It is not imported for this: a process that has never loaded it has no children of it.
    util: Any = sys.modules.get("multiprocessing.util")
    if util is None or _joined:
        return
    _joined.append(True)
    # A child that starts forgets its finalizers, and then runs what is registered here.
    util.register_after_fork(_make_calls, _add_finalizer)
    if sys.modules["multiprocessing.process"].parent_process() is not None:
        _add_finalizer(_make_calls)


def _add_finalizer(calls: Callable[[], None]) -> None:
    sys.modules["multiprocessing.util"].Finalize(None, calls, exitpriority=_LAST)


def _make_calls() -> None:
    while _calls:
        method = _calls.popitem()[0]()
        if method is not None:
            with suppress(Exception):
                method()


if hasattr(os, "register_at_fork"):  # pragma: no branch - on Windows
    os.register_at_fork(after_in_child=_join_multiprocessing)
