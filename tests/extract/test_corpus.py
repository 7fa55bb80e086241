"""What real tools say, as `make corpus` recorded it, and the facts that must be found in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_errcompact.config import Options
from otel_errcompact.digest import DigestOptions, plain_lines
from otel_errcompact.digest.untrusted import quoted_lines
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.redaction.redact import redact

MARK = len(" #0123")
"""What a digest adds to a raw error that stays whole."""

CORPUS = Path(__file__).parents[2] / "corpus"
EXPECTED = {
    f"{path.parent.name}/{name}": expected
    for path in sorted(CORPUS.glob("*/expected.json"))
    for name, expected in json.loads(path.read_text(encoding="utf-8")).items()
}


DIGESTS = DigestOptions(whole_tokens=0)
"""A digest of every error, of the short ones that stay whole too."""


def _observe(case: str, digest: DigestOptions = DIGESTS):
    text = (CORPUS / f"{case}.txt").read_text(encoding="utf-8")
    return text, Ledger(Options(digest=digest)).observe("run", RawError(text=text, tool="bash"))


@pytest.mark.parametrize("case", EXPECTED)
def test_facts(case):
    """Type, location, cause and members are those that a person reading the output wrote down."""
    expected = EXPECTED[case]
    facts = _observe(case)[1].found.facts
    assert (facts.format, facts.type, str(facts.location), facts.cause) == (
        expected.get("format", case.partition("/")[0]),
        expected["type"],
        expected["location"],
        expected["cause"],
    )
    assert (facts.members, facts.tally) == (expected.get("members", 1), expected.get("tally", ""))


@pytest.mark.parametrize("case", EXPECTED)
def test_digest(case):
    """The agent sees every string that is needed to mend it, in little more characters than the raw error has."""
    text, observation = _observe(case)
    assert [shown for shown in EXPECTED[case]["shown"] if shown not in observation.text] == []
    assert len(observation.text) <= len(redact(text)) + MARK


@pytest.mark.parametrize("case", EXPECTED)
def test_a_short_record_stays_whole(case):
    """Up to a hundred tokens the agent reads what the tool has written, and the mark of the class."""
    text, observation = _observe(case, DigestOptions())
    if observation.raw_tokens <= DigestOptions().whole_tokens:
        unmarked = observation.text.partition(f"#{observation.found.key[:4]}")[0]
        assert unmarked.strip() == redact(plain_lines(text)).strip()
    # A line that begins like one of ours has a mark of its own.
    assert len(observation.text) <= max(len(redact(text)), len(redact(quoted_lines(text)))) + MARK


def test_every_record_has_expected_facts():
    """A record that nobody has read proves nothing, and neither do facts without a record."""
    recorded = {f"{path.parent.name}/{path.stem}" for path in CORPUS.glob("*/*.txt")}
    assert recorded == set(EXPECTED)
    assert all(expected["shown"] for expected in EXPECTED.values())
