"""Calls that a framework has executed itself, and of which a run is only told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import StatusCode

import otel_errcompact as errcompact
from otel_errcompact.boundary.scope import RunScope
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.actions import Action
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import Tracer


HALTS = errcompact.Thresholds(halts=frozenset({"same"}))


def raised() -> Exception:
    try:
        int("seven")
    except ValueError as error:
        return error
    raise AssertionError


@pytest.fixture
def run(ledger: Ledger, tracer_provider: TracerProvider) -> errcompact.Run:
    """A run in a program whose spans are watched."""
    tracer_provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    run = errcompact.run("r", agent="shop", ledger=ledger, tracer_provider=tracer_provider)
    run.port.open()
    return run


@pytest.fixture
def tracer(tracer_provider: TracerProvider) -> Tracer:
    return tracer_provider.get_tracer("some.framework")


TOOL = {semconv.GEN_AI_OPERATION_NAME: "execute_tool", semconv.GEN_AI_TOOL_NAME: "parse"}


def test_a_failure_is_counted_and_gets_a_span_of_its_own(run: errcompact.Run, exporter: InMemorySpanExporter) -> None:
    """Where the framework has opened no span, the raw error still needs one; the agent reads the digest."""
    call = run.port.record_call("parse", arguments={"text": "seven"}, call_id="c1", error=raised())
    assert call.failed
    assert call.text.splitlines()[0].startswith("[ValueError] at raised (")
    (span,) = exporter.get_finished_spans()
    assert (span.name, span.events[0].name) == ("execute_tool parse", "exception")
    assert span.attributes is not None
    assert span.attributes[semconv.GEN_AI_TOOL_CALL_ID] == "c1"
    assert run.report().occurrences == 1


def test_a_success_is_counted_and_makes_no_span(run: errcompact.Run, exporter: InMemorySpanExporter) -> None:
    """It ends the streak of its operation, and costs nothing else."""
    run.port.record_call("parse", error=raised())
    exporter.clear()
    call = run.port.record_call("parse", result=7)
    assert (call.failed, call.text) == (False, "7")
    assert exporter.get_finished_spans() == ()
    assert run.report().classes[0].status == "RECOVERED"


def test_the_framework_s_own_span_takes_the_raw_error(
    run: errcompact.Run, tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    """What is current and says that it is this tool's span needs no other beside it, and is not counted again."""
    with tracer.start_as_current_span("execute_tool parse", attributes=TOOL) as span:
        run.port.record_call("parse", error=raised())
        span.set_status(StatusCode.ERROR, "handled")
    (span,) = exporter.get_finished_spans()
    assert [event.name for event in span.events] == ["exception"]
    assert span.attributes is not None
    assert span.attributes[semconv.CLASS] == run.report().classes[0].key
    assert run.report().occurrences == 1


def test_another_tool_s_span_is_left_alone(run: errcompact.Run, tracer: Tracer, exporter: InMemorySpanExporter) -> None:
    """A parent's span is no place for the failure of what it called."""
    with tracer.start_as_current_span("execute_tool other", attributes={**TOOL, semconv.GEN_AI_TOOL_NAME: "other"}):
        run.port.record_call("parse", error=raised())
    made, other = exporter.get_finished_spans()
    assert (made.name, other.name) == ("execute_tool parse", "execute_tool other")
    assert [len(made.events), len(other.events)] == [1, 0]


def test_a_span_that_is_known_by_its_call_id_is_not_counted_again(run: errcompact.Run, tracer: Tracer) -> None:
    """Some hooks run where the tool's span is open but not current: the id of the call tells that it is the same."""
    span = tracer.start_span("execute_tool parse", attributes={**TOOL, semconv.GEN_AI_TOOL_CALL_ID: "c1"})
    run.port.record_call("parse", call_id="c1", error=raised())
    span.record_exception(ValueError("in other words"))
    span.set_status(StatusCode.ERROR)
    span.end()
    assert run.report().occurrences == 1
    assert run.port.ledger.store.run_ids() == ("r",)


def test_an_id_that_is_used_again_is_another_call(run: errcompact.Run, tracer: Tracer) -> None:
    """Some models number their calls anew in each turn; a span that begins later is not the call that was told of."""
    run.port.record_call("parse", call_id="c1", error=raised())
    attributes = {**TOOL, semconv.GEN_AI_TOOL_CALL_ID: "c1", semconv.GEN_AI_CONVERSATION_ID: "another"}
    with (
        pytest.raises(ValueError, match="seven"),
        tracer.start_as_current_span("execute_tool parse", attributes=attributes),
    ):
        int("seven")
    assert run.port.ledger.report("another").occurrences == 1


def test_control_flow_is_neither_failure_nor_success(run: errcompact.Run) -> None:
    """A request for approval leaves every streak as it was."""

    class ApprovalRequired(Exception): ...

    run.port.record_call("parse", error=raised())
    call = run.port.record_call("parse", error=ApprovalRequired())
    assert not call.failed
    assert (run.report().occurrences, run.report().classes[0].status) == (1, "ACTIVE")


@pytest.mark.parametrize(
    ("text", "occurrences"),
    [
        pytest.param("Error: no such file: a.txt", 1, id="error"),
        pytest.param("The user doesn't want to proceed with this tool use.", 0, id="declined"),
    ],
)
def test_the_text_of_an_answer_that_is_an_error(run: errcompact.Run, text: str, occurrences: int) -> None:
    """It counts, unless it says that a human declined the call, which is neither."""
    assert run.port.record_call("edit", error=text).failed == bool(occurrences)
    assert run.report().occurrences == occurrences


@pytest.mark.parametrize("flag", ["isError", "is_error"])
def test_a_result_of_the_model_context_protocol_tells_by_its_flag(run: errcompact.Run, flag: str) -> None:
    """Both releases of its package are understood, and all blocks of text are read."""
    blocks = [SimpleNamespace(type="text", text="KeyError: 'sku'"), SimpleNamespace(type="image", data="...")]
    assert run.port.record_call("lookup", result=SimpleNamespace(content=blocks, **{flag: True})).failed
    assert not run.port.record_call("lookup", result=SimpleNamespace(content=blocks, **{flag: False})).failed
    assert run.report().classes[0].type == "KeyError"


def test_a_flagged_result_is_no_hidden_failure(tracer_provider: TracerProvider) -> None:
    """The tool has said so itself: it counts also where hidden failures do not, and the digest claims no detection."""
    ledger = Ledger(errcompact.Options(hidden_failures=False))
    run = errcompact.run("r", ledger=ledger, tracer_provider=tracer_provider)
    block = SimpleNamespace(text="ConnectionError: no route to printer-3 from this host, after 3 attempts")
    call = run.port.record_call("print", result=SimpleNamespace(content=[block], isError=True))
    assert call.failed
    assert "detected" not in call.text
    assert not run.port.record_call("print", result="Traceback (most recent call last):\nKeyError: 1").failed


def test_a_flagged_result_without_text_still_fails(run: errcompact.Run) -> None:
    """A picture may be the whole answer."""
    call = run.port.record_call("draw", result=SimpleNamespace(content=[SimpleNamespace(data="...")], isError=True))
    assert "holds no text" in call.text
    assert run.port.record_call("draw", result=SimpleNamespace(content=None, isError=True)).failed is False


def test_a_call_inside_has_counted_the_exception(run: errcompact.Run) -> None:
    """What a wrapped function has counted and let go is one occurrence, also where a framework tells of it."""
    with pytest.raises(ValueError, match="seven") as caught, run.tool("inner", reraise=True):
        int("seven")
    call = run.port.record_call("outer", error=caught.value)
    assert call.text.startswith("[ValueError]")
    assert run.report().occurrences == 1


def test_the_same_object_raised_again_is_a_new_occurrence(run: errcompact.Run) -> None:
    """A tool may keep its exception; a loop must not hide behind that."""
    error = raised()
    texts = [run.port.record_call("parse", error=error).text for _ in range(3)]
    assert run.report().occurrences == 3
    assert "(x3, 3 in a row; ESCALATED at 3: recorded for the operators; " in texts[2]


def test_a_digest_that_comes_back_is_not_counted_again(run: errcompact.Run) -> None:
    """A wrapped tool hands out a digest, and the framework's hook reads it as the error of the call."""
    with run.tool("parse") as call:
        int("seven")
    again = run.port.record_call("parse", error=f"Error: {call.text}")
    assert again.text == call.text
    assert run.report().occurrences == 1


def test_a_loop_does_not_hide_behind_a_digest_that_it_quotes(run: errcompact.Run) -> None:
    """Agents put what they have read into arguments, and tools repeat those in their errors."""
    digest = run.port.record_call("parse", error=raised()).text
    question = {"question": digest}
    errors = [f"Error: cannot answer question {i}: {digest}" for i in range(7)]
    texts = [run.port.record_call("ask", arguments=question, error=error).text for error in errors]
    assert texts[0] == digest
    assert "ESCALATED at 3" in texts[3]
    assert isinstance(run.gate(), errcompact.RunHalted)


def test_a_text_that_is_its_own_digest_counts_each_time(run: errcompact.Run) -> None:
    """A short error is shown as it is: that it comes again is a recurrence, and no digest coming back."""
    for _ in range(3):
        run.port.record_call("pay", error="Error: payment method not found")
    assert run.report().occurrences == 3


def test_nobody_is_asked_before_the_gate(ledger: Ledger) -> None:
    """Other calls may still be under way; the gate before the next model call is where it is decided."""
    asked: list[errcompact.Escalation] = []

    def handler(escalation: errcompact.Escalation) -> errcompact.Halt:
        asked.append(escalation)
        return errcompact.Halt("enough")

    run = errcompact.run("r", ledger=ledger, on_escalation=handler)
    run.port.open()
    for _ in range(3):
        run.port.record_call("parse", error=raised())
    assert asked == []
    stop = run.gate()
    assert isinstance(stop, errcompact.RunHalted)
    assert stop.reason == "enough"
    assert str(stop) == (
        "run 'r' halted: enough (one error class keeps recurring (3 of 3): "
        "[ValueError] invalid literal for int() with base 10: 'seven')"
    )
    assert len(asked) == 1


def test_the_tool_span_of_a_breach_says_so(run: errcompact.Run, exporter: InMemorySpanExporter) -> None:
    """Operators find the calls at which runs escalated."""
    for _ in range(3):
        run.port.record_call("parse", error=raised())
    spans = exporter.get_finished_spans()
    assert [(span.attributes or {}).get(semconv.THRESHOLD) for span in spans] == [None, None, "same"]


def test_an_ungated_call_runs_in_a_stopped_run(ledger: Ledger) -> None:
    """Frameworks start calls side by side: those under way when one breaches are not cut."""
    with errcompact.run("r", ledger=ledger, thresholds=HALTS) as run:
        for _ in range(3):
            run.port.record_call("parse", error=raised())
        run.gate()
        with run.tool("other", gated=False) as call:
            call.result = "fine"
        assert call.text == "fine"
        with pytest.raises(errcompact.RunHalted):
            run.check()


async def test_an_ungated_call_runs_in_a_stopped_run_of_asynchronous_code(ledger: Ledger) -> None:
    """The same in asynchronous code."""
    async with errcompact.run("r", ledger=ledger, thresholds=HALTS) as run:
        for _ in range(3):
            run.port.record_call("parse", error=raised())
        assert isinstance(await run.agate(), errcompact.RunHalted)
        async with run.tool("other", gated=False) as call:
            call.result = "fine"
        assert call.text == "fine"


def test_a_span_with_another_parent_is_still_inside_the_call(run: errcompact.Run, tracer: Tracer) -> None:
    """Some instrumentations name the parent by ids of their framework: the call that is open around it decides."""
    elsewhere = tracer.start_span("chain")
    from opentelemetry import trace

    with run.tool("parse") as call:
        context = trace.set_span_in_context(elsewhere)
        span = tracer.start_span("parse", context=context)
        try:
            int("seven")
        except ValueError as error:
            span.record_exception(error)
            span.set_status(StatusCode.ERROR, str(error))
            span.end()
            raise
    elsewhere.end()
    assert call.failed
    assert (run.report().occurrences, run.report().handled) == (1, 0)
    assert run.port.ledger.store.run_ids() == ("r",)


def test_a_tool_span_that_has_only_its_name_yet(
    run: errcompact.Run, tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    """Google's ADK puts the attributes on when the call is over."""
    with tracer.start_as_current_span("execute_tool parse"):
        run.port.record_call("parse", call_id="c1", error=raised())
    (span,) = exporter.get_finished_spans()
    assert [event.name for event in span.events] == ["exception"]


def test_a_call_that_has_failed_too_often_is_refused(run: errcompact.Run) -> None:
    """Frameworks that make the calls themselves ask before; another call is none of it."""
    for _ in range(2):
        assert run.port.refuse("parse", arguments={"text": "seven"}) == ""
        run.port.record_call("parse", arguments={"text": "seven"}, error=raised())
    assert run.port.refuse("parse", arguments={"text": "seven"}).startswith("NOT EXECUTED: ")
    assert run.port.refuse("parse", arguments={"text": "eight"}) == ""


@pytest.fixture
def stopped(ledger: Ledger, tracer_provider: TracerProvider) -> Callable[[Action], errcompact.Run]:
    """The run of a server whose tool has failed three times, of which its operator says this."""

    def stopped(action: Action) -> errcompact.Run:
        scope = RunScope(
            "r", ledger=ledger, tracer_provider=tracer_provider, on_escalation=lambda _: action, stoppable=False
        )
        run = errcompact.Run(scope)
        run.port.open()
        for _ in range(3):
            run.port.record_call("parse", error=raised())
        return run

    return stopped


STOPPED = (
    "NOT EXECUTED: one error class keeps recurring (3 of 3): "
    "\"[ValueError] invalid literal for int() with base 10: 'seven'\""
)


async def test_a_server_refuses_the_tool_that_its_operator_stops(
    stopped: Callable[[Action], errcompact.Run],
) -> None:
    """Other tools go on; there is no agent to stop."""
    run = stopped(errcompact.Halt("the parser is down"))
    assert await run.port.arefuse("parse") == f"{STOPPED}; the parser is down"
    assert await run.port.arefuse("other") == ""


async def test_a_server_disables_no_tool_by_itself(ledger: Ledger) -> None:
    """A loop of one client is refused call by call: the tool stays, for other arguments and for other tools."""
    run = errcompact.Run(RunScope("r", ledger=ledger, stoppable=False))
    run.port.open()
    for _ in range(9):
        run.port.record_call("parse", arguments={"text": "seven"}, error=raised())
    assert (await run.port.arefuse("parse", arguments={"text": "seven"})).startswith("NOT EXECUTED: this exact call ")
    assert await run.port.arefuse("parse", arguments={"text": "8"}) == ""
    run.port.record_call("parse", arguments={"text": "8"}, result=8)
    assert await run.port.arefuse("parse", arguments={"text": "seven"}) == ""


async def test_a_human_at_a_server_s_client_is_asked(
    stopped: Callable[[Action], errcompact.Run],
) -> None:
    """Once at a time; who gives no reply is asked again, and what is said is for the agent."""
    replies: list[object] = [None, "try 7"]
    questions: list[str] = []

    async def ask(question: str) -> object:
        questions.append(question)
        if len(questions) == 1:
            assert await run.port.arefuse("parse", ask=ask) == STOPPED
        return replies.pop(0)

    run = stopped(errcompact.Pause())
    assert await run.port.arefuse("parse", ask=ask) == STOPPED
    assert await run.port.arefuse("parse", ask=ask) == "NOT EXECUTED: a human has answered: try 7"
    assert await run.port.arefuse("parse", ask=ask) == ""
    assert questions == [STOPPED.removeprefix("NOT EXECUTED: ").replace('"', "")] * 2


async def test_the_span_of_a_refused_call_is_no_failure(
    stopped: Callable[[Action], errcompact.Run], tracer_provider: TracerProvider, tracer: Tracer
) -> None:
    """Whatever the framework makes of the refusal."""
    run = stopped(errcompact.Halt())
    tracer_provider.add_span_processor(ErrorCompactionSpanProcessor(run.port.ledger))
    before = run.report().occurrences
    with tracer.start_as_current_span("execute_tool parse", attributes=TOOL) as span:
        assert await run.port.arefuse("parse")
        span.set_status(StatusCode.ERROR, "tool_error")
    assert run.report().occurrences == before


def test_what_a_framework_raised_a_failure_as_is_no_other_one(run: errcompact.Run, tracer: Tracer) -> None:
    """Its own record of the wrapper and ours of the cause are one occurrence, on one span."""
    with tracer.start_as_current_span("tools/call parse", attributes={**TOOL}) as span:
        wrapped = RuntimeError("tool parse failed")
        wrapped.__cause__ = error = raised()
        span.record_exception(wrapped)
        span.set_status(StatusCode.ERROR)
        run.port.record_call("parse", error=error)
    assert (run.report().occurrences, run.report().handled) == (1, 0)


def test_a_span_around_our_own_boundary_is_told_whose_failure_it_shows(
    run: errcompact.Run, tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    """It fails too, with less to say; what it shows is no occurrence of its own."""
    with tracer.start_as_current_span("sdk.tool_use parse", attributes=TOOL) as span:
        with run.tool("parse"):
            int("seven")
        span.set_status(StatusCode.ERROR)
    ours, around = exporter.get_finished_spans()
    assert ours.attributes is not None
    assert around.attributes is not None
    assert around.attributes[semconv.CLASS] == ours.attributes[semconv.CLASS]
    assert run.report().occurrences == 1
    assert [event.name for event in around.events] == []


def test_openinference_names_a_tool_s_span_by_the_tool(run: errcompact.Run, tracer: Tracer) -> None:
    """Its attribute for the name comes when the span ends, which is too late."""
    with tracer.start_as_current_span("parse", attributes={"openinference.span.kind": "TOOL"}) as span:
        run.port.record_call("parse", error=raised())
        span.set_status(StatusCode.ERROR)
    assert run.report().occurrences == 1


def test_a_fallback_that_fails_as_well_is_another_failure(run: errcompact.Run) -> None:
    """Python puts down what was being handled around the call; that is no sign that both are one."""

    def fall_back() -> None:
        try:
            raise LookupError("no fallback")
        except LookupError as error:
            run.port.record_call("fallback", error=error)

    try:
        with run.tool("primary", reraise=True):
            int("seven")
    except ValueError:
        fall_back()
    assert [found.type for found in run.report().classes] == ["ValueError", "LookupError"]


@pytest.mark.parametrize(
    ("result", "exit_code", "status"),
    [
        pytest.param("ready", 3, "failure", id="a status says what the text does not"),
        pytest.param("", 3, "failure", id="a status alone"),
        pytest.param("ready", 0, "success", id="fine"),
        pytest.param("ready", None, "success", id="unknown"),
    ],
)
def test_an_exit_status_decides_what_a_result_is(
    run: errcompact.Run, result: str, exit_code: int | None, status: str
) -> None:
    """Hosts pass the output of a failed command on as a success, with the status beside it."""
    call = run.port.record_call("Bash", arguments="make", result=result, exit_code=exit_code)
    assert ("failure" if call.failed else "success", call.is_ignored) == (status, False)
    if call.failed:
        assert call.failure is not None
        assert call.failure.raw.exit_code == 3


def test_the_exit_status_of_an_error_is_kept(run: errcompact.Run) -> None:
    """What a host flags is judged by it too: a search that found nothing has not failed."""
    failed = run.port.record_call("Bash", arguments="make", error="no rule to make target", exit_code=2)
    assert failed.failure is not None
    assert failed.failure.raw.exit_code == 2
    empty = run.port.record_call("Bash", arguments="grep -r colour src", error="Exit code 1", exit_code=1)
    assert (empty.failed, empty.is_ignored) == (False, True)
    assert run.report().occurrences == 1


def test_a_word_of_success_needs_more_to_be_doubted(run: errcompact.Run) -> None:
    """A status in the middle of the text of a call that its host calls a success is that of something else."""
    text = "Process exited with code 3"
    doubted = run.port.record_call("deploy_command", arguments="make", result=text)
    believed = run.port.record_call("deploy_command", arguments="make", result=text, says_success=True)
    assert (doubted.failed, believed.failed) == (True, False)


def test_the_directory_of_a_call_is_part_of_what_it_is(run: errcompact.Run) -> None:
    """`make` in one folder has failed too often; in another one it may be made."""
    for _ in range(3):
        run.begin_turn()
        run.port.record_call("Bash", arguments="make", error="no rule to make target", exit_code=2, directory="/srv/a")
    run.begin_turn()
    assert run.port.refuse("Bash", arguments="make", directory="/srv/a").startswith("NOT EXECUTED: this exact call")
    assert run.port.refuse("Bash", arguments="make", directory="/srv/b") == ""
