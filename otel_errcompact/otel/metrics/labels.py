"""Bound the label values of metrics, and so the time series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import one_line
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LABEL: Final = 120
"""Characters of one label value."""

Attributes = dict[str, str]


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
        self._unlock()
        reset_in_child(self._unlock)

    def label(self, value: str) -> str:
        """Return the label for a value; the empty value stays empty."""
        value = value[:MAX_LABEL]
        return self._known.get(value) or self._learn(value)

    def find(self, value: str) -> str:
        """Return the label of a value without learning a new one."""
        return self._known.get(value[:MAX_LABEL], self._other)

    def _unlock(self) -> None:
        """Replace the lock in a child process, where no thread releases it."""
        self._lock = ReentrantLock()

    def _learn(self, value: str) -> str:
        with self._lock:
            # The empty value takes no place.
            if value in self._known or len(self._known) <= self._size:
                return self._known.setdefault(value, one_line(value, MAX_LABEL))
            self.overflowed += 1
            return self._other


class Series:
    """
    Holds the attribute sets of one instrument, at most `size` distinct ones.

    Of later ones only the attributes that all share are kept.

    Labels that are each bounded still multiply, and the SDK folds what is too much into one point that says nothing.

    Args:
        size: How many attribute sets are told apart.
        shared: The attributes that later ones keep; their class is `other`.
    """

    def __init__(self, size: int, *shared: str) -> None:
        self.folded = 0
        """How often an attribute set lost the rest."""
        self._size = size
        self._shared = shared
        self._known: set[tuple[tuple[str, str], ...]] = set()
        self._unlock()
        reset_in_child(self._unlock)

    def __iter__(self) -> Iterator[Attributes]:
        """The attribute sets that are told apart."""
        return iter([dict(place) for place in tuple(self._known)])

    def admit(self, attributes: Attributes) -> Attributes:
        """Return the attributes to count under, without unknown ones."""
        kept = {name: value for name, value in attributes.items() if value}
        place = tuple(kept.items())
        with self._lock:
            if place in self._known or len(self._known) < self._size:
                self._known.add(place)
                return kept
            self.folded += 1
        return {semconv.CLASS: semconv.OTHER} | {name: kept[name] for name in self._shared if name in kept}

    def _unlock(self) -> None:
        """Replace the lock in a child process, where no thread releases it."""
        self._lock = ReentrantLock()
