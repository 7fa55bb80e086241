"""Runaway recursions: the cycle of functions, its count, its entry."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from otel_errcompact.extract.stacks.frames import Frame

MAX_CYCLE: Final = 6
"""Functions of a cycle that are named."""

_MIN_TURNS: Final = 2
_Name = tuple[str, str]


class Recursion(NamedTuple):
    """Functions that call one another until the stack is full."""

    place: Frame
    """The function that counts as its place: where a stack ends is chance, so it is the first one by name."""

    cycle: tuple[Frame, ...] = ()
    """The functions in the order of their calls, each where it calls the next one."""

    turns: int = 0
    """How often the first one of them was called; 0 where the stack does not hold all calls."""

    entry: Frame | None = None
    """The innermost own frame outside of the cycle."""


def recursion_of(
    stack: Iterable[tuple[Frame, int]], is_own: Callable[[Frame], bool], *, is_cut: bool = False
) -> Recursion | None:
    """
    Return the recursion of a stack: of own functions, else of a library.

    Frames come outermost first, each with how often in a row it stands there. Where frames may be missing (`is_cut`),
    no count would be true.
    """
    found = _choose_recursion(list(stack), is_own)
    return found._replace(turns=0) if is_cut and found is not None else found


def _choose_recursion(frames: Sequence[tuple[Frame, int]], is_own: Callable[[Frame], bool]) -> Recursion | None:
    own = _find_recursion([(frame, times) for frame, times in frames if is_own(frame)])
    if own is not None and own.cycle:
        return own
    any_code = _find_recursion(frames)
    if own is None or any_code is None:
        return any_code
    return own._replace(cycle=any_code.cycle, turns=any_code.turns)


def _find_recursion(stack: Sequence[tuple[Frame, int]]) -> Recursion | None:
    counts: Counter[_Name] = Counter()
    innermost: dict[_Name, Frame] = {}
    for frame, times in stack:
        counts[_name_frame(frame)] += times
        innermost[_name_frame(frame)] = frame
    if not counts:
        return None
    often = max(counts.values()) // 2
    members = {name for name, count in counts.items() if count >= often}
    # Comprehensions are functions of their own in some versions of Python only.
    first = min(members, key=lambda name: (name[1].startswith("<"), name))
    if counts[first] < _MIN_TURNS:
        return Recursion(innermost[first])
    start = next(number for number, (frame, _) in enumerate(stack) if _name_frame(frame) in members)
    # A stack that begins inside the cycle lacks its outer part: then neither count nor entry is known.
    head = _name_frame(stack[start][0]) if start else first
    entry = stack[start - 1][0] if start else None
    return Recursion(innermost[first], _cycle_of(stack, head), counts[head] if start else 0, entry)


def _cycle_of(stack: Sequence[tuple[Frame, int]], head: _Name) -> tuple[Frame, ...]:
    # The outermost turn: of later ones frames may have been left out.
    calls = [number for number, (frame, _) in enumerate(stack) if _name_frame(frame) == head]
    start, end = (*calls, calls[0] + 1)[:2]
    return tuple(frame for frame, _ in stack[start:end] if frame.function[:1] != "<" or _name_frame(frame) == head)


def _name_frame(frame: Frame) -> _Name:
    return frame.file, frame.function
