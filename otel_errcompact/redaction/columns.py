"""Find secrets by the head of their column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.redaction.found import Found
from otel_errcompact.redaction.names import kind_of_name
from otel_errcompact.redaction.values import is_secret
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Generator, Iterable, Iterator

MAX_ROWS: Final = 200
"""Rows below a head that are looked at."""

MAX_HEAD: Final = 400
"""Characters of a head."""

_STEMS: Final = frozenset(["pass", "pw", "secret", "token", "key", "cred"])
_CELL: Final = lazy_pattern(r"[\w -]{0,30}[\"']?[ \t]{0,200}(?:[|,;\t]|\r?$)|[\w-]{0,30}  ")
"""The rest of a cell that holds a name, up to its end."""

_NAME: Final = lazy_pattern(r"(?:[A-Za-z_](?:[\w -]{0,30}\w)?)?")
_INSERT: Final = lazy_pattern(
    r"(?i)\b(?:into|replace)\s{1,3}[\w.`\"\[\]]{1,80}\s{0,3}\((?P<names>[^()\n]{1,600})\)\s{0,3}values?\s{0,3}"
)
_TUPLE: Final = lazy_pattern(r"\((?P<row>(?:[^()'\n]|'(?:[^'\n]|'')*+'|\([^()\n]{0,60}\)){1,2000}+)\)\s{0,3},?\s{0,3}")
_ITEM: Final = lazy_pattern(r"\s*(?:'(?:[^'\n]|'')*+'|\"[^\"\n]*+\"|[^,\n])*+")


def find_in_columns(text: str, lower: str, stems: Iterable[str]) -> Iterator[Found]:
    """
    Yield secrets from tables, CSV and rows of INSERT.

    Args:
        text: The text.
        lower: The same text in lower case, of equal length.
        stems: The stems of names that stand in it.
    """
    if "values" in lower:
        yield from _find_inserted(text)
    for stem in _STEMS.intersection(stems):
        at = lower.find(stem)
        while at >= 0:
            end = text.find("\n", at)
            if end < 0:
                break
            cell = _CELL.match(text, at + len(stem), end)
            if cell is not None:
                start = text.rfind("\n", max(0, at - MAX_HEAD), at) + 1
                above = text[text.rfind("\n", max(0, start - MAX_HEAD), max(0, start - 1)) + 1 : start]
                is_first = "|" not in above or text.count("|", start, end) != above.count("|")
                if end - start <= MAX_HEAD and is_first and (start or at < MAX_HEAD):
                    end = yield from _find_below(text, start, end)
            at = lower.find(stem, end if cell is not None else at + len(stem))


def _find_below(text: str, start: int, end: int) -> Generator[Found, None, int]:
    # What is returned is the end of what was looked at.
    head = text[start:end]
    sign = next((sign for sign in "|,\t;" if sign in head), _BLANKS)
    cells = _cells_of(head, sign)
    kinds = [kind_of_name(cell) for _, cell in cells]
    if any(kinds) and len(cells) > 1 and all(_NAME.fullmatch(cell) for _, cell in cells):
        return (yield from _find_rows(text, end + 1, sign, kinds))
    return end


_BLANKS: Final = "  "
"""What is between the columns of a table without rules."""


def _cells_of(line: str, sign: str) -> list[tuple[int, str]]:
    if sign == _BLANKS:
        return [(match.start(), match[0]) for match in _CELLS.finditer(line)]
    cells: list[tuple[int, str]] = []
    at = 0
    for cell in line.split(sign):
        content = cell.strip(" \t\"'\r")
        cells.append((at + cell.index(content), content))
        at += len(cell) + 1
    return cells


_CELLS: Final = lazy_pattern(r"\S+(?: \S+)*")


def _find_rows(text: str, at: int, sign: str, kinds: list[str]) -> Generator[Found, None, int]:
    for _ in range(MAX_ROWS):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        row = text[at:end]
        if not row.strip(" \t-+|=:"):
            if not row:
                break
        else:
            cells = _cells_of(row, sign)
            if len(cells) != len(kinds):
                break
            for kind, (place, value) in zip(kinds, cells, strict=True):
                if kind and is_secret(value, kind, quoted=True):
                    yield Found(at + place, at + place + len(value), kind)
        at = end + 1
        if at > len(text):
            break
    return min(at, len(text))


def _find_inserted(text: str) -> Iterator[Found]:
    for insert in _INSERT.finditer(text):
        kinds = [kind_of_name(name.strip(" \t`\"'[]")) for name in insert["names"].split(",")]
        if not any(kinds):
            continue
        at = insert.end()
        while row := _TUPLE.match(text, at):
            place = row.start("row")
            for kind in kinds:
                item = cast("re.Match[str]", _ITEM.match(text, place, row.end("row")))  # matches nothing, too
                value = item[0].strip(" \t'\"")
                if kind and is_secret(value, kind, quoted=True):
                    start = place + item[0].index(value)
                    yield Found(start, start + len(value), kind)
                place = item.end() + 1
                if place > row.end("row"):
                    break
            at = row.end()
