"""What tools say, as `make corpus` recorded it or a second reader wrote it, and what must be found in it."""

from __future__ import annotations

import pytest

from tests.extract.corpus import (
    CASES,
    CORPUS,
    LEAST,
    RECORDS,
    Case,
    share_of_open,
    wrong_digest,
    wrong_facts,
    wrong_whole,
)

each_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


@each_case
def test_facts(case: Case) -> None:
    """Type, location, cause and members are those that a person reading the output wrote down."""
    assert wrong_facts(case) == []


@each_case
def test_digest(case: Case) -> None:
    """The agent sees every string that is needed to mend it, in little more characters than the raw error has."""
    assert wrong_digest(case) == []


@each_case
def test_a_short_error_stays_whole(case: Case) -> None:
    """Up to a hundred tokens the agent reads what the tool has written, and the mark of the class."""
    assert wrong_whole(case) == []


def test_every_record_has_expected_facts() -> None:
    """A record that nobody has read proves nothing, and neither do facts without a record."""
    assert {f"{path.parent.name}/{path.stem}" for path in CORPUS.glob("*/*.txt")} == {case.id for case in RECORDS}
    assert all(case.shown for case in RECORDS)


@pytest.mark.parametrize("name", LEAST)
def test_most_of_the_open_cases_is_right(name: str) -> None:
    """Rules are tuned on them: what is reached once must not be lost."""
    assert share_of_open(name) >= LEAST[name]
