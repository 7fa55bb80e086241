from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact as errcompact
from otel_errcompact import Continue, Escalation, Halt, Pause, RunHalted, RunPaused, Thresholds
from otel_errcompact.engine.report import RunReport
from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.escalator.actions import FinalText


HALTS = Thresholds(halts=frozenset({"same"}))


def fail(run: errcompact.Run, times: int = 1, *, arguments: dict[str, object] | None = None) -> str:
    text = ""
    for _ in range(times):
        with run.tool("query", arguments=arguments) as call:
            raise KeyError("orders")
        text = call.text
    return text


def test_without_a_handler_the_run_goes_on(ledger: Ledger) -> None:
    """The third failure of one class is recorded for the operators, the agent reads that, and no gate stops the run."""
    with errcompact.run("r", ledger=ledger) as run:
        assert "ESCALATED at 3: recorded for the operators" in fail(run, 3)
        run.check()
        fail(run, 9)
        run.check()
        assert run.verdict.standing == "carry_on"
    assert [answered.action for answered in run.report().escalations] == ["unhandled"] * 2
    assert run.report().result == "unresolved"


def _broken(_: Escalation) -> Halt:
    raise OSError("pager is down")


@pytest.mark.parametrize(
    ("handler", "outcome"),
    [
        (lambda _: Continue("use table users"), "OPERATOR: use table users"),
        (lambda _: Continue(), ""),
        (lambda _: Halt("enough"), "OPERATOR: the run is stopped"),
        (lambda _: Pause("Ann looks at it"), "OPERATOR: the run waits for a human"),
        (_broken, "recorded for the operators"),
        (lambda _: "continue", "recorded for the operators"),
        (lambda: Continue(), "recorded for the operators"),
    ],
    ids=["message", "continue", "halt", "pause", "raises", "rubbish", "arity"],
)
def test_the_agent_reads_what_became_of_an_escalation(ledger: Ledger, handler: Any, outcome: str) -> None:
    """Once the handler has answered or failed, and not before."""
    with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        assert fail(run, 3).splitlines() == [
            "[KeyError]: 'orders' #5806 again (x3, 3 in a row; ESCALATED at 3)",
            *filter(None, [outcome]),
        ]


def test_the_log_names_a_handler_that_fails(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    """By module and name, and with its error; each handler by itself."""
    for handler in (_broken, lambda _: "continue"):
        with errcompact.run(ledger=ledger, on_escalation=handler) as run:  # type: ignore[arg-type]
            fail(run, 3)
    failed = [record.getMessage() for record in caplog.records if "failed" in record.getMessage()]
    named = f"the escalation handler {__name__}"
    assert failed == [
        f"{named}._broken failed: OSError: pager is down (1 so far); the application is not affected",
        (
            f"{named}.test_the_log_names_a_handler_that_fails.<locals>.<lambda> failed: ConfigurationError: "
            "an escalation handler returned 'continue'; return Halt(), Continue() or Pause() (2 so far); "
            "the application is not affected"
        ),
    ]


def test_a_loop_halts_at_the_next_gate(ledger: Ledger) -> None:
    """Six times the identical call, executed or refused, and nothing succeeded: `check` then stops the run."""
    executed: list[str] = []

    def query(table: str) -> str:
        executed.append(table)
        raise KeyError(table)

    with errcompact.run("r", ledger=ledger) as run:
        for _ in range(6):
            run.check()
            run.call(query, "orders")
        assert len(executed) == 2
        assert run.verdict.standing == "halt"
        with pytest.raises(RunHalted, match=r"^run 'r' halted: no escalation handler was given \(") as halted:
            run.check()
        assert (halted.value.escalation.threshold, halted.value.escalation.count) == ("loop", 6)
    assert run.report().result == "halted"


def test_a_threshold_halts_on_request(ledger: Ledger) -> None:
    """`halts` names those that stop the run where no handler decides."""
    with errcompact.run("r", ledger=ledger, thresholds=HALTS) as run:
        assert "ESCALATED at 3: the run is stopped" in fail(run, 3)
        with pytest.raises(RunHalted) as halted:
            run.check()
        assert halted.value.escalation.threshold == "same"


def test_a_halted_run_starts_no_further_tool(ledger: Ledger) -> None:
    """Entering a call is a gate too."""
    with errcompact.run("r", ledger=ledger, thresholds=HALTS) as run:
        fail(run, 3)
        with pytest.raises(RunHalted), run.tool("other"):
            raise AssertionError("must not be reached")


def test_the_handler_is_asked_once_at_the_failing_call(ledger: Ledger) -> None:
    """It gets the escalation as soon as the call has ended, and its reason is in the halt."""
    asked: list[Escalation] = []

    def handler(escalation: Escalation) -> Halt:
        asked.append(escalation)
        return Halt("too expensive")

    with errcompact.run("r", agent="shop", ledger=ledger, on_escalation=handler) as run:
        fail(run, 3)
        assert [(escalation.count, escalation.agent, escalation.tool) for escalation in asked] == [(3, "shop", "query")]
        for _ in range(2):
            with pytest.raises(RunHalted, match="too expensive"):
                run.check()
    assert len(asked) == 1


def test_continue_lets_the_run_go_on_with_fresh_counters(ledger: Ledger) -> None:
    """The agent reads what the human said, and escalates again only after as many failures."""
    asked: list[Escalation] = []

    def handler(escalation: Escalation) -> Continue:
        asked.append(escalation)
        return Continue("use table users")

    with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        fail(run, 3)
        run.check()
        assert "OPERATOR: use table users" in run.digest()
        fail(run, 2)
        assert len(asked) == 1
        fail(run, 1)
    assert [escalation.count for escalation in asked] == [3, 3]


def test_pause_holds_the_run_until_it_is_resumed(ledger: Ledger) -> None:
    """Gates raise `RunPaused`, which is a halt for those who do not care, until a human answers."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda _: Pause("ask Ann")) as run:
        fail(run, 3)
        with pytest.raises(RunPaused, match="ask Ann"):
            run.check()
        run.resume("Ann says go")
        run.check()
        assert "OPERATOR: Ann says go" in run.digest()


async def test_an_async_handler_is_awaited(ledger: Ledger) -> None:
    """In asynchronous code the handler may take its time."""

    async def handler(_: Escalation) -> Halt:
        await asyncio.sleep(0)
        return Halt("asked")

    async with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        for _ in range(3):
            async with run.tool("query"):
                raise KeyError("orders")
        with pytest.raises(RunHalted, match="asked"):
            await run.acheck()


def test_an_async_handler_is_run_from_sync_code(ledger: Ledger) -> None:
    """Where no event loop runs, one is started for the handler."""

    async def handler(_: Escalation) -> Continue:
        await asyncio.sleep(0)
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        fail(run, 3)
        run.check()
        assert run.verdict.standing == "carry_on"


async def test_an_async_handler_waits_for_an_async_gate(ledger: Ledger) -> None:
    """A synchronous gate inside a running loop cannot await: it holds the run and says what to do."""

    class Handler:
        async def __call__(self, _: Escalation) -> Continue:
            return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=Handler()) as run:
        fail(run, 3)
        assert run.verdict.standing == "pending"
        with pytest.raises(RunPaused, match=r"not answered yet; it is asynchronous, so use `await run.acheck\(\)`"):
            run.check()
        await run.acheck()
        assert run.verdict.standing == "carry_on"


@pytest.mark.parametrize("answer", [None, "continue"], ids=repr)
def test_a_handler_that_gives_no_answer_is_as_none(ledger: Ledger, answer: object) -> None:
    """A good run is not stopped for a wrong answer: it is counted as unhandled, with what would be right."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda _: answer) as run:  # type: ignore[arg-type,return-value]
        fail(run, 3)
        run.check()
    (answered,) = run.report().escalations
    assert answered.action == "unhandled"
    assert f"returned {answer!r}; return Halt(), Continue() or Pause()" in answered.message
    assert dict(ledger.guard.failures) == {"escalation_handler": 1}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("halts", [False, True], ids=["same", "same halts"])
def test_a_handler_that_raises_is_counted(ledger: Ledger, asynchronous: bool, halts: bool) -> None:
    """The run goes on as it does without a handler, or halts where the threshold does; either says why."""

    def broken(_: Escalation) -> Halt:
        raise OSError("pager is down")

    async def abroken(_: Escalation) -> Halt:
        raise OSError("pager is down")

    async def play() -> RunReport:
        handler = abroken if asynchronous else broken
        thresholds = Thresholds(halts=frozenset({"same"} if halts else ()))
        async with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=thresholds) as run:
            for _ in range(3):
                async with run.tool("query"):
                    raise KeyError("orders")
            if halts:
                with pytest.raises(RunHalted, match="the escalation handler failed: OSError: pager is down"):
                    await run.acheck()
            else:
                await run.acheck()
        return run.report()

    (answered,) = asyncio.run(play()).escalations
    assert answered.action == ("halt" if halts else "unhandled")
    assert answered.message == "the escalation handler failed: OSError: pager is down"
    assert dict(ledger.guard.failures) == {"escalation_handler": 1}


@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_a_synchronous_handler_runs_beside_the_event_loop(ledger: Ledger, library: str) -> None:
    """Other tasks run while it blocks; it has the context variables of the call, and asks once."""
    async_library = pytest.importorskip(library)
    user: ContextVar[str] = ContextVar("user")
    asked, answer = threading.Event(), threading.Event()
    told: list[str] = []

    def handler(_: Escalation) -> Continue:
        told.append(user.get())
        asked.set()
        assert answer.wait(10)
        return Continue("use table users")

    async def play() -> str:
        user.set("Ann")
        async with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
            for _ in range(3):
                async with run.tool("query") as call:
                    raise KeyError("orders")
            return call.text.splitlines()[-1]

    async def work() -> None:
        while not asked.is_set():
            await async_library.sleep(0.001)
        answer.set()

    async def on_asyncio() -> None:
        done = asyncio.create_task(work())
        told.append(await play())
        await done

    async def on_trio() -> None:
        async with async_library.open_nursery() as nursery:
            nursery.start_soon(work)
            told.append(await play())

    if library == "trio":
        async_library.run(on_trio)
    else:
        asyncio.run(on_asyncio())
    assert told == ["Ann", "OPERATOR: use table users"]


async def test_a_synchronous_handler_that_takes_too_long_counts_as_none(ledger: Ledger) -> None:
    """Its thread is left alone, and its late answer changes nothing."""
    answer = threading.Event()

    def handler(_: Escalation) -> Halt:
        answer.wait(10)
        return Halt()

    ledger.options = ledger.options.model_copy(update={"ask_timeout_seconds": 0.01})
    async with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        for _ in range(3):
            async with run.tool("query") as call:
                raise KeyError("orders")
        answer.set()
        await run.acheck()
    assert call.text.splitlines()[-1] == "recorded for the operators"


async def test_a_synchronous_gate_calls_its_handler_directly(ledger: Ledger) -> None:
    """Also on an event loop: nothing there could wait for a thread."""
    threads: list[int] = []

    def handler(_: Escalation) -> Continue:
        threads.append(threading.get_ident())
        return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        fail(run, 3)
    assert threads == [threading.get_ident()]


async def test_an_async_run_halts_where_a_threshold_does(ledger: Ledger) -> None:
    """As in synchronous code."""
    async with errcompact.run("r", ledger=ledger, thresholds=HALTS) as run:
        for _ in range(3):
            async with run.tool("query"):
                raise KeyError("orders")
        with pytest.raises(RunHalted):
            await run.acheck()


def test_what_the_handler_calls_is_not_gated(ledger: Ledger) -> None:
    """A handler may use the run's own tools to find out more."""
    seen: list[str] = []

    def handler(_: Escalation) -> Continue:
        run.check()
        with run.tool("list_tables") as call:
            call.result = "users"
        seen.append(call.text)
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        fail(run, 3)
        run.check()
    assert seen == ["users"]


def test_threads_wait_for_the_answer(ledger: Ledger) -> None:
    """While one thread asks, the others are held at the gate and then all go on."""
    asking, answer = threading.Event(), threading.Event()
    asked: list[Escalation] = []
    passed: list[bool] = []

    def handler(escalation: Escalation) -> Continue:
        asked.append(escalation)
        asking.set()
        answer.wait()
        return Continue()

    with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:

        def other() -> None:
            asking.wait()
            run.check()
            passed.append(answer.is_set())

        threads = [threading.Thread(target=fail, args=(run, 3)), *(threading.Thread(target=other) for _ in range(3))]
        for thread in threads:
            thread.start()
        asking.wait()
        threads[1].join(timeout=0.05)
        assert passed == []
        answer.set()
        for thread in threads:
            thread.join()
    assert (len(asked), passed) == (1, [True, True, True])


async def test_tasks_wait_for_the_answer(ledger: Ledger) -> None:
    """The same in one event loop, which is not blocked meanwhile."""
    asking, answer = asyncio.Event(), asyncio.Event()
    asked: list[Escalation] = []

    async def handler(escalation: Escalation) -> Continue:
        asked.append(escalation)
        asking.set()
        await answer.wait()
        return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:

        async def worker() -> None:
            for _ in range(3):
                async with run.tool("query"):
                    raise KeyError("orders")

        first = asyncio.create_task(worker())
        await asking.wait()
        waiting = asyncio.create_task(run.acheck())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        answer.set()
        await asyncio.gather(first, waiting)
    assert len(asked) == 1


async def test_a_sync_gate_in_a_loop_never_blocks_the_task_that_asks(ledger: Ledger) -> None:
    """It cannot wait for a task of its own loop, so it says that the run is held."""
    answer = asyncio.Event()
    asking = asyncio.Event()

    async def handler(_: Escalation) -> Continue:
        asking.set()
        await answer.wait()
        return Continue()

    async with errcompact.run("r", ledger=ledger, on_escalation=handler) as run:
        fail(run, 3)
        task = asyncio.create_task(run.acheck())
        await asking.wait()
        with pytest.raises(RunPaused, match="has not answered yet"):
            run.check()
        answer.set()
        await task


def test_the_run_s_span_tells_of_the_escalation(
    ledger: Ledger, tracer_provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """Threshold, class and answer stand on it."""
    with errcompact.run("r", ledger=ledger, tracer_provider=tracer_provider, thresholds=HALTS) as run:
        fail(run, 3)
    attributes = exporter.get_finished_spans()[-1].attributes or {}
    assert attributes["errcompact.threshold"] == "same"
    assert attributes["errcompact.class"] == run.report().classes[0].key
    assert attributes["errcompact.action"] == "halt"
    assert attributes["errcompact.result"] == "halted"


def test_an_identical_call_that_keeps_failing_is_refused(ledger: Ledger) -> None:
    """After two failures it is not executed again, while another call is."""
    executed: list[str] = []

    def flaky(table: str) -> str:
        executed.append(table)
        raise KeyError(f"{table}-{'ab'[len(executed) % 2]}")

    with errcompact.run("r", ledger=ledger) as run:
        texts = [str(run.call(flaky, "orders")) for _ in range(4)]
        assert executed == ["orders", "orders"]
        refused = "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since; "
        assert texts[2].startswith(f"{refused}this was attempt 3, at 6 the run is stopped. ")
        assert texts[3].startswith(f"{refused}ESCALATED: recorded for the operators; this was attempt 4, at 6 ")
        run.call(flaky, "users")
        assert executed == ["orders", "orders", "users"]


async def test_an_async_call_is_refused_too(ledger: Ledger) -> None:
    """The coroutine function is not called."""
    executed: list[int] = []

    async def flaky() -> None:
        executed.append(1)
        raise KeyError("ab"[len(executed) % 2])

    async with errcompact.run("r", ledger=ledger) as run:
        texts = [await run.call(flaky) for _ in range(3)]
    assert len(executed) == 2
    assert str(texts[2]).startswith("NOT EXECUTED")


def test_a_refused_call_in_a_with_block_says_so(ledger: Ledger) -> None:
    """A block cannot be skipped from outside, so the call tells that it must not be executed."""
    with errcompact.run("r", ledger=ledger) as run:
        for number in range(2):
            with run.tool("query", arguments={"table": "orders"}):
                raise KeyError(str("ab"[number]))
        with run.tool("query", arguments={"table": "orders"}) as call:
            assert call.refused
        assert (call.failed, call.text) == (True, call.refused)
        assert run.report().occurrences == 2


def test_a_refused_call_that_was_executed_all_the_same_is_believed(ledger: Ledger) -> None:
    """What happened is never called not executed: a result is a success, and lifts the refusal."""
    with errcompact.run("r", ledger=ledger) as run:
        fail(run, 2, arguments={"table": "orders"})
        with run.tool("query", arguments={"table": "orders"}) as call:
            assert call.refused
            call.result = "3 orders"
        assert (call.failed, call.text, call.refused) == (False, "3 orders", "")
        with run.tool("query", arguments={"table": "orders"}) as call:
            assert not call.refused
    assert run.report().result == "recovered"


def test_a_block_that_does_not_ask_is_taken_for_executed(ledger: Ledger) -> None:
    """It has never read `refused`, so that its failures are failures, however many."""
    with errcompact.run("r", ledger=ledger) as run:
        fail(run, 4, arguments={"table": "orders"})
    assert run.report().occurrences == 4


def test_what_the_handler_says_is_in_the_text_of_the_call_that_a_framework_made(ledger: Ledger) -> None:
    """A framework has no place for `run.digest()`, so the failing call itself tells it, and only that one."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda _: Continue("use table\nusers")) as run:
        texts: list[str] = []
        for _ in range(4):
            with run.tool("query", gated=False) as call:
                raise KeyError("orders")
            texts.append(call.text.splitlines()[-1])
    assert ["OPERATOR" in text for text in texts] == [False, False, True, False]
    assert texts[2] == "OPERATOR: use table users"


def test_what_the_handler_says_at_a_gate_is_in_the_next_text(ledger: Ledger) -> None:
    """Where hooks tell of calls after the fact the handler is asked later; the next text of a call has it, once."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda _: Continue("use table users")) as run:
        for _ in range(3):
            assert "OPERATOR" not in run.port.record_call("query", error="KeyError: 'orders'").text
        run.check()
        assert run.port.record_call("query", result="fine").text == "fine\nOPERATOR: use table users"
        assert "OPERATOR" not in run.port.record_call("other", error="OSError: gone").text


def test_no_secret_of_a_failing_handler_is_told(ledger: Ledger) -> None:
    """The reason of a halt ends in the messages of several frameworks."""

    def handler(_: Escalation) -> Halt:
        raise RuntimeError("no pager at https://bot:hunter2secret@pager\nfor you")

    thresholds = Thresholds(halts=frozenset({"same"}))
    with errcompact.run("r", ledger=ledger, on_escalation=handler, thresholds=thresholds) as run:
        fail(run, 3)
        assert str(run.gate()) == (
            "run 'r' halted: the escalation handler failed: RuntimeError: "
            "no pager at https://bot:[REDACTED:password]@pager for you "
            "(one error class keeps recurring (3 of 3): [KeyError] 'orders')"
        )


def test_the_application_sets_what_the_end_user_reads(ledger: Ledger) -> None:
    """A text, or a function of the escalation; one that fails leaves the plain words, and is counted."""

    def broken(escalation: Escalation) -> str:
        raise LookupError(escalation.tool)

    def read(final_text: FinalText) -> str:
        with errcompact.run(ledger=ledger, thresholds=HALTS, final_text=final_text) as run:
            fail(run, 3)
            stop = run.gate()
            assert stop is not None
            return stop.final_text

    assert read("Please call us.") == "Please call us."
    assert read(lambda escalation: f"{escalation.tool} does not work today") == "query does not work today"
    assert read(broken) == read("") == "I have stopped: query was tried 3 times without success."
    assert dict(ledger.guard.failures) == {"final_text": 1}


def test_a_final_text_is_checked_before_a_run_needs_it(ledger: Ledger) -> None:
    """What is neither a text nor callable is refused."""
    with pytest.raises(ConfigurationError, match="final_text is 5; give it a text or a function of an Escalation"):
        errcompact.run(ledger=ledger, final_text=5)  # type: ignore[arg-type]
