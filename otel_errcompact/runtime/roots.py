"""Folders of the user's own code: their frames come before all others."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class CodeRoots(NamedTuple):
    """The folders of the user's own code; each ends with a slash."""

    configured: tuple[str, ...] = ()
    """They decide the place of a failure, and so its key."""

    directory: str = ""
    """
    The working directory, where none is configured: it decides the place that is shown of an exception at hand.

    The key does not follow it, since a printed traceback does not say where its program ran.
    """


ANYWHERE = CodeRoots()
"""Whose code a frame is, its path alone tells."""


def open_roots(configured: Iterable[Path]) -> CodeRoots:
    """Return the roots that are configured, else the working directory."""
    roots = tuple(_as_folder(root.absolute()) for root in configured)
    if roots:
        return CodeRoots(roots)
    try:
        return CodeRoots(directory=_as_folder(Path.cwd()))
    except OSError:  # it was removed
        return ANYWHERE


@lru_cache(maxsize=1_024)
def is_within(file: str, roots: tuple[str, ...]) -> bool:
    """Tell whether a file lies below a root; a relative one may."""
    path = file.replace("\\", "/")
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    return not is_absolute or path.startswith(roots)


def _as_folder(path: Path) -> str:
    return path.as_posix().rstrip("/") + "/"
