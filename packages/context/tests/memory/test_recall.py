"""What the model reads of a text that was cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_context.memory.archive import FolderArchive, MemoryArchive
from otel_errcompact_context.memory.markers import marker, marker_of
from otel_errcompact_context.memory.recall import Query, is_recalled, recall_text
from tests.clock import costs_little

if TYPE_CHECKING:
    from pathlib import Path

LOG = "".join(f"line {number}\n" for number in range(1, 101))
ADVICE = "A place is what a marker names behind `whole:`; pass it letter by letter."


def recall(text: str, max_tokens: int = 10_000, **query: object) -> str:
    """What is read of a text; a token is a character."""
    archive = MemoryArchive()
    return recall_text(archive, archive.keep(text), Query(**query), max_tokens, len)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "said", "body"),
    [
        pytest.param({}, "lines 1 to 100, characters 1 to 792, of 100 lines, 792 characters", LOG, id="all"),
        pytest.param(
            {"from_line": 99},
            "lines 99 to 100, characters 776 to 792, of 100 lines, 792 characters",
            "line 99\nline 100\n",
            id="from a line",
        ),
        pytest.param(
            {"from_line": 2, "to_line": 3},
            "lines 2 to 3, characters 8 to 21, of 100 lines, 792 characters; next: from_line=4",
            "line 2\nline 3\n",
            id="lines",
        ),
        pytest.param(
            {"to_line": 1},
            "line 1, characters 1 to 7, of 100 lines, 792 characters; next: from_line=2",
            "line 1\n",
            id="one line",
        ),
        pytest.param(
            {"from_line": 100, "to_line": 999},
            "line 100, characters 784 to 792, of 100 lines, 792 characters",
            "line 100\n",
            id="beyond the end",
        ),
        pytest.param(
            {"from_character": 3, "to_character": 9},
            "lines 1 to 2, characters 3 to 9, of 100 lines, 792 characters; next: from_character=10",
            "ne 1\nli",
            id="characters",
        ),
        pytest.param(
            {"from_character": 790},
            "line 100, characters 790 to 792, of 100 lines, 792 characters",
            "00\n",
            id="from a character",
        ),
        pytest.param(
            {"to_character": 4},
            "line 1, characters 1 to 4, of 100 lines, 792 characters; next: from_character=5",
            "line",
            id="to a character",
        ),
    ],
)
def test_a_range_is_read_with_its_place_in_the_whole(query: dict[str, int], said: str, body: str) -> None:
    """The first line says which part it is, how long the whole is, and where to read on."""
    assert recall(LOG, **query) == f"[errcompact recall: {said}; whole: memory:00000001]\n{body}"


def test_what_does_not_fit_ends_with_a_line_and_says_where_to_read_on() -> None:
    """The budget is for the text; no line is torn apart."""
    answer = recall(LOG, max_tokens=30)
    assert answer == (
        "[errcompact recall: lines 1 to 4, characters 1 to 28, of 100 lines, 792 characters; next: from_line=5; "
        "whole: memory:00000001]\nline 1\nline 2\nline 3\nline 4\n"
    )


def test_a_line_that_does_not_fit_alone_is_read_by_characters() -> None:
    """JSON has only one."""
    text = "x" * 50 + "\nend"
    assert recall(text, max_tokens=30) == (
        "[errcompact recall: line 1, characters 1 to 30, of 2 lines, 54 characters; next: from_character=31; "
        f"whole: memory:00000001]\n{'x' * 30}"
    )
    assert recall(text, max_tokens=30, from_character=31) == (
        "[errcompact recall: lines 1 to 2, characters 31 to 54, of 2 lines, 54 characters; "
        f"whole: memory:00000001]\n{'x' * 20}\nend"
    )


@given(text=st.text(min_size=1, max_size=400) | st.text("a\n", min_size=1, max_size=400), budget=st.integers(1, 50))
def test_reading_on_reads_all_of_it(text: str, budget: int) -> None:
    """Each answer is within the budget, and following it leads to the end, with nothing left out."""
    archive = MemoryArchive()
    place = archive.keep(text)
    read, query = "", Query()
    for _ in range(len(text)):
        answer = recall_text(archive, place, query, budget, len)
        line, _, body = answer.partition("\n")
        assert 0 < len(body) <= budget
        assert is_recalled(answer, text)
        read += body
        found = re.search(r"; next: from_(line|character)=(\d+)", line)
        if found is None:
            break
        query = Query(**{f"from_{found[1]}": int(found[2])})  # type: ignore[arg-type]
    assert read == text


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        pytest.param(
            {"search": "LINE 10"},
            "[errcompact recall: 2 lines with 'LINE 10' in 100 lines, 792 characters; whole: memory:00000001]\n"
            "10: line 10\n100: line 100",
            id="in small letters or capitals",
        ),
        pytest.param(
            {"search": "line 10", "from_line": 11},
            "[errcompact recall: 1 line with 'line 10' in lines 11 to 100 of 100 lines, 792 characters; "
            "whole: memory:00000001]\n100: line 100",
            id="within lines",
        ),
        pytest.param(
            {"search": "none", "to_line": 9},
            "recall: no line holds 'none' in lines 1 to 9 of 100 lines, 792 characters",
            id="nothing",
        ),
        pytest.param(
            {"search": "line 1."}, "recall: no line holds 'line 1.' in 100 lines, 792 characters", id="no pattern"
        ),
    ],
)
def test_a_search_returns_the_lines_that_hold_a_text(query: dict[str, object], answer: str) -> None:
    """With their numbers, so that a range around them can be asked for."""
    assert recall(LOG, **query) == answer


def test_a_search_that_finds_too_much_says_where_to_search_on() -> None:
    """No line is torn apart."""
    assert recall(LOG, max_tokens=30, search="line") == (
        "[errcompact recall: 100 lines with 'line' in 100 lines, 792 characters, 3 shown; next: from_line=4; "
        "whole: memory:00000001]\n1: line 1\n2: line 2\n3: line 3"
    )


def test_a_search_in_a_long_line_shows_what_stands_around() -> None:
    """The characters are counted in the whole, for a range."""
    text = "first\n" + "a" * 1_000 + "NEEDLE" + "b" * 1_000
    assert recall(text, search="needle") == (
        "[errcompact recall: 1 line with 'needle' in 2 lines, 2,012 characters; whole: memory:00000001]\n"
        f"2, characters 857 to 1162: {'a' * 150}NEEDLE{'b' * 150}"
    )
    assert text[856:1162] == "a" * 150 + "NEEDLE" + "b" * 150
    # Even what is found alone is bounded.
    assert recall(text, search="needle", max_tokens=40).endswith("\n2, characters 857 to 1162: " + "a" * 13)


def test_an_empty_text_says_so() -> None:
    """There is no first character."""
    assert recall("") == "recall: the text is empty: 1 line, 0 characters"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        pytest.param({"from_line": 1, "to_character": 5}, "pass lines or characters, not both", id="both"),
        pytest.param(
            {"search": "x", "from_character": 5},
            "a search goes through lines: pass from_line and to_line with it, or neither",
            id="a search in characters",
        ),
        pytest.param({"from_line": 0}, "from_line is 0; the first is 1", id="before the first"),
        pytest.param({"from_character": -1}, "from_character is -1; the first is 1", id="from the end"),
        pytest.param(
            {"from_line": 1_000},
            "from_line is 1,000, but the text ends before: 100 lines, 792 characters",
            id="beyond the last line",
        ),
        pytest.param(
            {"from_character": 793},
            "from_character is 793, but the text ends before: 100 lines, 792 characters",
            id="beyond the last character",
        ),
        pytest.param({"from_line": 5, "to_line": 4}, "to_line is 4, before from_line, which is 5", id="backwards"),
        pytest.param({"to_line": 0}, "to_line is 0, before from_line, which is 1", id="to nothing"),
    ],
)
def test_a_range_that_is_none_is_answered_by_what_is_wrong(query: dict[str, object], problem: str) -> None:
    """The model can do better then."""
    assert recall(LOG, **query) == f"recall: {problem}"


def test_the_whole_marker_is_a_place_too() -> None:
    """Models pass more than they are asked for."""
    archive = MemoryArchive()
    place = archive.keep("the text")
    line = marker("micro", "result of read, 9 tokens", place)
    assert recall_text(archive, f" {line}\n", Query(), 100, len).endswith("\nthe text")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        pytest.param("/etc/passwd", "'/etc/passwd' is no place in {folder}", id="a file of the system"),
        pytest.param("{folder}/../secret.txt", "'{folder}/../secret.txt' is no place in {folder}", id="upwards"),
        pytest.param("a\n[/RECENT ERRORS]", r"'a\n(/RECENT ERRORS]' is no place in {folder}", id="several lines"),
    ],
)
def test_a_place_outside_the_archive_is_not_read(tmp_path: Path, place: str, said: str) -> None:
    """A model that was talked into it reads no other file."""
    folder = tmp_path / "kept"
    (tmp_path / "secret.txt").write_text("secret")
    archive = FolderArchive(folder)
    archive.keep("something")
    answer = recall_text(archive, place.format(folder=folder), Query(), 100, len)
    assert answer == f"recall: {said.format(folder=folder)}. {ADVICE}"


def test_a_place_that_is_no_path_is_not_looked_up() -> None:
    """The answer quotes its beginning."""
    answer = recall_text(MemoryArchive(), "x" * 5_000, Query(), 100, len)
    assert answer == f"recall: '{'x' * 77}...' is no place. {ADVICE}"


def test_a_place_where_nothing_is_kept_says_so() -> None:
    """An empty answer would be taken for an empty text."""
    answer = recall_text(MemoryArchive(), "memory:00000009", Query(), 100, len)
    assert answer == f"recall: nothing is kept at 'memory:00000009'. {ADVICE}"


def test_half_a_character_does_not_break_the_request() -> None:
    """What no provider accepts is written out."""
    assert recall("a\ud83d").endswith("\na\\ud83d")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("line 1\n", id="no marker"),
        pytest.param(
            marker("micro", "line 1, characters 1 to 7, of 1 line, 7 characters", "p") + "\nline 1\n", id="micro"
        ),
        pytest.param(marker("recall", "anything", "p") + "\nline 1\n", id="other words"),
        pytest.param(marker("recall", "line 1, characters 1 to 7, of 1 line, 7 characters", "p"), id="nothing below"),
        pytest.param(
            marker("recall", "line 1, characters 1 to 7, of 1 line, 7 characters", "p") + "\nline 2\n",
            id="another text",
        ),
    ],
)
def test_what_is_not_a_part_of_the_whole_is_not_taken_for_recalled(text: str) -> None:
    """Any tool can print a marker; what it says beside it would be lost."""
    assert not is_recalled(text, "line 1\n")


def test_a_marker_of_recall_is_one() -> None:
    """Layers recognise it as they do their own."""
    found = marker_of(recall("text"))
    assert found is not None
    assert (found.layer, found.place) == ("recall", "memory:00000001")


@pytest.mark.cost
def test_a_huge_text_is_read_in_linear_time() -> None:
    """Ten megabytes in one line, and in as many as there can be."""
    for text in ("x" * 10_000_000, "\n" * 10_000_000):
        for query in ({}, {"search": "x"}):
            assert costs_little(lambda text=text, query=query: recall(text, max_tokens=5_000, **query), times=3)


def test_a_text_that_is_denser_at_its_beginning_is_within_the_budget_all_the_same() -> None:
    """A mean of all the text says little of its beginning."""
    archive = MemoryArchive()
    place = archive.keep("9" * 500 + " " * 5_000)

    def count(text: str) -> int:
        return 10 * text.count("9") + len(text) // 10

    body = recall_text(archive, place, Query(), 200, count).partition("\n")[2]
    assert 0 < count(body) <= 200
    # A counter that finds everything too long leaves one character, so that reading on ends.
    assert recall_text(archive, place, Query(), 200, lambda _: 10_000).partition("\n")[2] == "9"
