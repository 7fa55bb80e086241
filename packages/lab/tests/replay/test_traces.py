"""Recorded traces go through the processor as they once were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import SpanKind, StatusCode

from otel_errcompact.history.stores.memory import MemoryStore
from otel_errcompact_lab.replay import pipeline
from otel_errcompact_lab.replay.traces import RebuiltSpan, _find_depths, in_order
from packages.lab.tests.replay.records import REFUSED, SECOND, TRACE_ID, span, tool_span, trace

if TYPE_CHECKING:
    import pytest

    from packages.lab.tests.replay.conftest import Play


def test_a_rebuilt_span_is_what_was_recorded() -> None:
    """Ids, parent, times, kind, status, events, scope, resource, and what had been dropped."""
    recorded = span(7, parent=3, start=2, end=5, status="error", description="boom", error="bad", attributes={"a": 1})
    rebuilt = RebuiltSpan(recorded, "app")
    assert (rebuilt.context.trace_id, rebuilt.context.span_id, rebuilt.parent.span_id) == (TRACE_ID, 7, 3)
    assert (rebuilt.name, rebuilt.kind, rebuilt.start_time, rebuilt.end_time) == (
        "GET",
        SpanKind.INTERNAL,
        2 * SECOND,
        5 * SECOND,
    )
    assert (rebuilt.status.status_code, rebuilt.status.description) == (StatusCode.ERROR, "boom")
    assert rebuilt.attributes == {"a": 1}
    assert [(event.name, event.timestamp, dict(event.attributes)) for event in rebuilt.events] == [
        ("exception", 5 * SECOND, {"exception.type": "ValueError", "exception.message": "bad"})
    ]
    assert (rebuilt.instrumentation_scope.name, rebuilt.instrumentation_scope.version) == ("app", "1.0")
    assert rebuilt.resource.attributes == {"service.name": "shop"}
    assert (rebuilt.dropped_attributes, rebuilt.dropped_events, rebuilt.dropped_links) == (1, 2, 3)


def test_a_description_of_what_did_not_fail_is_left_out() -> None:
    """The SDK refuses it with a warning."""
    assert RebuiltSpan(span(1, status="ok", description="fine"), "app").status.description is None


def test_exporters_get_the_spans_with_their_class(play: Play) -> None:
    """What was recorded is exported, and the failure's class added."""
    played = play(trace(span(7, status="error", error=REFUSED)))
    assert played.spans["GET"].context.span_id == 7
    assert played.spans["GET"].dropped_events == 2
    assert played.spans["GET"].attributes["errcompact.class"] == played.runs[0].class_keys[0]


def test_an_exception_through_three_spans_is_one_failure(play: Play) -> None:
    """Each of them has recorded it."""
    (replayed,) = play(
        trace(
            span(3, start=3, end=4, parent=2, status="error", error=REFUSED),
            span(2, start=2, end=5, parent=1, status="error", error=REFUSED),
            span(1, start=1, end=6, status="error", error=REFUSED),
        )
    ).runs
    assert (replayed.failures, replayed.run_id) == (1, f"{TRACE_ID:032x}")


def test_a_failure_inside_a_call_that_succeeded_is_handled(play: Play) -> None:
    """The first HTTP attempt failed, the call did not."""
    (replayed,) = play(
        trace(span(2, start=2, end=3, parent=1, status="error", error=REFUSED), tool_span(1, start=1, end=4))
    ).runs
    assert (replayed.tool_calls, replayed.failures, replayed.handled, replayed.result) == (1, 0, 1, "clean")


def test_spans_of_our_own_boundaries_count(play: Play) -> None:
    """In a replay their maker is not there to tell the ledger of them."""
    played = play(trace(tool_span(1, status="error", error=REFUSED, scope="otel_errcompact")))
    assert played.runs[0].failures == 1
    assert played.spans["execute_tool search"].instrumentation_scope.name == "otel_errcompact_lab.replay"


def test_model_calls_are_no_tool_calls(play: Play) -> None:
    """They are boundaries, but not what is counted as calls of tools."""
    (replayed,) = play(trace(span(1, "chat gpt", attributes={"gen_ai.operation.name": "chat"}), tool_span(2))).runs
    assert replayed.tool_calls == 1


def test_spans_that_name_no_conversation_belong_to_that_of_their_trace(play: Play) -> None:
    """Only some of the spans of a trace say which conversation it is part of."""
    played = play(trace(span(2, status="error", error=REFUSED), tool_span(1, conversation="c1")))
    assert [(run.run_id, run.tool_calls, run.failures) for run in played.runs] == [("c1", 1, 1)]


def test_a_session_names_the_run_too(play: Play) -> None:
    """As some instrumentations call the conversation."""
    assert play(trace(span(1, attributes={"session.id": "s1"}))).runs[0].run_id == "s1"


def test_a_conversation_goes_on_in_the_next_trace(play: Play) -> None:
    """It is one run, which ends with the file."""
    turns = [
        trace(tool_span(n, conversation="c1", start=n, end=n, status="error", error=REFUSED, trace_id=n))
        for n in range(1, 4)
    ]
    (replayed,) = play(*turns).runs
    assert (replayed.run_id, replayed.failures, replayed.classes, replayed.longest_streak) == ("c1", 3, 1, 3)


def test_a_second_conversation_in_a_trace_is_a_run_of_its_own(play: Play) -> None:
    """A span's own conversation comes first."""
    played = play(
        trace(
            tool_span(1, conversation="c1", start=1, end=2),
            tool_span(2, conversation="c2", start=3, end=4, status="error", error=REFUSED),
        )
    )
    assert [(run.run_id, run.tool_calls, run.failures) for run in played.runs] == [("c1", 1, 0), ("c2", 1, 1)]


def test_open_conversations_are_bounded(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one touched least recently is ended."""
    monkeypatch.setattr(pipeline, "MAX_OPEN_RUNS", 2)
    turns = [trace(tool_span(n, conversation=f"c{n}", trace_id=n)) for n in (1, 2, 3)]
    turns.append(trace(tool_span(9, conversation="c1", trace_id=9)))
    assert [(run.run_id, run.tool_calls) for run in play(*turns).runs] == [("c1", 1), ("c2", 1), ("c3", 1), ("c1", 1)]


def test_a_span_costs_the_same_however_many_conversations_are_open(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that escalated are looked at again only when something of theirs ends."""
    looked: Counter[str] = Counter()
    find = MemoryStore.find

    def counting(store: MemoryStore, run_id: str) -> object:
        looked["all"] += 1
        return find(store, run_id)

    monkeypatch.setattr(MemoryStore, "find", counting)

    def cost(conversations: int) -> int:
        looked.clear()
        failures = ((number, turn) for turn in range(4) for number in range(conversations))
        play(
            *(
                trace(
                    tool_span(9, conversation=f"c{number}", status="error", error=REFUSED, trace_id=100 * turn + number)
                )
                for number, turn in failures
            ),
            same=2,
        )
        return looked["all"]

    assert cost(32) - cost(16) == 2 * (cost(16) - cost(8))


def test_the_tokens_of_a_trace_are_those_of_its_texts(play: Play) -> None:
    """All text on all spans; as results, that on the spans of tool calls."""
    (replayed,) = play(
        trace(span(2, attributes={"prompt": "x" * 40, "n": 3}), tool_span(1, "search", error="e" * 20))
    ).runs
    # execute_tool 12 + search 6, ValueError 10 + message 20 characters
    assert (replayed.result_tokens, replayed.context_tokens) == (3 + 2 + 3 + 5, 10 + 3 + 2 + 3 + 5)


def test_at_one_time_outer_spans_start_first_and_end_last() -> None:
    """Recorders round times; nesting tells what came first."""
    spans = (span(3, start=1, end=1, parent=2), span(2, start=1, end=1, parent=1), span(1, start=1, end=1))
    assert list(in_order(spans)) == [(2, False), (1, False), (0, False), (0, True), (1, True), (2, True)]


def test_parents_in_a_circle_do_no_harm() -> None:
    """Ids of a trace may be anything."""
    spans = (span(1, parent=2), span(2, parent=1), span(3, parent=3), span(4, parent=99))
    assert sorted(_find_depths(spans)) == [1, 2, 3, 4]
    assert len(list(in_order(spans))) == 8


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 8)).map(
            lambda drawn: (min(drawn[:2]), max(drawn[:2]), drawn[2])
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_span_starts_once_before_it_ends_once_in_the_order_of_time(drawn: list[tuple[int, int, int]]) -> None:
    """Whatever times and parents a trace has."""
    spans = tuple(
        span(index, start=start, end=end, parent=parent) for index, (start, end, parent) in enumerate(drawn, 1)
    )
    steps = list(in_order(spans))
    times = [spans[index].end_ns if ends else spans[index].start_ns for index, ends in steps]
    assert times == sorted(times)
    assert sorted(steps) == [(index, ends) for index in range(len(spans)) for ends in (False, True)]
    assert all(steps.index((index, False)) < steps.index((index, True)) for index in range(len(spans)))
