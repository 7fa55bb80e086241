"""The open cases: errors of many programs, on which rules are tuned; what is reached once must not be lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError

FOLDER = Path(__file__).parents[2] / "corpus" / "open"

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


CASES = {row["id"]: row for row in rows("cases")}


def key(text: str) -> str:
    return classify(RawError(text=text, tool="bash")).key


def test_digests_keep_the_strings_that_a_reader_needs() -> None:
    """Of all kinds together at least 94 in 100, word for word."""
    kept = wanted = 0
    for row in CASES.values():
        error = RawError(text=row["raw"], tool=row["tool"], exit_code=row["exit_code"])
        text = Ledger(Options()).observe("run", error).text
        kept += sum(string in text for string in row["must"])
        wanted += len(row["must"])
    assert kept >= 0.94 * wanted


@pytest.mark.parametrize(("same", "least"), [(True, 0.97), (False, 0.87)], ids=["twins", "siblings"])
def test_keys_tell_causes_apart_and_nothing_else(same: bool, least: float) -> None:
    """Other ids, times and noise make no other class; one other word of the cause does."""
    pairs = [row for row in rows("siblings") if row["same"] == same]
    right = sum((key(row["raw"]) == key(CASES[row["case"]]["raw"])) == same for row in pairs)
    assert right >= least * len(pairs)
