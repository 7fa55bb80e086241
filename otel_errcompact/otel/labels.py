"""Label values of metrics, bounded: an unbounded one would make an unbounded number of time series."""

from __future__ import annotations

from threading import Lock
from typing import Final

from otel_errcompact.digest import one_line
from otel_errcompact.otel import semconv

MAX_LABEL: Final = 120
"""Characters of one label value."""


class Labels:
    """
    The values of one label: the first `size` distinct ones keep their name, later ones are `other`.

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
        self._lock = Lock()

    def label(self, value: str) -> str:
        """Return the label for a value; the empty value stays empty."""
        value = value[:MAX_LABEL]
        return self._known.get(value) or self._learn(value)

    def find(self, value: str) -> str:
        """Return the label of a value without learning a new one."""
        return self._known.get(value[:MAX_LABEL], self._other)

    def _learn(self, value: str) -> str:
        with self._lock:
            # The empty value takes no place.
            if value in self._known or len(self._known) <= self._size:
                return self._known.setdefault(value, one_line(value, MAX_LABEL))
            self.overflowed += 1
            return self._other
