"""
Errors that successes print: for each of them, what would have been read is what is read.

A program that ends with 0 may print the log of what it has mended, the file of errors that it was asked for, or the
tests that have to fail. Each text of the corpus stands for one of these.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Final

from tests.extract.corpus import CORPUS, RECORDS

OPEN: Final = "open"
SAMPLED: Final = 20


def _read() -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for case in RECORDS:
        texts[case.format][case.id] = case.text
    cases = CORPUS / OPEN / "cases.jsonl"
    for line in cases.read_text(encoding="utf-8").splitlines() if cases.exists() else ():  # not beside a wheel
        row = json.loads(line)
        texts[OPEN][f"{OPEN}/{row['id']}"] = row["raw"]
    return dict(texts)


TEXTS: Final = _read()
"""What tools have said when they failed, by format and case."""

FORMATS: Final = sorted(TEXTS)

SAMPLE: Final = dict(next(iter(TEXTS[name].items())) for name in FORMATS[:: max(1, len(FORMATS) // SAMPLED)][:SAMPLED])
"""Texts of different formats, where each starts a program."""


def answer_with(text: str) -> str:
    """An answer that holds an error, and is not one itself, whoever reads it: nothing closes with it."""
    rows = "".join(f"shop {number} | {number * 7}\n" for number in range(80))
    return f"synchronising the orders of 80 shops\nof the second one the log says:\n{text}\n\n{rows}"
