"""Frames of a stack, and which of them are the user's own code."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import Location
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.roots import is_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_REMEMBERED_FILES: Final = 4_096

_FOREIGN: Final = lazy_pattern(
    r"""
    [/\\](?:site|dist)-packages[/\\]
    | [/\\]lib(?:64)?[/\\](?:python|pypy)[0-9]
    | (?i:[/\\](?:python[0-9]+|python[/\\][0-9.]+[/\\]x[0-9]+)[/\\]lib[/\\])
    | (?i:[/\\](?:mini|ana)conda3?(?:[/\\]envs[/\\][^/\\]+)?[/\\]lib[/\\])
    | [/\\](?:\.?v?env|\.local|usr(?:[/\\]local)?)[/\\](?:bin|Scripts)[/\\]
    | [/\\]opentelemetry[/\\](?:sdk|trace|context|util|instrumentation|metrics|_logs|_events|exporter)[/\\]
    | [/\\]otel_errcompact(?:_\w+)?[/\\](?!(?:cli|tests|examples|benchmarks|packages|otel_errcompact)[/\\])
    | [/\\]pyspark(?:\.zip)?[/\\]
    | \A(?![/\\]|[A-Za-z]:)[^:]{1,300}\.p(?:yx|xi|xd)\Z # compiled in, wherever that was
    """,
    re.VERBOSE,
)
_PLUMBING: Final = lazy_pattern(
    r"[/\\](?:opentelemetry[/\\](?:sdk|trace|context|util|instrumentation|metrics|_logs|_events|exporter)|wrapt)[/\\]"
    r"|[/\\]otel_errcompact(?:_\w+)?[/\\](?!(?:cli|tests|examples|benchmarks|packages|otel_errcompact)[/\\])"
)
_INSTALLED_IN: Final = lazy_pattern(r".*[/\\](?:(?:site|dist)-packages|(?:python|pypy)[0-9.]+)[/\\]", re.DOTALL)
_HANDED_OVER: Final = "<string>"
_TYPED_IN: Final = (
    _HANDED_OVER, "<stdin>", "<console>", "<ipython-input", "<python-input", "<input", "<cell", "<command-",
)  # fmt: skip

_CHECKS: Final = frozenset(
    {"assert", "check", "validate", "ensure", "require", "verify", "raise", "fail", "expect", "guard", "must"}
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"

_own_files: dict[str, bool] = {}


class Frame(NamedTuple):
    """
    One frame of a stack.

    A named tuple, since it is part of what a repeated failure is recognised by: it hashes and compares in C.
    """

    file: str
    line: int | None = None
    function: str = ""
    source: str = ""

    def place(self) -> Location:
        """Return where this frame is."""
        return Location(function=self.function, file=self.file, line=self.line)


def is_own(file: str, function: str = "") -> bool:
    """
    Tell whether code is the user's own, on this machine or another.

    It is if it is neither installed nor of the standard library, of telemetry or generated: the function tells a script
    on a command line from methods that a library generated.
    """
    own = _own_files.get(file)
    if own is None:
        own = _remember_file(file)
    return own and (file != _HANDED_OVER or function == "<module>")


@lru_cache(maxsize=1_024)
def is_plumbing(file: str) -> bool:
    """Tell whether code is telemetry's, which wraps the code that fails and is never the place of a failure."""
    return _PLUMBING.search(file) is not None


def _remember_file(file: str) -> bool:
    if len(_own_files) >= MAX_REMEMBERED_FILES:
        _own_files.clear()
    own = file.startswith(_TYPED_IN) if file[:1] == "<" else _FOREIGN.search(file) is None
    _own_files[file] = own
    return own


def is_own_frame(frame: Frame) -> bool:
    """Tell whether a frame is the user's own code."""
    return is_own(frame.file, frame.function)


def only_checks(frame: Frame) -> bool:
    """Tell by its name whether a function only raises what it was asked to check."""
    name = frame.function.lstrip("_")
    return name[: len(name) - len(name.lstrip(_LETTERS))] in _CHECKS


def library_place(frame: Frame) -> Location:
    """Return where a frame of installed code is, without the folder it is installed in, which tells nobody anything."""
    library = _INSTALLED_IN.match(frame.file)
    file = frame.file[library.end() :] if library else frame.file
    return Location(function=frame.function, file=file, line=frame.line)


def choose_own(frames: Iterable[Frame], is_own: Callable[[Frame], bool], roots: tuple[str, ...]) -> Frame | None:
    """Return the innermost own frame, below a root if one is there."""
    outside: Frame | None = None
    for frame in frames:
        if is_own(frame):
            if not roots or is_within(frame.file, roots):
                return frame
            outside = outside or frame
    return outside
