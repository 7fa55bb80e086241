"""Recorded tool calls become real spans with the times of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.trace import StatusCode

from packages.lab.tests.replay.records import DECLINED, REFUSED, SECOND, call, failing, healthy, run

if TYPE_CHECKING:
    from packages.lab.tests.replay.conftest import Play

TRACEBACK = """\
Traceback (most recent call last):
  File "app.py", line 3, in load
    raise KeyError("id")
KeyError: 'id'
"""


def test_a_failing_call_is_an_error_span_with_the_whole_text(play: Play) -> None:
    """The span has the times of the record, names tool, call, arguments and run, and its event holds the text."""
    recorded = call(
        "bash", TRACEBACK, failed=True, exit_code=1, arguments='{"command": "make"}', call_id="c1", start=5, end=7
    )
    span = play(run(recorded)).spans["execute_tool bash"]
    assert (span.start_time, span.end_time) == (5 * SECOND, 7 * SECOND)
    assert span.status.status_code is StatusCode.ERROR
    assert [(event.name, event.timestamp, event.attributes["exception.message"]) for event in span.events] == [
        ("exception", 7 * SECOND, TRACEBACK)
    ]
    attributes = dict(span.attributes)
    key = attributes.pop("errcompact.class")
    assert len(key) == 16
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"command": "make"}',
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": "run-1",
        "process.exit.code": 1,
    }


def test_the_agent_would_read_of_a_result_what_it_reads_at_a_boundary(play: Play) -> None:
    """A replayed result is extracted as the text it is: type and cause of the traceback in it."""
    (replayed,) = play(run(call("bash", TRACEBACK, failed=True))).runs
    (found,) = replayed.report.classes
    assert (found.tool, found.type, found.location, found.cause) == ("bash", "KeyError", "load (app.py:3)", "'id'")


def test_a_healthy_call_is_a_span_without_status_and_events(play: Play) -> None:
    """What succeeded needs no words."""
    span = play(run(healthy())).spans["execute_tool db.query"]
    assert span.status.status_code is StatusCode.UNSET
    assert span.events == ()


def test_all_calls_are_inside_the_span_of_the_run(play: Play) -> None:
    """The run's span lasts from the first request to the last answer."""
    played = play(run(call(start=4, end=9), call("bash", start=2, end=5)))
    outer = played.spans["invoke_agent shop"]
    assert (outer.start_time, outer.end_time) == (2 * SECOND, 9 * SECOND)
    assert outer.parent is None
    assert {span.parent.span_id for span in played.spans.values() if span.parent} == {outer.context.span_id}


def test_replayed_calls_are_not_of_our_boundaries_scope(play: Play) -> None:
    """The processor would leave those to their maker."""
    span = play(run(healthy())).spans["execute_tool db.query"]
    assert span.instrumentation_scope.name == "otel_errcompact_lab.replay"
    assert span.resource.attributes["service.name"] == "errcompact-replay"


def test_the_numbers_of_a_run(play: Play) -> None:
    """Failures, classes, streaks and tokens of one run, and what its record says of it."""
    (replayed,) = play(run(failing(), failing(), failing("bash", "bash: mke: command not found"), healthy())).runs
    numbers = replayed.model_dump(exclude={"class_keys"})
    assert len(replayed.class_keys) == 2
    assert numbers == {
        "run_id": "run-1",
        "agent": "shop",
        "source": "runs/shop.jsonl",
        "outcome": "reward 1",
        "result": "recovered",
        "tool_calls": 4,
        "failures": 3,
        "stated": 0,
        "ignored": 0,
        "handled": 0,
        "refused": 0,
        "classes": 2,
        "longest_streak": 2,
        "escalations": (),
        "raw_error_tokens": 9 + 9 + 7,
        "digest_tokens": replayed.report.digest_tokens,
        "result_tokens": 40,
        "context_tokens": 100,
    }


def test_a_success_ends_the_streak_of_its_operation(play: Play) -> None:
    """Success of another tool does not: an agent that lists files between two failing edits is still looping."""
    (same,) = play(run(failing(), failing(), healthy(), failing())).runs
    (other,) = play(run(failing(), failing(), healthy("ls"), failing())).runs
    assert (same.longest_streak, same.result) == (2, "unresolved")
    assert (other.longest_streak, other.result) == (3, "unresolved")
    assert play(run(failing(), healthy())).runs[0].result == "recovered"


def test_a_declined_call_is_neither_a_failure_nor_a_success(play: Play) -> None:
    """It is counted as ignored, and the streak around it goes on."""
    declined = call(result=DECLINED, failed=True)
    played = play(run(failing(), declined, failing()))
    (replayed,) = played.runs
    assert (replayed.tool_calls, replayed.failures, replayed.ignored, replayed.longest_streak) == (3, 2, 1, 2)


def test_a_failure_that_the_record_did_not_flag_is_stated(play: Play) -> None:
    """A traceback behind a pipe that lost the exit status is a failure all the same."""
    piped = call("bash", TRACEBACK, failed=False, arguments='{"command": "python app.py | tail -50"}')
    (replayed,) = play(run(piped)).runs
    assert (replayed.failures, replayed.stated) == (1, 1)


@pytest.mark.parametrize("text", ["", "  \n"], ids=["nothing", "blank"])
def test_a_failure_without_output_says_its_exit_status(play: Play, text: str) -> None:
    """It is all there is to say."""
    (replayed,) = play(run(call("make", text, failed=True, exit_code=2))).runs
    (found,) = replayed.report.classes
    assert "exit code 2" in f"{found.type} {found.cause}"


def test_a_flagged_call_without_any_output_still_counts(play: Play) -> None:
    """Not even an exit status is known."""
    assert play(run(call("make", "", failed=True))).runs[0].failures == 1


def test_a_run_without_calls_is_clean(play: Play) -> None:
    """An agent may only have talked."""
    (replayed,) = play(run()).runs
    assert (replayed.tool_calls, replayed.result) == (0, "clean")


def test_a_nameless_run_is_named_by_its_file(play: Play) -> None:
    """So that its spans can be found."""
    assert play(run(healthy(), run_id="")).runs[0].run_id == "shop"


def test_a_name_may_be_used_again(play: Play) -> None:
    """Each record is a run of its own; nothing of the first one is left in the second."""
    first, second = play(run(failing(), failing()), run(failing())).runs
    assert (first.failures, second.failures) == (2, 1)
    assert second.report.classes[0].count == 1


def test_a_tool_may_have_no_name(play: Play) -> None:
    """A result without its call is played all the same."""
    played = play(run(call("", REFUSED, failed=True)))
    assert played.runs[0].failures == 1
    assert "execute_tool" in played.spans
