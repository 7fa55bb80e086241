from __future__ import annotations

import pytest

from benchmarks.cost.guard import GUARDED, Count, compare, read_baseline

pytestmark = pytest.mark.meta

KNOWN = Count(spans=4.0, calls={"otel_errcompact/boundary/call.py:_open": 1.0, "json/encoder.py:encode": 2.0})


def found(spans: float, **calls: float) -> Count:
    """What a path takes now, with calls of functions in one file."""
    named = {f"otel_errcompact/boundary/call.py:{name}": number for name, number in calls.items()}
    return Count(spans=spans, calls={**KNOWN.calls, **named})


def test_a_path_may_move_by_a_tenth() -> None:
    """Another build of Python moves counts by some percent."""
    assert compare("call", KNOWN, found(4.39)) == []
    assert compare("call", KNOWN, found(3.61)) == []


def test_growth_names_the_functions_that_are_called_more_often() -> None:
    """The one that is called most is first."""
    assert compare("call", KNOWN, found(4.5, _open=2.0, _close=3.0)) == [
        "call: 12% more, 4.50 spans for 4.00; more calls in a turn:",
        "    +3.0 calls of otel_errcompact/boundary/call.py:_close",
        "    +1.0 calls of otel_errcompact/boundary/call.py:_open",
    ]


def test_growth_without_more_calls_says_so() -> None:
    """A pattern that takes longer is called as often as before."""
    assert compare("call", KNOWN, found(4.5))[1:] == ["    none: a function or a pattern takes more by itself"]


def test_a_gain_is_to_be_written_down() -> None:
    """Otherwise the next growth would hide behind it."""
    assert compare("call", KNOWN, found(3.0)) == ["call: 25% less, 3.00 spans for 4.00; keep it with --write"]


def test_a_path_without_a_baseline_fails() -> None:
    """A new path is measured before it lands."""
    assert compare("call", None, found(4.0)) == ["call: not in the baseline; write it with --write"]


def test_the_baseline_holds_the_guarded_paths_and_no_other() -> None:
    """A path that was renamed leaves nothing behind."""
    assert set(read_baseline().paths) == set(GUARDED)
    assert len(GUARDED) >= 8
