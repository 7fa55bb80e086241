"""What counts as a failure: every case, and the half that is only counted."""

from __future__ import annotations

import pytest

from tests.detector.verdicts import MAX_FALSE, MIN_FOUND, Case, count, judge, read

CASES = read()


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_result_is_judged_by_program_role_and_form(case: Case) -> None:
    """As its row states, by the rule of its set; no failure is overlooked, and what is missed is known."""
    assert judge(case) == {}


def test_each_case_has_a_name_of_its_own() -> None:
    """A report that names it leads to one row."""
    assert len({case.id for case in CASES}) == len(CASES)


def test_families_are_found_that_no_rule_was_made_for() -> None:
    """The other half counts how far the rules reach; a rule made for one of its rows would spoil it."""
    found, false = count()
    assert found >= MIN_FOUND
    assert false <= MAX_FALSE
