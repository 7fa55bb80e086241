"""Corners of readers: what rarely stands in an output, and must not lead to a wrong fact."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.findings.listing import read_findings
from otel_errcompact.extract.findings.wording import read_wording
from otel_errcompact.extract.testing.blocks import read_block
from otel_errcompact.extract.testing.headings import find_headings
from tests.extract.reading import facts, facts_alone


@pytest.mark.parametrize(
    ("said", "is_row", "expected"),
    [
        ("error: error: error: error: error: error: error: no x", False, ("error", "", "error: no x")),
        ("error no such table", True, ("error", "", "no such table")),
        ("no such table [E501] [error]", False, ("error", "E501", "no such table")),
    ],
)
def test_the_wording_of_a_finding(said: str, is_row: bool, expected: tuple[str, str, str]) -> None:
    """Severity and code stand before or behind a message, in any order; a bounded number of them is taken off."""
    assert read_wording(said, is_row=is_row) == expected


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Error executing tool pay: KeyError('sku')", "pay: sku"),
        (
            "Error: ToolException('Error executing tool pay: KeyError(1)')\n Please fix your mistakes.",
            "pay: KeyError(1)",
        ),
        ("Error executing tool pay: ToolException('Error executing tool card: no card')", "card: no card"),
    ],
)
def test_an_exception_that_a_framework_hands_on_as_its_representation(text: str, cause: str) -> None:
    """The innermost tool and message count."""
    found = facts_alone("harness")(text)
    assert found is not None
    assert found.cause == cause


def test_a_frame_behind_one_word_is_no_finding() -> None:
    """Nothing is said of the place but the function around it."""
    assert read_findings(["see src/a.py:12:3, in load"]) == []


def test_rows_of_an_excerpt_are_no_findings() -> None:
    """Lines of a file with a bar behind their number are its source."""
    assert facts_alone("findings")("cart.tpl:\n  3 | some text here\n  4 | another text\n") is None


def test_a_word_without_a_point_is_no_file_of_a_compiler() -> None:
    """`Makefile:3:5` may be a host and ports."""
    assert facts_alone("compilers")("relay:3:5: error: no route") is None


def test_findings_without_any_severity_are_those_of_the_first_kind() -> None:
    """Where no line is sure, none is a second place of another."""
    found = facts("a.py:3: no such rule\nb.py:4: missing table\n")
    assert (found.cause, str(found.location)) == ("no such rule", "a.py:3")


def test_notes_alone_are_findings_where_they_have_codes() -> None:
    """Compilers give no codes to notes; what has one is a warning under another name."""
    found = facts_alone("compilers")("a.py:3:5: note: old call [C4996]\na.py:4:5: note: bad [C4997]\n")
    assert found is not None
    assert (found.type, found.cause, found.details) == ("C4996", "old call", ("C4997 at a.py:4: bad",))


def test_what_mypy_expected_stands_in_one_line() -> None:
    """The heading of a note is joined with what it announces."""
    found = facts_alone("compilers")(
        'a.py:3: error: Signature of "f" incompatible with supertype "B"  [override]\n'
        "a.py:3: note:      Expected:\na.py:3: note:          def f(self) -> int\nFound 1 error in 1 file\n"
    )
    assert found is not None
    assert "note: Expected: def f(self) -> int" in found.details


def test_no_heading_of_a_test_without_a_file_or_a_name() -> None:
    """A place of something else, and a mark before numbers, name no test."""
    lines = ["relay:3: FAILED:", "\u2717 12 34"]
    assert [*find_headings(lines, "\n".join(lines))] == []


def test_the_message_of_a_failed_test_is_told_without_counts_and_labels() -> None:
    """Labels without values, counts of a diff and captured output say nothing of the failure."""
    found = read_block(
        "total",
        [
            "src/a.spec.x:3: Failure: no rate",
            "see src/b.x:9 too",
            "{ }",
            "- Expected  - 3",
            "expected:",
            "",
            "stdout:",
            "x",
        ],
    )
    assert (found.cause, found.location.line, found.details) == ("no rate", 3, ("see src/b.x:9 too",))


def test_a_finding_that_ends_with_its_output_is_whole() -> None:
    """The rows below it go on to the last line."""
    found = facts_alone("findings")("cart.tpl\n  3:1  error  bad name\n              of a column")
    assert found is not None
    assert found.cause == "bad name of a column"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["cart.tpl", "  3 | total rate here", "    ^ some words", "  5 | error no x"], [("no x", 5)]),
        (["error: no a", " --> x.c:3:1", "error: no b", " --> x.c:9:1"], [("no a", 3), ("no b", 9)]),
        (["called by x.c:3: no rate", "error: no b at x.c:4"], [("no b", 4)]),
    ],
)
def test_findings_and_what_stands_between_them(lines: list[str], expected: list[tuple[str, int]]) -> None:
    """Words below carets without a severity, the finding before and frames of a stack are no findings."""
    assert [(found.said.message, found.location.line) for found in read_findings(lines)] == expected
