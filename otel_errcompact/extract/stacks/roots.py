"""Folders of the user's own code: their frames come before all others."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from otel_errcompact.extract.stacks.frames import Frame


class CodeRoots(NamedTuple):
    """The folders whose code is the user's own; each ends with a slash."""

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
    """Tell whether a file lies below a root; a relative one, and code that was typed in, may."""
    path = file.replace("\\", "/")
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    return not is_absolute or path.startswith(roots)


def choose_own(frames: Iterable[Frame], is_own: Callable[[Frame], bool], roots: tuple[str, ...]) -> Frame | None:
    """Return the innermost own frame, below a root if one is there."""
    outside: Frame | None = None
    for frame in frames:
        if is_own(frame):
            if not roots or is_within(frame.file, roots):
                return frame
            outside = outside or frame
    return outside


def _as_folder(path: Path) -> str:
    return path.as_posix().rstrip("/") + "/"
