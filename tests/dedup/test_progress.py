"""What is a step of one piece of work, and what fails as before."""

from __future__ import annotations

import pytest

import otel_errcompact as errcompact
from otel_errcompact.dedup.progress import has_moved
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import Facts


@pytest.mark.parametrize(
    ("kind", "before", "now", "moved"),
    [
        pytest.param("AssertionError", "assert 9.0 >= 12.5", "assert 11.0 >= 12.5", True, id="a score"),
        pytest.param("AssertionError", "expected 3 to equal 5", "expected 4 to equal 5", True, id="a count"),
        pytest.param(
            "AssertionFailedError", "expected: <10> but was: <-1>", "expected: <10> but was: <7>", True, id="JUnit"
        ),
        pytest.param("AssertionError", "assert 9.0 >= 12.5", "assert 9.0 >= 12.5", False, id="the same"),
        pytest.param("AssertionError", "assert 'a1f' == 'b'", "assert 'a2f' == 'b'", False, id="a name with a digit"),
        pytest.param("AssertionError", "at 0x7f10 is not None", "at 0x7f20 is not None", False, id="an address"),
        pytest.param("TimeoutError", "no answer in 30 s", "no answer in 60 s", False, id="no measure of the work"),
        pytest.param("KeyError", "17", "18", False, id="another key"),
    ],
)
def test_a_value_that_an_assertion_measures_moves(kind: str, before: str, now: str, moved: bool) -> None:
    """Nothing else does: other values vary from call to call without any work."""
    assert has_moved(Facts(type=kind, cause=before), Facts(type=kind, cause=now)) is moved


@pytest.mark.parametrize(("before", "now", "moved"), [(4, 3, True), (3, 3, False), (3, 4, False)])
def test_fewer_red_tests_are_a_step(before: int, now: int, moved: bool) -> None:
    """A suite of the same leading cause has moved where fewer of its tests fail."""
    suite = [Facts(type="ValueError", cause="bad id", members=members) for members in (before, now)]
    assert has_moved(*suite) is moved


@pytest.mark.parametrize(
    ("before", "now", "moved"),
    [("ab", "ac", True), ("ab", "ab", False), ("ab", "abc", False), ("abc", "ab", True), ("", "ab", False)],
)
def test_a_red_test_that_is_green_is_a_step(before: str, now: str, moved: bool) -> None:
    """Whichever others fail, and how many; one more that is red is none."""
    suite = [Facts(type="ValueError", cause="bad id", members=2, names=tuple(names)) for names in (before, now)]
    assert has_moved(*suite) is moved


@pytest.mark.parametrize(
    ("before", "now", "moved"),
    [
        pytest.param("AssertionError at f (a.py:5): 12.0 != 12.5", "AssertionError at f (a.py:5): 13.0 != 12.5", True),
        pytest.param("AssertionError at f (a.py:5): 12.0 != 12.5", "AssertionError at f (a.py:9): 12.0 != 12.5", False),
        pytest.param("TimeoutError at f (a.py:5): no answer in 3", "TimeoutError at f (a.py:5): no answer in 5", False),
        pytest.param("> assert f(1) == 2", "> assert f(2) == 2", False),
    ],
)
def test_a_value_that_another_test_measures_moves(before: str, now: str, moved: bool) -> None:
    """The leading cause stays, and the work goes on beside it; a place that shifts is no step."""
    suite = [Facts(type="AssertionError", cause="9 != 8", members=2, details=(line,)) for line in (before, now)]
    assert has_moved(*suite) is moved


def run_scores(*scores: str) -> list[tuple[int, int, bool, str]]:
    """Count, row, whether it escalated, and the last line of each failure of a run that edits between tests."""
    seen = []
    with errcompact.run(ledger=Ledger()) as run:
        for number, score in enumerate(scores):
            with run.tool("score", arguments={}) as call:
                call.fail(f"AssertionError: assert {score} >= 12.5")
            assert call.failure is not None
            seen.append(
                (
                    call.failure.count,
                    call.failure.streak,
                    call.failure.escalation is not None,
                    call.text.splitlines()[-1],
                )
            )
            with run.tool("edit_file", arguments={"number": number}) as edit:
                edit.result = "done"
    return seen


def test_a_score_that_rises_is_no_loop() -> None:
    """Each step begins a row, and is not told to try something else."""
    seen = run_scores("9.0", "11.0", "12.0", "12.4")
    assert [each[:3] for each in seen] == [(number, 1, False) for number in (1, 2, 3, 4)]
    assert not any("again" in line or "try something else" in line for *_, line in seen)


def test_a_score_that_stays_escalates() -> None:
    """As any failure that is met three times."""
    seen = run_scores("9.0", "9.0", "9.0")
    assert [each[:3] for each in seen] == [(1, 1, False), (2, 2, False), (3, 3, True)]
    assert "again (x2, 2 in a row" in seen[1][3]


def write_suite(*red: str) -> str:
    """What pytest prints of tests that all fail for one cause, each in a test of its own name."""
    lines = "\n".join(f"FAILED tests/test_cart.py::test_{name} - ValueError: bad id" for name in red)
    return f"{lines}\n{'=' * 20} {len(red)} failed, 2 passed in 0.12s {'=' * 20}\n"


def test_a_suite_that_turns_green_step_by_step_is_no_loop() -> None:
    """One class all along, and each step a new row; three equal runs in a row are three of one row."""
    steps = ["abcd", "bcd", "cd", "cd", "cd"]
    seen = []
    with errcompact.run(ledger=Ledger()) as run:
        for number, red in enumerate(steps):
            with run.tool("bash", arguments={"command": "pytest"}) as call:
                call.fail(write_suite(*red), exit_code=1)
            assert call.failure is not None
            seen.append((call.failure.found.key, call.failure.streak))
            with run.tool("edit_file", arguments={"number": number}) as edit:
                edit.result = "done"
    assert len({key for key, _ in seen}) == 1
    assert [row for _, row in seen] == [1, 1, 1, 2, 3]
