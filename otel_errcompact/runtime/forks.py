"""Resets in forked child processes, and imports that forks wait for."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import suppress
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

MAX_WAIT_S: Final = 10.0
"""Seconds that a fork waits for an import at most."""

FORKS_WAIT: Final = RLock()
"""
Held around an import that a call or a failure starts: `with FORKS_WAIT: import ...`.

A module that one thread imports while another one forks stays locked in the child for ever, and the first failure there
that needs it would hang.
"""


def load_name(module: str, homes: Mapping[str, tuple[str, ...]], name: str) -> Any:
    """
    Import what a `__getattr__` is asked for, while forks wait.

    From then on the module has it as a name of its own.

    Args:
        module: The name of the module, of a package where homes are relative to it.
        homes: The names that it lends, by the modules that have them.
        name: The name.

    Raises:
        AttributeError: No module has it.
    """
    home = next((home for home, names in homes.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    with FORKS_WAIT:
        found = getattr(import_module(home, module), name)
    setattr(sys.modules[module], name, found)
    return found


def load_names(*modules: ModuleType) -> None:
    """Import all names that modules lend."""
    for module in modules:
        for name in module.__all__:
            getattr(module, name)


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
