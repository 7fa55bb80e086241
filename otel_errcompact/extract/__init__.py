"""From a raw error to its facts: a table of extractors, one file for each family of formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract import http, ipython, live, plain, prose, python, shell
from otel_errcompact.extract.text import Text, read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.errors import Facts, RawError

__all__ = ["EXTRACTORS", "Extractor", "Text", "extract"]


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

    def may_apply(self, body: str) -> bool:
        """Tell cheaply whether `body` may be of this family."""
        return not self.markers or any(marker in body for marker in self.markers)


EXTRACTORS: Final[list[Extractor]] = [
    Extractor(name="python", extract=python.extract, markers=python.MARKERS),
    Extractor(name="ipython", extract=ipython.extract, markers=ipython.MARKERS),
    Extractor(name="http", extract=http.extract),
    Extractor(name="shell", extract=shell.extract),
    Extractor(name="plain", extract=plain.extract),
    Extractor(name="prose", extract=prose.extract),
]
"""All extractors in the order in which they are tried; the last one takes any text."""


def extract(raw: RawError) -> Facts:
    """
    Return the facts of a raw error. Never raises, whatever the input.
    """
    if raw.exception is not None:
        return live.extract(raw.exception)
    return extract_text(read_text(raw))


def extract_text(text: Text) -> Facts:
    """
    Return what the first extractor finds that recognises `text`.
    """
    for extractor in EXTRACTORS:
        facts = extractor.extract(text) if extractor.may_apply(text.body) else None
        if facts is not None:
            return facts
    return prose.extract(text)
