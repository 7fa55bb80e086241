"""Columns of places, taken from the raw error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.digest import columns
from otel_errcompact.digest.columns import MAX_PLACES, show_columns
from otel_errcompact.errors import Facts, Location

if TYPE_CHECKING:
    from collections.abc import Iterator


def facts_of(cause: str = "no member named b", *details: str, line: int | None = 3) -> Facts:
    return Facts(type="CompileError", location=Location(file="src/x.c", line=line), cause=cause, details=details)


@pytest.mark.parametrize(
    "text",
    [
        "src/x.c:3:37: error: no member named b",
        "/srv/app/src/x.c:3:37: error: no member named b",
        "src\\x.c(3,37): error C2039: no member named b",
        " --> x.c:3:37",
        "src/x.c\n  3:37  error  no member named b\n",
        "src/x.c\nE001 3:37 no member named b\n",
        "3:37 no member named b\nin src/x.c\n",
        "src/x.c:3:1: note: here\nsrc/x.c:3:37: error: no member named b",
        "src/x.c\n  3:1  error  another\n  3:37  error  no member named b\n",
    ],
)
def test_a_column_that_the_text_prints_is_shown(text: str) -> None:
    """Behind the place, in brackets, or in the rows below the name of the file."""
    assert str(show_columns(facts_of(), text).location) == "src/x.c:3:37"


@pytest.mark.parametrize(
    "text",
    [
        "no member named b",
        "src/x.c:3: error: no member named b",
        "src/x.c:13:37: error: no member named b",
        "src/x.c:3:37: one\nsrc/x.c:3:12: two",
        "src/x.c:3:37: no member named b\nsrc/x.c:3:12: no member named b",
        "at 12:03:37 src/x.c failed",
        "src/y.c\n  3:37  error  no member named b\n",
    ],
)
def test_no_column_is_guessed(text: str) -> None:
    """Without one, or with several for the same words, the place stays as it is."""
    facts = facts_of()
    assert show_columns(facts, text) is facts


def test_details_get_theirs() -> None:
    """Each by its own words, where a line has several findings."""
    text = "a.py:2:0: W1: Dangerous\na.py:2:10: W2: Unused\na.py:5:4: W3: Bare\nsrc/x.c:3:37: no member named b"
    facts = facts_of("no member named b", "W1 at a.py:2: Dangerous", "W2 at a.py:2: Unused", "a.py:5", "no place")
    shown = show_columns(facts, text)
    assert shown.details == ("W1 at a.py:2:0: Dangerous", "W2 at a.py:2:10: Unused", "a.py:5:4", "no place")


def test_the_column_of_another_finding_is_not_taken() -> None:
    """Where the text prints the line without a column, the only column counts for the words behind it."""
    text = "loop: Prefer a list\nsrc/x.c:3 in main\nnaming: Use snake case\nsrc/x.c:3:9 Total"
    facts = facts_of("Prefer a list")
    assert show_columns(facts, text) is facts
    assert str(show_columns(facts_of("Total"), text).location) == "src/x.c:3:9"


def test_only_the_first_places_are_compared() -> None:
    """A text that repeats a place with its column over and over is not searched to its end."""
    text = "src/x.c:3:9: one\n" * (MAX_PLACES + 1) + "src/x.c:3"
    assert str(show_columns(facts_of("two"), text).location) == "src/x.c:3:9"


def test_a_place_without_a_line_has_no_column() -> None:
    """A file alone stays a file."""
    facts = facts_of(line=None)
    assert show_columns(facts, "src/x.c:3:37: error") is facts


def test_a_hostile_text_is_looked_at_in_bounds() -> None:
    """Of a place that is repeated without end only the first ones count."""
    text = "x.c:3:37: a\n" * MAX_PLACES + "x.c:3:12: a\n"
    assert show_columns(facts_of(), text).location.column == 37


def test_rows_are_read_once_for_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures of many places in a huge text would otherwise cost a pass over it each."""
    passes = 0

    class Spied:
        def finditer(self, text: str) -> Iterator[re.Match[str]]:
            nonlocal passes
            passes += 1
            return later.finditer(text)

    later = columns._LATER_ROW
    monkeypatch.setattr(columns, "_LATER_ROW", Spied())
    text = "src/x.c\n" + "".join(f"  {line}:{line + 30} wrong {line}\n" for line in range(1, 9))
    details = tuple(f"src/x.c:{line} wrong {line}" for line in range(1, 9))
    shown = show_columns(facts_of("wrong 3", *details), text)
    assert shown.details == tuple(f"src/x.c:{line}:{line + 30} wrong {line}" for line in range(1, 9))
    assert (shown.location.column, passes) == (33, 1)


def test_rows_without_end_are_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row beyond it is not seen."""
    monkeypatch.setattr(columns, "MAX_ROWS", 3)
    text = "src/x.c\n" + "".join(f"  {line}:37 no member named b\n" for line in (1, 2, 3, 4))
    assert show_columns(facts_of(), text).location.column == 37
    assert show_columns(facts_of(line=4), text).location.column is None
