"""Text made to cost time: what real tools say, and bare characters, grown to any size in ways no tool would."""

from __future__ import annotations

import heapq
import time
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.quality.ours import forget
from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from otel_errcompact.extract.table import listings

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).parents[2] / "corpus"
RUNS = (*"0aA \t.:/\\'\"([{<-=_|^~", "\x1b[")
"""Characters and beginnings that patterns repeat over."""


class Hostile(NamedTuple):
    """
    A text, and how it was made.
    """

    name: str
    text: str


class Slowest(NamedTuple):
    """
    The text that took longest.
    """

    name: str
    milliseconds: float


def seeds() -> dict[str, str]:
    """Return what real tools said, by format and case."""
    return {
        f"{path.parent.name}/{path.stem}": path.read_bytes().decode("utf-8", "replace")
        for path in sorted(CORPUS.glob("*/*.txt"))
    }


def some_of_each(count: int = 4) -> dict[str, str]:
    """Return so many of the seeds of each format."""
    formats: dict[str, list[str]] = {}
    found = seeds()
    for name in found:
        formats.setdefault(name.partition("/")[0], []).append(name)
    return {name: found[name] for names in formats.values() for name in names[:count]}


def markers() -> list[str]:
    """Return the markers of all formats."""
    return sorted({marker for listing in listings() for marker in listing.markers})


def grown(name: str, text: str, size: int) -> Iterator[Hostile]:
    """Grow one text to `size` characters in several ways."""
    lines = [line for line in text.splitlines() if line.strip()] or [text or " "]
    each = size // len(text or " ") + 2
    longest = max(lines, key=len)
    yield Hostile(f"{name}: repeated", _filled(text + "\n", size))
    yield Hostile(f"{name}: each line repeated", "\n".join(line for line in lines for _ in range(each))[:size])
    yield Hostile(f"{name}: without newlines", _filled(" ".join(lines), size))
    yield Hostile(f"{name}: one long line", text.replace(longest, _filled(longest, size), 1)[:size])
    yield Hostile(f"{name}: halves of lines", _filled("\n".join(line[: len(line) // 2] for line in lines) + "\n", size))


def runs(size: int) -> Iterator[Hostile]:
    """Yield runs of one character and of the markers of all formats, alone, in lines and before something else."""
    for start in (*RUNS, *markers()):
        yield Hostile(f"{start!r} repeated", _filled(start, size))
        yield Hostile(f"{start!r} in lines", _filled(f"{start}\n", size))
        yield Hostile(f"{start!r} before digits", start + "1" * size)
    for start in RUNS:
        yield Hostile(f"{start!r} before spaces", start + " " * size + "x")
        yield Hostile(f"{start!r} before brackets", start + "[(" * (size // 2))
        yield Hostile(f"{start!r} before quotes", start + "'\"" * (size // 2))


def cost(text: str, rounds: int = 1) -> float:
    """Return the CPU time in milliseconds for the class of a text, the best of some rounds."""
    times = []
    for _ in range(rounds):
        forget()
        started = time.process_time_ns()
        classify(RawError(text=text))
        times.append(time.process_time_ns() - started)
    return min(times) / 1_000_000


def slowest(size: int, count: int = 5) -> list[Slowest]:
    """Return the texts of `size` characters that take longest, each measured again before it is accused."""
    texts = chain(chain.from_iterable(grown(name, text, size) for name, text in some_of_each().items()), runs(size))
    found = heapq.nlargest(2 * count, ((cost(made.text), made) for made in texts), key=itemgetter(0))
    again = [Slowest(made.name, cost(made.text, rounds=3)) for _, made in found]
    return sorted(again, key=lambda each: -each.milliseconds)[:count]


def _filled(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]
