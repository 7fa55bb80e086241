"""Which formats a text may be of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_errcompact.extract.format import Listing
from otel_errcompact.extract.index import INDEX
from otel_errcompact.extract.prefilter import Prefilter
from otel_errcompact.extract.table import listings

CORPUS = Path(__file__).parents[2] / "corpus"


def names(found):
    return [listing.name for listing in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("", ["any"], id="no marker"),
        pytest.param("a FAIL", ["any"], id="half of a marker"),
        pytest.param("FAILED now", ["failed", "any"], id="one of two with a common part"),
        pytest.param("4 FAILURES: none FAILED", ["failed", "failures", "any"], id="in the order of the table"),
        pytest.param("no such cow", ["cow", "any"], id="a marker with nothing in common"),
    ],
)
def test_candidates(body, expected):
    """Those without markers, and those with one of theirs in the text."""
    rows = {"failed": ("FAILED",), "failures": ("FAILURES", "Failures"), "cow": ("cow",), "any": ()}
    prefilter = Prefilter([Listing(name=name, markers=markers) for name, markers in rows.items()], list(rows.values()))
    assert names(prefilter.candidates(body)) == expected


@pytest.mark.parametrize("folder", sorted(path.name for path in CORPUS.iterdir() if path.is_dir()))
def test_no_candidate_is_overlooked(folder):
    """What markers have in common leaves out none of those that a look for each marker finds."""
    prefilter = Prefilter(listings(), [row.markers for row in listings()])
    for path in (CORPUS / folder).glob("*.txt"):
        body = path.read_text(encoding="utf-8", errors="replace")
        plain = [row for row in listings() if not row.markers or any(marker in body for marker in row.markers)]
        assert names(prefilter.candidates(body)) == names(plain)


@pytest.mark.parametrize("row", [row for row in INDEX if row.clues], ids=lambda row: row.name)
def test_each_closing_statement_holds_a_clue(row):
    """What tells that a closing need not be looked for stands in each that real tools have printed."""
    said = re.compile(f"^(?:{'|'.join((*row.closings, *row.stacks))})[^\n]*(?:\n[^\n]*){{0,2}}", re.MULTILINE)
    for path in CORPUS.rglob("*.txt"):
        for found in said.finditer(path.read_text(encoding="utf-8", errors="replace")):
            assert any(clue in found[0] for clue in row.clues), found[0]
