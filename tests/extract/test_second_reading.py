"""What a second reader made of failures that the extractors' authors had not seen; the samples are self-written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options
from otel_errcompact.digest import DigestOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError

CASES = json.loads((Path(__file__).parent / "second_reading.json").read_text(encoding="utf-8"))


def key_of(text: str) -> str:
    """
    Return the key of a text's class.
    """
    return classify(RawError(text=text)).key


@pytest.mark.parametrize("name", CASES)
def test_facts(name: str):
    """Format, type, place and cause are those that a person reading the output wrote down."""
    case = CASES[name]
    facts = classify(RawError(text=case["text"])).facts
    assert (facts.format, facts.type, str(facts.location), facts.cause, facts.tally) == (
        case["format"],
        case["type"],
        case["location"],
        case["cause"],
        case["tally"],
    )


@pytest.mark.parametrize("name", CASES)
def test_digest(name: str):
    """The agent sees what it needs in no more characters than the raw error and its mark have."""
    case = CASES[name]
    options = Options(digest=DigestOptions(whole_tokens=0))
    digest = Ledger(options).observe("run", RawError(text=case["text"], tool="bash")).text
    assert [shown for shown in case["shown"] if shown not in digest] == []
    assert len(digest) <= len(case["text"]) + len(" #0123")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "same" in case])
def test_another_run_has_the_same_key(name: str):
    """Other folders, lines, ids, ports, times and durations do not make another class."""
    assert key_of(CASES[name]["same"]) == key_of(CASES[name]["text"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "other" in case])
def test_another_fault_has_another_key(name: str):
    """Another name, status, code, table, package or program is another class."""
    assert key_of(CASES[name]["other"]) != key_of(CASES[name]["text"])
