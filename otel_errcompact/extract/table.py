"""The table of formats: those that users install first, then the built-in ones, each loaded when it is first needed."""

from __future__ import annotations

import logging
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.errors import SHED, UNCLASSIFIED, Facts
from otel_errcompact.extract.format import Format, Listing, Text, split_names
from otel_errcompact.extract.index import COMMANDS, INDEX
from otel_errcompact.extract.prefilter import Prefilter
from otel_errcompact.runtime.entry_points import entry_points
from otel_errcompact.runtime.forks import FORKS_WAIT
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import EntryPoint

    from otel_errcompact.extract.command import Command

GROUP: Final = "otel_errcompact.formats"
"""The group of entry points by which packages add formats."""

LAST_RESORT: Final = INDEX[-1]
"""The format that takes any text."""

UNREAD: Final = frozenset({LAST_RESORT.name, "plain", "shell", UNCLASSIFIED, SHED})
"""Formats that take a line of any text, or none: they own none, and an agent reads the text itself."""

_PORTION: Final = 18
"""Formats whose markers are searched for at once; those behind the format that takes a text are never searched for."""

_START_OF_WORD: Final = lazy_pattern(r"[A-Za-z0-9]|\[[A-Za-z0-9]+\]")
_logger = logging.getLogger("otel_errcompact")


@cache
def listings() -> tuple[Listing, ...]:
    """Return all formats in the order in which they are tried."""
    with FORKS_WAIT:
        return (*_load_installed(), *INDEX)


@cache
def names_of(trait: Literal["judges_code", "is_of_service", "reads_all"]) -> frozenset[str]:
    """Return the names of the formats of which something holds."""
    return frozenset(listing.name for listing in listings() if getattr(listing, trait))


@cache
def rejections() -> frozenset[tuple[str, str]]:
    """Return the types of rejected calls, each behind its format."""
    return frozenset((listing.name, kind) for listing in listings() for kind in listing.rejects)


@cache
def patterns_of(trait: Literal["margins", "notes", "rejects"]) -> str:
    """Return the patterns of all formats for some lines as one."""
    return "|".join(each for row in listings() for each in getattr(row, trait) if trait != "rejects" or " " in each)


@cache
def commands() -> Mapping[str, Command]:
    """Return what is known of programs by their names, also with subcommands."""
    installed = (row for listing in listings() if isinstance(listing, Format) for row in listing.commands)
    return {name: row for row in (*COMMANDS, *installed) for name in split_names(row.names)}


@cache
def speakers(*, unread: bool = False) -> frozenset[str]:
    """Return names before errors; `unread`: all those of programs without a format."""
    said = (row.speaks.partition(",") for row in commands().values() if row.prints == "" or not unread)
    return frozenset(name for sure, _, others in said for name in f"{sure} {others if unread else ''}".split())


@cache
def prefilters() -> tuple[Prefilter[Listing], ...]:
    """Return what tells which formats a text may be of, a portion of the table each."""
    rows = listings()
    portions = (rows[start : start + _PORTION] for start in range(0, len(rows), _PORTION))
    return tuple(Prefilter(portion, [row.markers for row in portion]) for portion in portions)


def load(listing: Listing) -> Format:
    """Return the format of a row of the table; a built-in one is imported at the first call."""
    return listing if isinstance(listing, Format) else _built_in(listing.name)


@cache
def _built_in(name: str) -> Format:
    with FORKS_WAIT:
        found: Format = import_module(f"otel_errcompact.tools.{name}").FORMAT
    return found


# --- formats of users ------------------------------------------------------------------------------------------------


def _load_installed() -> Iterator[Format]:
    # Yield the formats of other packages, sorted by name; a faulty one is left out with a warning.
    names = {row.name for row in INDEX}
    for point in sorted(entry_points(GROUP), key=lambda point: (point.name, point.value)):
        found = _format_of(point, names)
        if found is not None:
            names.add(found.name)
            yield found


def _format_of(point: EntryPoint, names: set[str]) -> Format | None:
    try:
        return _check_format(point.load(), names)
    except Exception as error:  # noqa: BLE001 - the code of other packages may raise anything
        _logger.warning("the format %s (%s) is left out: %r", point.name, point.value, error)
        return None


def _check_format(found: object, names: set[str]) -> Format:
    if not isinstance(found, Format):
        raise TypeError(f"not a Format: {found!r}")
    if found.name in names:
        raise ValueError(f"there is a format {found.name} already")
    of_hints = [sign for hint in found.hints for sign in hint.signs]
    if not all(map(_START_OF_WORD.match, of_hints)):
        raise ValueError("a sign of a hint begins with a letter, a digit or a class such as [Rr]")
    if any(
        re.compile(pattern).groups
        for pattern in (*found.closings, *found.passes, *found.stacks, *found.margins, *found.notes, *of_hints)
    ):
        raise ValueError("a pattern has a group; write (?:...)")
    return replace(found, read=_Guarded(found))


class _Guarded:
    """The reader of a format of users: it takes no text any more once it was found to be faulty."""

    def __init__(self, of: Format) -> None:
        self._format = of
        self._is_faulty = False

    def __call__(self, text: Text) -> Facts | None:
        if self._is_faulty:
            return None
        try:
            return _check_facts(self._format.read(text))
        except Exception as error:
            self._is_faulty = True
            _logger.warning("the format %s is not used any more", self._format.name, exc_info=error)
            return None


def _check_facts(found: object) -> Facts | None:
    if found is None or isinstance(found, Facts):
        return found
    raise TypeError(f"not Facts: {found!r}")
