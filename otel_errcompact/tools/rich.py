"""Tracebacks and usage errors in boxes, as Rich draws them: its own, Typer's, and those of what is built on them."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.cleaning.characters import LEFT_OUT
from otel_errcompact.extract.grammar import Facts, Format, Lines, Text, clip, form
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.failure import MAX_CHAIN, MAX_CHILDREN, MAX_DEPTH, Failure
from otel_errcompact.extract.stacks.frames import Frame, is_own_frame
from otel_errcompact.extract.stacks.recursion import recursion_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

USAGE_ERROR: Final = "UsageError"

_TRACEBACK: Final = form(r"[╭+][─-]{1,300} Traceback \(most recent call last\) [─-]{1,300}[╮+]$")
_ERROR: Final = form(r"╭─ Error ─{1,300}╮$")
_FRAME: Final = form(r"(?P<file>[^\s:][^:\n]{0,1000}):{line} in (?P<function>{word})$")
_CURRENT: Final = form(r"[❱>] {1,8}[0-9]{1,9} (?P<source>.*)$")
_FINAL: Final = form(r"(?P<type>[A-Za-z_][\w.]{0,300})(?:: (?P<message>.*))?$")
_CAUSING: Final = "The above exception was the direct cause of the following exception:"
_HANDLING: Final = "During handling of the above exception, another exception occurred:"
_LINK_AT: Final = 3
_GUIDES: Final = " │|"
_MAX_PATH_LINES: Final = 6
_MAX_MESSAGE_LINES: Final = 20


def read(text: Text) -> Facts | None:
    """Return the facts of the last chain of boxes in `text`, or of a box that refuses a command line."""
    lines = text.lines
    chain = _read_chain(lines, 0)
    return facts_of(chain) if chain else _read_usage_error(lines)


def _read_chain(lines: Lines, depth: int) -> tuple[Failure, ...]:
    # Return the last chain of boxes in `lines`, outermost first.
    starts = [number for number, line in enumerate(lines) if line[:1] in ("╭", "+") and _TRACEBACK.match(line)]
    starts = starts[-MAX_CHAIN:]
    chain: list[Failure] = []
    for start, end in pairwise((*starts, len(lines))):
        failure = _read_failure(lines[start + 1 : end], depth)
        above = lines[max(0, start - _LINK_AT) : start]
        is_handler = any(line.endswith(_HANDLING) for line in above)
        if not is_handler and not any(line.endswith(_CAUSING) for line in above):
            chain.clear()
        if failure is not None:
            chain.append(failure._replace(follows=True) if is_handler else failure)
    return tuple(reversed(chain))


def _read_failure(lines: Lines, depth: int) -> Failure | None:
    end = next((at for at, line in enumerate(lines) if line[:1] in ("╰", "+")), len(lines))
    frames = _read_frames(_strip_box(lines[:end]))
    final = _FINAL.match(lines[end + 1]) if end + 1 < len(lines) else None
    if final is None:
        return None
    own = next((frame for frame in reversed(frames) if is_own_frame(frame)), None)
    rest = lines[end + 2 : end + 2 + _MAX_MESSAGE_LINES]
    blank = next((at for at, line in enumerate(rest) if not line or line[0] in "╭+"), len(rest))
    message = "\n".join((final["message"] or "", *rest[:blank]))
    children = _read_children(lines[end + 2 :], depth) if "Group" in final["type"] and depth < MAX_DEPTH else ()
    failure = Failure(final["type"], message, own, frames[-1] if frames else None, children=children)
    return _add_recursion(failure, lines[:end], frames) if final["type"] == "RecursionError" else failure


def _read_children(lines: Lines, depth: int) -> tuple[tuple[Failure, ...], ...]:
    starts = [number for number, line in enumerate(lines) if line[:1] in ("╭", "+") and "Sub-exception #" in line]
    inner = (
        _read_chain(_strip_box(lines[start + 1 : end]), depth + 1) for start, end in pairwise((*starts, len(lines)))
    )
    return tuple(chain for chain in islice(inner, MAX_CHILDREN) if chain)


def _add_recursion(failure: Failure, box: Lines, frames: Sequence[Frame]) -> Failure:
    is_cut = any("frames hidden" in line or LEFT_OUT in line for line in box)
    found = recursion_of(((frame, 1) for frame in frames), is_own_frame, is_cut=is_cut)
    return failure._replace(own=found.place, recursion=found) if found is not None else failure


def _strip_box(lines: Iterable[str]) -> list[str]:
    return [line[2:-1].rstrip() for line in lines if line[:1] in ("│", "|")]


def _read_frames(content: Lines) -> list[Frame]:
    frames: list[Frame] = []
    path: list[str] = []
    for line in content:
        current = _CURRENT.match(line)
        if current is not None and frames:
            frames[-1] = frames[-1]._replace(source=current["source"].lstrip(_GUIDES))
        if not line or line[0] in " ❱>╭│╰|+":
            path = []
            continue
        path = [*path[-_MAX_PATH_LINES:], line]
        found = _FRAME.match("".join(path))
        if found is not None:
            frames.append(Frame(found["file"], int(found["line"]), found["function"]))
            path = []
    return frames


def _read_usage_error(lines: Lines) -> Facts | None:
    start = next((at for at, line in enumerate(lines) if line.startswith("╭─ Error") and _ERROR.match(line)), None)
    if start is None:
        return None
    said = " ".join(line.strip() for line in _strip_box(lines[start + 1 : start + 1 + _MAX_MESSAGE_LINES]))
    return Facts(type=USAGE_ERROR, cause=clip(said)) if said else None


FORMAT: Final = Format(
    name="rich",
    reads_all=True,
    read=read,
    markers=("─ Traceback (most recent call last) ─", "- Traceback (most recent call last) -", "╭─ Error ─"),
)
