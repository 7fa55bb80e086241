"""The failures that agents of the benchmark meet: 200 classes over 20 tools, raised or returned, 0.5 to 8 kB each."""

from __future__ import annotations

import random
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CORPUS: Final = Path(__file__).resolve().parents[2] / "corpus"
CLASSES: Final = 200
TOOLS: Final = 20
RETURNED: Final = 80
"""Classes that a tool returns as text: real outputs of test runners and compilers. The others are raised."""

SMALLEST: Final = 500
LARGEST: Final = 8_000
FRAMES: Final = range(2, 42, 3)
"""Frames below the tool at which a failure is raised; each costs about 130 bytes of stack trace, in two tracebacks."""


class QueryError(Exception):
    """
    What the lowest layer of a tool raises.
    """


class ToolError(Exception):
    """
    What a tool makes of it.
    """


class Kind(NamedTuple):
    """
    One class of failures.
    """

    tool: str
    name: str
    """Stays in the class's template: made of letters alone."""

    frames: int
    output: str
    """What the tool returned; empty where it raises."""

    def fail(self) -> str:
        """
        Return the tool's output, with what differs from one run of a tool to the next.

        Raises:
            ToolError: The tool raises.
        """
        request = uuid.uuid4()
        if self.output:
            return f"{self.output.rstrip()}\n[request {request} took {random.uniform(0.1, 30):.3f} s]\n"
        try:
            _down(self.frames, self.name, request)
        except QueryError as error:
            raise ToolError(f"cannot load {self.name!r}: request {request} failed") from error
        raise AssertionError("unreachable")


def kinds() -> Sequence[Kind]:
    """Return all kinds of failures, those that happen most often first."""
    outputs = list(_outputs())
    every = len(outputs) / RETURNED
    made = [
        Kind(tool=_tool(number), name=_name(number), frames=FRAMES[number % len(FRAMES)], output="")
        for number in range(CLASSES - RETURNED)
    ]
    made += [
        Kind(tool=_tool(number), name="", frames=0, output=outputs[int(number * every)]) for number in range(RETURNED)
    ]
    random.Random(1).shuffle(made)
    return made


@cache
def weights() -> Sequence[float]:
    """Return how often each kind happens: the n-th most frequent a n-th as often as the first."""
    return [1 / rank for rank in range(1, CLASSES + 1)]


def _outputs() -> Iterator[str]:
    for path in sorted(CORPUS.rglob("*.txt")):
        if SMALLEST <= path.stat().st_size <= LARGEST:
            yield path.read_text(encoding="utf-8", errors="replace")


def _tool(number: int) -> str:
    return f"tool_{_name(number % TOOLS)}"


def _name(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return f"orders_{letters[number // 26]}{letters[number % 26]}"


def _down(frames: int, name: str, request: uuid.UUID) -> None:
    """Two functions take turns, since a traceback shortens one that calls itself."""
    if frames <= 0:
        raise QueryError(f"no such table: {name!r} (request {request}, connection {random.randrange(10**6)})")
    _further_down(frames - 1, name, request)


def _further_down(frames: int, name: str, request: uuid.UUID) -> None:
    if frames <= 0:
        raise QueryError(f"no such table: {name!r} (request {request}, connection {random.randrange(10**6)})")
    _down(frames - 1, name, request)
