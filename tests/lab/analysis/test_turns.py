"""The model calls that a record of tool calls implies."""

from __future__ import annotations

from otel_errcompact.lab.analysis.turns import Turns
from tests.lab.analysis.records import failing, healthy, run


def test_every_call_that_follows_an_answer_is_a_model_call() -> None:
    """Each reads all that came before; the answer at the end was a model call too."""
    turns = Turns(run(healthy(), healthy(), answer="Three."))
    # The first reads the task, the second one call and its result more, and so does the third.
    assert (turns.count, turns.input_tokens) == (3, 10 + 13 + 16)
    assert [tuple(turns.after(call)) for call in (1, 2)] == [(1, 3 + 2, 13 + 16), (0, 2, 16)]
    assert [turns.later(call) for call in (1, 2)] == [2, 1]


def test_calls_made_at_once_are_of_one_model_call() -> None:
    """A stop lets them all run to their end."""
    turns = Turns(run((failing(), failing(), healthy()), healthy()))
    assert turns.count == 2
    assert [turns.after(call).calls for call in (1, 2, 3, 4)] == [1, 1, 1, 0]
    # The task was said before the first; of the two other requests of its turn a reader cannot tell.
    assert turns.input_tokens == 12 + (10 + 3 + 9 + 9 + 2)


def test_a_run_that_ends_with_a_result_has_no_answer() -> None:
    """No model call is made up."""
    turns = Turns(run(healthy()))
    assert (turns.count, turns.input_tokens) == (1, 10)
    assert tuple(turns.after(1)) == (0, 0, 0)


def test_a_run_without_calls_has_read_nothing() -> None:
    """That the record tells of."""
    turns = Turns(run(answer="I cannot."))
    assert (turns.count, turns.input_tokens) == (1, 0)
