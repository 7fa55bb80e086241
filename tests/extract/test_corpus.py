"""What real tools say, as `make corpus` recorded it, and the facts that must be found in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError

CORPUS = Path(__file__).parents[2] / "corpus"
EXPECTED = {
    f"{path.parent.name}/{name}": expected
    for path in sorted(CORPUS.glob("*/expected.json"))
    for name, expected in json.loads(path.read_text(encoding="utf-8")).items()
}


def _observe(case: str):
    text = (CORPUS / f"{case}.txt").read_text(encoding="utf-8")
    return text, Ledger(Options()).observe("run", RawError(text=text, tool="bash"))


@pytest.mark.parametrize("case", EXPECTED)
def test_facts(case):
    """Type, location, cause and members are those that a person reading the output wrote down."""
    expected = EXPECTED[case]
    facts = _observe(case)[1].found.facts
    assert (facts.format, facts.type, str(facts.location), facts.cause) == (
        case.partition("/")[0],
        expected["type"],
        expected["location"],
        expected["cause"],
    )
    assert (facts.members, facts.tally) == (expected.get("members", 1), expected.get("tally", ""))


@pytest.mark.parametrize("case", EXPECTED)
def test_digest(case):
    """The agent sees every string that is needed to mend it, in no more characters than the raw error has."""
    text, observation = _observe(case)
    assert [shown for shown in EXPECTED[case]["shown"] if shown not in observation.text] == []
    assert len(observation.text) <= len(text)


def test_every_record_has_expected_facts():
    """A record that nobody has read proves nothing, and neither do facts without a record."""
    recorded = {f"{path.parent.name}/{path.stem}" for path in CORPUS.glob("*/*.txt")}
    assert recorded == set(EXPECTED)
    assert all(expected["shown"] for expected in EXPECTED.values())
