"""Bound the label values of metrics, and so the time series."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from otel_errcompact.errors import Location, SpanRef

MAX_LABEL: Final = 120
"""Characters of one label value."""

LAST_PARTS: Final = 3
"""Parts of a path that is under no known folder."""

Attributes = dict[str, str]


def shorten_place(place: Location) -> str:
    """Return a place without the folders of this machine."""
    path = place.file.replace("\\", "/")
    if path[:1] == "/" or path[1:3] == ":/":
        folders = [*sys.path]
        with suppress(OSError):  # the working directory was deleted
            folders.append(str(Path.cwd()))
        roots = (folder.replace("\\", "/").rstrip("/") for folder in folders)
        found = [root for root in roots if root and path.startswith(f"{root}/")]
        path = path[len(max(found, key=len)) + 1 :] if found else "/".join(path.split("/")[-LAST_PARTS:])
    return str(replace(place, file=path))


class Labels:
    """
    Holds the values of one label: `size` distinct ones, then `other`.

    Args:
        size: How many values are told apart.
        other: The label of all others.
    """

    def __init__(self, size: int, *, other: str = semconv.OTHER) -> None:
        self.overflowed = 0
        """How often a value became `other`."""
        self._size = size
        self._other = other
        self._known: dict[str, str] = {"": ""}
        self._replace_lock()
        reset_in_child(self._replace_lock)

    def label(self, value: str) -> str:
        """Return the label for a value; the empty value stays empty."""
        value = value[:MAX_LABEL]
        return self._known.get(value) or self._learn_value(value)

    def find(self, value: str) -> str:
        """Return the label of a value without learning a new one."""
        return self._known.get(value[:MAX_LABEL], self._other)

    def _replace_lock(self) -> None:
        self._lock = ReentrantLock()

    def _learn_value(self, value: str) -> str:
        with self._lock:
            # The empty value takes no place.
            if value in self._known or len(self._known) <= self._size:
                return self._known.setdefault(value, one_line(value, MAX_LABEL))
            self.overflowed += 1
            return self._other


class Cell:
    """
    Holds an attribute set, and its count since the last collection.

    Args:
        instrument: The name of the instrument.
        attributes: The attribute set.
    """

    __slots__ = ("attributes", "count", "digest_tokens", "instrument", "raw_tokens", "sent_tokens", "span", "waits")

    def __init__(self, instrument: str, attributes: Attributes) -> None:
        self.instrument: Final = instrument
        self.attributes: Final = attributes
        self.count = 0
        self.span: SpanRef | None = None
        """The newest span counted, for an exemplar; a sampled one stays before others."""
        self.waits = False
        """Whether it is in line for the SDK."""
        self.raw_tokens = self.sent_tokens = self.digest_tokens = 0
        """What its occurrences have cost."""


class Series:
    """
    Holds the attribute sets of one instrument, at most `size` distinct ones.

    Of later ones only the attributes that all share are kept.

    Labels that are each bounded still multiply, and the SDK folds what is too much into one point that says nothing.

    Args:
        instrument: The name of the instrument.
        size: How many attribute sets are told apart.
        shared: The attributes that later ones keep; their class is `other`.
    """

    def __init__(self, instrument: str, size: int, *shared: str) -> None:
        self.folded = 0
        """How often an attribute set lost the rest."""
        self._instrument = instrument
        self._size = size
        self._shared = shared
        self._known: dict[tuple[tuple[str, str], ...], Cell] = {}
        self._rest: dict[tuple[tuple[str, str], ...], Cell] = {}
        """The cells of later attribute sets: one for each value of the shared attributes."""
        self._reset_cells()
        reset_in_child(self._reset_cells)

    def cells(self) -> tuple[Cell, ...]:
        """Return all cells, those of later attribute sets too."""
        return (*self._known.values(), *self._rest.values())

    def admit(self, attributes: Attributes) -> Cell:
        """Return the cell to count in, whose attributes lack unknown ones."""
        kept = {name: value for name, value in attributes.items() if value}
        place = tuple(kept.items())
        with self._lock:
            cell = self._known.get(place)
            if cell is None and len(self._known) < self._size:
                cell = self._known[place] = Cell(self._instrument, kept)
            if cell is not None:
                return cell
            self.folded += 1
            shared = {semconv.CLASS: semconv.OTHER} | {name: kept[name] for name in self._shared if name in kept}
            return self._rest.setdefault(tuple(shared.items()), Cell(self._instrument, shared))

    def _reset_cells(self) -> None:
        self._lock = ReentrantLock()
        for cell in self.cells():
            cell.waits, cell.count, cell.span = False, 0, None
            cell.raw_tokens = cell.sent_tokens = cell.digest_tokens = 0
