"""Which formats a text may be of: a cheap look at what all texts of a format hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text

_SHARED: Final = (
    *("A", "R", "C", "[", "*", "M", "G", "W", "B", "H", "=", "<", "`", "U", "P", "j", "k"),
    *("error", "ail", "est", " Error:", "py:", ".cs", ".e", "ing", "on", "at"),
)
"""
What several markers have in common, in the order in which a marker is filed under it: what few texts hold comes first.

A text without it holds none of those markers, and a single character is looked for ten times as fast as a word. Any
choice gives the same candidates; this one was found by trying what is fastest over the outputs of real tools.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """
    One family of formats.
    """

    name: str
    """The family's name; also the `format` of its facts."""

    extract: Callable[[Text], Facts | None]
    """Return the facts of a text of this family, or nothing where the text is of another one."""

    markers: tuple[str, ...] = ()
    """Strings of which a text of this family holds at least one; none means that any text may be of it."""


class Sieve:
    """
    Tells which of some extractors a text may be for.

    Args:
        extractors: The extractors in the order in which they are tried.
    """

    def __init__(self, extractors: Sequence[Extractor]) -> None:
        self._extractors = extractors
        self._always = {number for number, extractor in enumerate(extractors) if not extractor.markers}
        files: dict[str, dict[str, list[int]]] = {}
        for number, extractor in enumerate(extractors):
            for marker in extractor.markers:
                shared = next((part for part in _SHARED if part in marker), marker)
                files.setdefault(shared, {}).setdefault(marker, []).append(number)
        self._files = [
            (shared if len(markers) > 1 or len(shared) == 1 else next(iter(markers)), list(markers.items()))
            for shared, markers in files.items()
        ]

    def candidates(self, body: str) -> list[Extractor]:
        """Return the extractors without markers, and those with a marker that stands in `body`."""
        found = self._always.copy()
        for shared, markers in self._files:
            if shared in body:
                for marker, numbers in markers:
                    if marker in body:
                        found.update(numbers)
        return [self._extractors[number] for number in sorted(found)]
