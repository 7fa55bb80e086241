"""The part of a run after each of its calls."""

from __future__ import annotations

from otel_errcompact_lab.analysis.stops import Turns
from packages.lab.tests.analysis.records import failing, healthy, run


def test_what_comes_after_a_call() -> None:
    """The calls, and the tokens by which the context grows: those of the answer at the end too."""
    turns = Turns(run(healthy(), healthy(), answer="Three."))
    assert [tuple(turns.after(call)) for call in (1, 2)] == [(1, 3 + 2), (0, 2)]


def test_calls_made_at_once_are_of_one_turn() -> None:
    """A stop lets them all run to their end."""
    turns = Turns(run((failing(), failing(), healthy()), healthy()))
    assert [turns.after(call).calls for call in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_after_the_last_result_there_is_nothing() -> None:
    """Where the record ends with it."""
    assert tuple(Turns(run(healthy())).after(1)) == (0, 0)
