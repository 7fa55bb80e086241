"""What became of identical calls."""

from __future__ import annotations

from otel_errcompact_lab.html_report.steps import Repeats
from otel_errcompact_lab.html_report.time_line import RepeatedCalls


def test_failures_and_refusals_of_a_call_are_told_apart() -> None:
    """Those of another call are not among them."""
    calls = RepeatedCalls()
    calls.fail("other")
    for _ in range(2):
        calls.fail("query")
    assert calls.divide(2) == Repeats(failed=2, refused=0)
    calls.refuse("query")
    assert calls.divide(3) == Repeats(failed=2, refused=1)


def test_a_success_ends_it() -> None:
    """What comes after it begins again."""
    calls = RepeatedCalls()
    calls.refuse("query")
    calls.clear()
    calls.fail("query")
    calls.refuse("query")
    assert calls.divide(2) == Repeats(failed=1, refused=1)


def test_where_the_sum_is_another_nothing_is_claimed() -> None:
    """Two refusals of one turn are one attempt."""
    calls = RepeatedCalls()
    calls.fail("query")
    calls.refuse("query")
    calls.refuse("query")
    assert calls.divide(2) is None
