"""What runners have printed of tests that all passed is log."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.extraction import facts_of_text
from otel_errcompact.extract.format import Text
from otel_errcompact.extract.passed import strip_passed
from otel_errcompact.extract.table import listings

LOG = (
    "Traceback (most recent call last):\n"
    '  File "/srv/shop/cart.py", line 7, in total\n'
    "    return prices[name]\n"
    "KeyError: 'tea'\n"
)
"""What a test that expects the error has logged."""

COMPILER = "src/cart.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'."

TALLIES = {
    "bun": "bun test v1.1.3\n\n 4 pass\n 0 fail\n 9 expect() calls",
    "cargo": "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
    "exunit": "Finished in 0.1 seconds\n4 tests, 0 failures",
    "go": "PASS\nok  \texample.com/shop\t0.004s",
    "jest": "Test Suites: 1 passed, 1 total\nTests:       4 passed, 4 total",
    "mocha": "  4 passing (12ms)",
    "phpunit": "OK (4 tests, 9 assertions)",
    "pytest": "============================== 4 passed in 0.12s ===============================",
    "rspec": "Finished in 0.01 seconds\n4 examples, 0 failures",
    "unittest": "Ran 4 tests in 0.001s\n\nOK",
    "vitest": " Test Files  1 passed (1)\n      Tests  4 passed (4)",
}


def _first_of(text: str) -> tuple[str, str]:
    facts, _ = facts_of_text(Text(body=text))
    return facts.type, str(facts.location)


@pytest.mark.parametrize("tally", TALLIES.values(), ids=TALLIES)
def test_the_program_that_failed_after_the_tests_is_told(tally: str) -> None:
    """An error that passing tests have logged is no error of the command that goes on to compile."""
    assert _first_of(f"{LOG}{tally}\n$ tsc --noEmit\n{COMPILER}\n") == ("TS2322", "src/cart.ts:4")


@pytest.mark.parametrize("tally", TALLIES.values(), ids=TALLIES)
def test_what_failed_before_the_tests_is_told_with_what_it_said(tally: str) -> None:
    """Where the runner's word is the last, what it logged is not made the cause of a failure that nobody has read."""
    assert _first_of(f"{LOG}{tally}\n")[0] != "KeyError"


def test_a_tally_of_a_part_hides_no_failure_of_another() -> None:
    """The second of two suites has passed, the first has not."""
    red = "FAILED tests/test_a.py::test_one - AssertionError: assert 1 == 2\n=== 1 failed, 2 passed in 0.10s ===\n"
    green = "=== 4 passed in 0.12s ===\n"
    for text in (red + green, green + red, green + red + green):
        assert _first_of(text) == ("AssertionError", "test_one (tests/test_a.py)")


def test_a_text_without_a_tally_is_the_same_object() -> None:
    """Nothing is copied where no runner has spoken."""
    assert strip_passed(LOG) is LOG


@pytest.mark.parametrize("row", [row for row in listings() if row.passes], ids=lambda row: row.name)
def test_each_runner_that_says_so_is_known_by_a_clue(row) -> None:
    """Without one, its tallies would not be looked for."""
    assert row.clues_of_passes
