"""Columns of places, for readers."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    import re

    from otel_errcompact.errors import Facts

MAX_PLACES: Final = 64
"""Occurrences of one place that are compared."""

_COMPARED: Final = 24
"""Characters of a message that tell which of several findings in a line it is."""

_COLUMN: Final = lazy_pattern(r"([0-9]{1,5})(?![0-9])(.{0,200})")
_MORE_OF_PLACE: Final = lazy_pattern(r":?[0-9]")
_PLACE: Final = lazy_pattern(r"([^\s:/\\\"'(]{1,120}\.\w{1,12}):([0-9]{1,7})(?![0-9]|:[0-9])")
_END_OF_PLACE: Final = lazy_pattern(r"\.\w{1,12}:[0-9]")
_ROW: Final = r"[ \t]*(?:[A-Z]{1,4}[0-9]{1,5}[ \t]+)?([0-9]{1,7}):([0-9]{1,5})(?![^ \t\n])(.{0,200})"
"""A finding below the name of its file."""

_FIRST_ROW: Final = lazy_pattern(_ROW)
_LATER_ROW: Final = lazy_pattern(r"\n" + _ROW)
"""One that begins with a newline is found ten times as fast as one with `^`."""

MAX_ROWS: Final = 65_536
"""Rows of a text that are read."""


def show_columns(facts: Facts, text: str) -> Facts:
    """
    Return the facts with the columns that the text prints.

    Of several columns of a line that one counts behind which the text says the same; where none does, or several do,
    the place stays as it is. So it does where the text prints the line without a column, and its only column behind
    other words.

    Args:
        facts: The facts of a failure.
        text: Its raw error.
    """
    location = facts.location
    printed = _PrintedColumns(facts, text)
    details = tuple([_add_columns(line, printed) for line in facts.details])
    column = None
    if location.line is not None and location.column is None:
        column = printed.find(location.file_name, str(location.line), facts.cause)
    if column is None and details == facts.details:
        return facts
    return replace(facts, location=replace(location, column=column), details=details)


def _add_columns(line: str, printed: _PrintedColumns) -> str:
    # Most details name no place.
    if ":" not in line or _END_OF_PLACE.search(line) is None:
        return line
    return _PLACE.sub(lambda found: _with_column(found, printed), line)


def _with_column(place: re.Match[str], printed: _PrintedColumns) -> str:
    said = place.string[place.end() :].lstrip(" :")
    column = printed.find(place[1], place[2], said)
    return place[0] if column is None else f"{place[0]}:{column}"


class _PrintedColumns:
    """
    Finds the columns that a text prints.

    Args:
        facts: Whose places are looked for.
        text: The text.
    """

    def __init__(self, facts: Facts, text: str) -> None:
        self._facts = facts
        self._text = text
        self._rows: dict[str, list[tuple[str, str]]] | None = None

    def find(self, file: str, line: str, said: str) -> int | None:
        """Return a place's column, unless none or several are printed."""
        text = self._text
        found = _list_columns(f"{file}:{line}:", text) or _list_columns(f"{file}({line},", text)
        if not found and file in text and f"{line}:" in text:
            found = self._list_rows(line)
        columns = {column for column, _ in found}
        if said and (len(columns) > 1 or (columns and _stands_without_column(f"{file}:{line}", text))):
            columns = {column for column, rest in found if said[:_COMPARED] in rest}
        return int(columns.pop()) if len(columns) == 1 else None

    def _list_rows(self, line: str) -> list[tuple[str, str]]:
        # Read once for all places: a huge text may have dozens.
        if self._rows is None:
            places = (place[2] for detail in self._facts.details for place in _PLACE.finditer(detail))
            self._rows = {wanted: [] for wanted in (*places, str(self._facts.location.line))}
            first = _FIRST_ROW.match(self._text)
            for row in islice(chain((first,) if first else (), _LATER_ROW.finditer(self._text)), MAX_ROWS):
                if row[1] in self._rows:
                    self._rows[row[1]].append((row[2], row[3]))
        return self._rows[line]


def _stands_without_column(place: str, text: str) -> bool:
    # Then the column that the text prints elsewhere may be that of another finding in the line.
    start = text.find(place)
    for _ in range(MAX_PLACES):
        if start < 0:
            return False
        end = start + len(place)
        if not _MORE_OF_PLACE.match(text, end):
            return True
        start = text.find(place, end)
    return False


def _list_columns(before: str, text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    start = 0
    for _ in range(MAX_PLACES):
        start = text.find(before, start)
        if start < 0:
            break
        start += len(before)
        column = _COLUMN.match(text, start)
        if column is not None:
            found.append((column[1], column[2]))
    return found
