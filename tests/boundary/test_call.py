from __future__ import annotations

import asyncio
import gc
import weakref
from typing import TYPE_CHECKING

import pytest
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.trace import StatusCode

import otel_errcompact as errcompact
from otel_errcompact.engine.events import Arrived
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from otel_errcompact.errors import RawError


def query(table: str) -> list[str]:
    """A tool that knows one table."""
    tables = {"users": ["ann", "bob"]}
    return tables[table]


def test_a_tool_that_works_gives_its_result(ledger: Ledger) -> None:
    """Nothing stands between a healthy tool and the agent."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("query") as call:
            call.result = query("users")
        assert (call.failed, call.result, call.text) == (False, ["ann", "bob"], "['ann', 'bob']")
        assert run.digest() == ""


def test_an_exception_becomes_a_digest_and_goes_no_further(ledger: Ledger) -> None:
    """The agent gets type, place and cause; the raw traceback stays behind."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("query") as call:
            call.result = query("orders")
        assert call.failed
        assert call.failure is not None
        assert call.text.splitlines()[0].startswith("[KeyError] at query (")
        assert "'orders'" in call.text
        assert "Traceback" not in call.text


async def test_the_same_holds_for_async_code(ledger: Ledger) -> None:
    """`async with` behaves as `with`."""
    async with errcompact.run("r", ledger=ledger) as run:
        async with run.tool("query") as call:
            await asyncio.sleep(0)
            call.result = query("orders")
        assert call.text.splitlines()[0].startswith("[KeyError] at query (")
        async with run.tool("query") as call:
            call.result = query("users")
        assert run.report().classes[0].status == "RECOVERED"


def test_a_repeat_is_short(ledger: Ledger) -> None:
    """The second time the agent reads what failed and how often, and not where and why again."""
    with errcompact.run("r", ledger=ledger) as run:
        for _ in range(2):
            with run.tool("query") as call:
                query("orders")
        key = run.report().classes[0].key
        assert (
            call.text == f"[KeyError]: 'orders' #{key[:4]} again (x2, 2 in a row; escalates at 3: try something else)"
        )


def test_a_success_of_the_same_tool_resolves(ledger: Ledger) -> None:
    """The class is recovered, and the block is empty again."""
    with errcompact.run("r", ledger=ledger) as run:
        for table in ("orders", "users"):
            with run.tool("query"):
                query(table)
        assert run.digest() == ""
    assert (run.report().result, run.report().classes[0].status) == ("recovered", "RECOVERED")


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), SystemExit(1), GeneratorExit(), asyncio.CancelledError(), StopIteration()],
    ids=lambda error: type(error).__name__,
)
def test_control_flow_passes_untouched(ledger: Ledger, error: BaseException) -> None:
    """Cancellation and interrupts are neither swallowed nor counted."""
    with errcompact.run("r", ledger=ledger) as run:
        with pytest.raises(type(error)) as caught, run.tool("query"):
            raise error
        assert caught.value is error
        assert run.report().occurrences == 0


def test_control_flow_may_be_named() -> None:
    """An application's own way of asking a human is no failure."""

    class AskHuman(Exception):
        pass

    ledger = Ledger(errcompact.Options(control_flow=frozenset({"AskHuman"})))
    with errcompact.run("r", ledger=ledger) as run:
        with pytest.raises(AskHuman), run.tool("query"):
            raise AskHuman
        assert run.report().occurrences == 0


def test_an_exception_may_go_on_after_it_was_counted(ledger: Ledger) -> None:
    """With `reraise` the caller still gets the exception itself."""
    with errcompact.run("r", ledger=ledger) as run:
        with pytest.raises(KeyError), run.tool("query", reraise=True) as call:
            query("orders")
        assert call.failed
        assert run.report().occurrences == 1


def test_an_error_result_is_declared(ledger: Ledger) -> None:
    """A tool that answers with an error instead of raising one."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("bash", arguments={"command": "make test"}) as call:
            call.fail("make: *** [test] Error 2", exit_code=2)
        assert call.failed
        assert run.report().classes[0].count == 1


def test_a_run_may_declare_the_open_call_failed(ledger: Ledger) -> None:
    """Inside a call `run.fail` means that call, and counts once."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("bash") as call:
            assert run.fail("jqq: command not found", exit_code=127) == ""
        assert "jqq: command not found" in call.text
        assert (run.report().occurrences, run.report().classes[0].tool) == (1, "bash")


def test_a_run_may_declare_a_whole_call_failed(ledger: Ledger) -> None:
    """Outside a call `run.fail` is one call, and returns what the agent reads."""
    with errcompact.run("r", ledger=ledger) as run:
        text = run.fail("jqq: command not found", tool="bash", exit_code=127)
        assert "jqq: command not found" in text
        with run.tool("other") as call:
            run.fail("kubctl: command not found", tool="bash", exit_code=127)
        assert not call.failed
        assert run.report().occurrences == 2


def test_the_raw_error_is_whole_on_the_span(
    ledger: Ledger, tracer_provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """An `exception` event with type, message, the whole traceback and the class; the span has failed."""
    run = errcompact.run("r", agent="shop", ledger=ledger, tracer_provider=tracer_provider)
    with run, run.tool("query", call_id="c1") as call:
        query("orders")
    assert call.failure is not None
    tool, whole = exporter.get_finished_spans()
    assert tool.name == "execute_tool query"
    assert tool.parent is not None
    assert whole.context is not None
    assert tool.parent.span_id == whole.context.span_id
    assert dict(tool.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "query",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.agent.name": "shop",
        "errcompact.certainty": "declared",
        "gen_ai.conversation.id": "r",
        "error.type": "KeyError",
        "errcompact.class": call.failure.found.key,
    }
    assert (tool.status.status_code, tool.status.description) == (StatusCode.ERROR, "'orders'")
    (event,) = tool.events
    attributes = dict(event.attributes or {})
    stack = attributes.pop("exception.stacktrace")
    assert event.name == "exception"
    assert attributes == {
        "exception.type": "KeyError",
        "exception.message": "'orders'",
        "errcompact.class": call.failure.found.key,
    }
    assert isinstance(stack, str)
    assert stack.startswith("Traceback (most recent call last):\n")
    assert stack.endswith("KeyError: 'orders'\n")
    assert whole.name == "invoke_agent shop"
    assert (whole.attributes or {})["errcompact.result"] == "unresolved"


def test_what_utf_8_cannot_hold_is_escaped_on_the_span_and_exact_beside(
    ledger: Ledger, tracer_provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """Lone surrogates stand for bytes that are no text; an exporter could encode neither attribute nor status."""
    run = errcompact.run("r", ledger=ledger, tracer_provider=tracer_provider)
    with run, run.tool("open") as call:
        call.fail("no such file: caf\udce9.txt")
    assert "no such file: caf\\udce9.txt" in call.text
    tool, _ = exporter.get_finished_spans()
    (event,) = tool.events
    assert tool.status.description == "no such file: caf\\udce9.txt"
    assert (event.attributes or {})["exception.stacktrace"] == "no such file: caf\\udce9.txt"
    exact = b"no such file: caf\xed\xb3\xa9.txt"
    # Older SDKs refuse bytes that are no text; there the trajectory file alone is exact.
    keeps_bytes = BoundedAttributes(attributes={"raw": exact}).get("raw") == exact
    assert (event.attributes or {}).get("errcompact.raw") == (exact if keeps_bytes else None)


def test_an_error_result_is_whole_on_the_span_too(
    ledger: Ledger, tracer_provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """The tool's answer is kept to the last byte."""
    answer = "first line\n" + "x" * 10_000 + "\nbash: jqq: command not found\n"
    with errcompact.run("r", ledger=ledger, tracer_provider=tracer_provider) as run:
        run.fail(answer, tool="bash", exit_code=127)
    tool = exporter.get_finished_spans()[0]
    assert dict(tool.events[0].attributes or {})["exception.stacktrace"] == answer
    assert (tool.attributes or {})["error.type"] == "CommandNotFound"  # as in the metrics
    assert (tool.attributes or {})["process.exit.code"] == 127


def test_without_tracing_nothing_is_lost(ledger: Ledger) -> None:
    """The agent gets its digest and the audit sink its raw error although no span exists."""
    kept: list[RawError] = []
    ledger.listeners.add(Listener({Arrived: lambda arrived: kept.append(arrived.raw)}))
    with errcompact.run("r", agent="shop", ledger=ledger) as run, run.tool("query", call_id="c1") as call:
        query("orders")
    assert call.failed
    (error,) = kept
    assert error.text.endswith("KeyError: 'orders'\n")
    assert (error.tool, error.call_id, error.agent, error.span) == ("query", "c1", "shop", None)


def test_a_sampled_out_trace_loses_nothing(ledger: Ledger) -> None:
    """A sampler decides about spans, not about the agent."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    with errcompact.run("r", ledger=ledger, tracer_provider=TracerProvider(sampler=ALWAYS_OFF)) as run:
        with run.tool("query") as call:
            query("orders")
        assert call.text.splitlines()[0].startswith("[KeyError] at query (")


@pytest.mark.parametrize("stage", ["observe", "succeed"])
def test_a_fault_of_ours_never_reaches_the_agent(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Should the library itself fail, the tool's result or a plain one-line error is all that is seen."""

    def broken(*args: object, **kwargs: object) -> None:
        raise ValueError("ours")

    monkeypatch.setattr(Guard, "strict", False)
    monkeypatch.setattr(ledger, stage, broken)
    with errcompact.run("r", ledger=ledger) as run, run.tool("query") as call:
        call.result = query("orders" if stage == "observe" else "users")
    assert call.text == ("[KeyError] 'orders'" if stage == "observe" else "['ann', 'bob']")
    assert dict(ledger.guard.failures) == {"boundary": 1}


def test_an_exception_that_cannot_be_printed_is_still_a_failure(ledger: Ledger) -> None:
    """Even `__str__` may raise."""

    class Unprintable(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("query") as call:
            raise Unprintable
        assert "Unprintable" in call.text
        assert run.report().occurrences == 1


def test_arguments_that_are_no_json_are_taken_by_their_text(ledger: Ledger) -> None:
    """Whatever a tool is called with can be told apart."""
    kept: list[RawError] = []
    ledger.listeners.add(Listener({Arrived: lambda arrived: kept.append(arrived.raw)}))
    with errcompact.run("r", ledger=ledger) as run, run.tool("query", arguments={"path": object}):
        query("orders")
    assert kept[0].arguments == '{"path": "<class \'object\'>"}'


def test_arguments_that_cannot_be_written_down_are_unknown(ledger: Ledger) -> None:
    """Cyclic arguments do not stop the call."""
    cyclic: dict[str, object] = {}
    cyclic["self"] = cyclic
    kept: list[RawError] = []
    ledger.listeners.add(Listener({Arrived: lambda arrived: kept.append(arrived.raw)}))
    with errcompact.run("r", ledger=ledger) as run, run.tool("query", arguments=cyclic):
        query("orders")
    assert kept[0].arguments == ""


def test_a_failure_that_passes_through_two_calls_counts_once(ledger: Ledger) -> None:
    """A tool built on another tool of the run passes its failure on; both calls read the same digest."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("report") as outer, run.tool("query", reraise=True) as inner:
            query("orders")
        assert (inner.failed, outer.failed, outer.text) == (True, True, inner.text)
        assert (inner.failure is not None, outer.failure) == (True, None)
        assert [(found.tool, found.count) for found in run.report().classes] == [("query", 1)]


def test_a_wrapped_failure_that_passes_through_two_calls_counts_once(ledger: Ledger) -> None:
    """The same where the outer tool raises an exception of its own from it."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("report"):
            try:
                with run.tool("query", reraise=True):
                    query("orders")
            except KeyError as error:
                raise RuntimeError("no report") from error
        assert run.report().occurrences == 1


def test_the_span_of_a_refused_call_says_so(
    ledger: Ledger, exporter: InMemorySpanExporter, tracer_provider: TracerProvider
) -> None:
    """It has not failed, and would look like a success among the others."""
    with errcompact.run("r", ledger=ledger, tracer_provider=tracer_provider) as run:
        for _ in range(3):
            with run.tool("query", arguments={"table": "orders"}) as call:
                if not call.refused:
                    call.result = query("orders")
    spans = [span for span in exporter.get_finished_spans() if span.name == "execute_tool query"]
    outcomes = [span.attributes.get("errcompact.outcome") for span in spans]
    assert outcomes[2] == "refused"
    assert "refused" not in outcomes[:2]
    assert spans[2].status.status_code is StatusCode.UNSET


def test_an_exception_object_raised_again_is_a_new_occurrence(ledger: Ledger) -> None:
    """Some libraries raise one and the same object every time."""
    same = ConnectionError("refused")
    with errcompact.run("r", ledger=ledger) as run:
        for _ in range(2):
            with run.tool("query"):
                raise same
        assert run.report().occurrences == 2


class Slotted(Exception):
    """Refuses attributes."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)


def test_an_exception_that_refuses_attributes_is_counted(ledger: Ledger) -> None:
    """It cannot be marked, and is counted all the same."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("query"):
            raise Slotted("closed")
        assert run.report().occurrences == 1


class Heavy:
    """Something large in a tool's local variables."""


def test_a_failed_call_keeps_no_frames_alive(ledger: Ledger) -> None:
    """The agent may keep its calls; what the tool had in its variables goes all the same."""
    seen: list[weakref.ref[Heavy]] = []

    def tool() -> None:
        heavy = Heavy()
        seen.append(weakref.ref(heavy))
        raise ValueError("no")

    with errcompact.run("r", ledger=ledger) as run:
        with run.tool("heavy") as call:
            tool()
        gc.collect()
        assert call.failure is not None
        assert seen[0]() is None
