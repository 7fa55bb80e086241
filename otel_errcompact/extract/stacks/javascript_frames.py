"""Frames of JavaScript's stacks: as V8, Firefox, Safari and Vitest print them, and which of them are own code."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FOREIGN: Final = lazy_pattern(
    r"""
    (?:^|[/\\])node_modules[/\\]
    | ^(?:node|bun|ext|wasm|deno|jsr|chrome|chrome-extension|moz-extension|resource):
    | ^(?:evalmachine\.|index\ |native$|<|\[)
    | ^internal/
    | ^(?:(?:bootstrap)?_\w+|assert|child_process|dns|events|fs|https?|module|net|node|stream|timers)\.js$
    | ^(?:tls|util|vm|zlib)\.js$
    | ^https?://(?:deno\.land/(?:std|x)|jsr\.io|esm\.sh|unpkg\.com|cdn\.)
    | [/\\]webpack[/\\](?:runtime|bootstrap)
    | (?:^|[/\\])(?:vendors?|polyfills)[.~-][^/\\]*\.js$
    """,
    re.VERBOSE,
)
_ORIGIN: Final = lazy_pattern(r"(?:file://(?=/)|webpack-internal:///|webpack://[^/]{0,100}/|address at )")
_LAYER: Final = lazy_pattern(r"(?:\([\w-]{1,40}\)/)?\./")
_OWNER: Final = lazy_pattern(r"(?:Object|Module|exports|module\.exports|Context|TestContext)\.(?=.)")


def frame_of(line: str) -> Frame | None:
    """Return the frame that a line of a stack prints, in the form of V8, of Firefox and Safari, or of Vitest."""
    line = line.strip()
    if line.startswith("at "):
        return _frame_of_v8(line[3:].rstrip(' {[,"'))
    if line.startswith("\u276f "):
        called, _, place = line[2:].rpartition(" ")
        return _build_frame(called, place)
    called, at, place = line.partition("@")
    return _build_frame(called, place) if at and " " not in place and "://" in place else None


@lru_cache(maxsize=1_024)
def is_own(file: str) -> bool:
    """Tell whether code is the user's own: no dependency, no part of the runtime."""
    return _FOREIGN.search(file) is None


@lru_cache(maxsize=512)
def _frame_of_v8(text: str) -> Frame | None:
    text = text.removeprefix("async ")
    called, bracket, place = text.partition(" (")
    if bracket and place.endswith(")"):
        return _build_frame(called, place[:-1])
    return _build_frame("", text)


def _build_frame(called: str, place: str) -> Frame | None:
    rest, _, column = place.rpartition(":")
    file, _, line = rest.rpartition(":")
    if column.isdecimal() and line.isdecimal() and file and not file.isdecimal():
        return Frame(plain_file(file), int(line[:9]), _clean_function_name(called))
    if place in ("<anonymous>", "native") or place.startswith("index "):
        return Frame(place, None, _clean_function_name(called))
    return None


def plain_file(file: str) -> str:
    """Return a file without the scheme of a loader and its query; of a dependency, what follows its folder."""
    origin = _ORIGIN.match(file)
    if origin is not None:
        file = file[origin.end() :]
        layer = _LAYER.match(file)
        file = file[layer.end() :] if layer else file
        file = file[1:] if file[2:3] == ":" and file[0] == "/" else file
    return file.partition("?")[0]


def _clean_function_name(called: str) -> str:
    # Return the name of a function without what V8 says of its receiver where that is no name of the user's.
    name = called.partition(" [as ")[0]
    owner = _OWNER.match(name)
    name = name[owner.end() :] if owner else name
    return "" if name.endswith("<anonymous>") or name == "eval" else name


def is_own_frame(frame: Frame) -> bool:
    """Tell whether a frame is the user's own code."""
    return is_own(frame.file)


def own_frame(frames: Iterable[Frame]) -> Frame | None:
    """Return the innermost frame of the user's own code."""
    return next(filter(is_own_frame, frames), None)


def innermost(frames: Sequence[Frame], own: Frame | None) -> Frame | None:
    """Return the innermost frame of a dependency or of own code; the runtime's own frames help nobody."""
    for frame in frames:
        if frame is own:
            return own
        if "node_modules" in frame.file:
            return frame._replace(file=frame.file.rpartition("node_modules")[2][1:])
        if frame.file.startswith("http"):
            return frame
    return own
