"""The runs of a framework, by its own ids."""

from __future__ import annotations

import os
import re
import threading
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from otel_errcompact import Options
from otel_errcompact.boundary import RunRegistry
from otel_errcompact.engine.events import Ended
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.stores.memory import MemoryLimits
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

if TYPE_CHECKING:
    from otel_errcompact.engine.listeners import Receivers


class Ends(Listener):
    """Keeps how runs ended."""

    def __init__(self) -> None:
        self.results: list[tuple[str, str, str]] = []

    def receivers(self) -> Receivers:
        ended = attrgetter("report.run_id", "report.agent", "report.result")
        return {Ended: lambda event: self.results.append(ended(event))}


@pytest.fixture
def ends(ledger: Ledger) -> Ends:
    listener = Ends()
    ledger.listeners.add(listener)
    return listener


HALTS = errcompact.Thresholds(halts=frozenset({"same"}))


def breach(run: errcompact.Run) -> None:
    for _ in range(3):
        run.port.record_call("parse", error="KeyError: 'sku'")


def test_an_id_is_one_run_until_it_ends(ledger: Ledger, ends: Ends) -> None:
    """Hooks share nothing but the id; the next run of an id starts anew."""
    registry = RunRegistry(ledger=ledger, agent="shop", thresholds=HALTS)
    first = registry.of("t1")
    assert registry.of("t1") is first
    assert registry.of("t2", agent="helper") is not first
    breach(first)
    assert first.gate() is not None
    registry.end("t1")
    registry.end("t2")
    assert ends.results == [("t1", "shop", "halted"), ("t2", "helper", "clean")]
    assert registry.of("t1").gate() is None


def test_the_account_of_a_run_is_there_before_and_after_its_end(ledger: Ledger) -> None:
    """A halted run looks like a success in several frameworks: this is where it shows."""
    registry = RunRegistry(ledger=ledger, thresholds=HALTS)
    run = registry.of("t1")
    run.port.record_call("parse", error="KeyError: 'sku'")
    assert registry.report("t1").result == "unresolved"
    for _ in range(2):
        run.port.record_call("parse", error="KeyError: 'sku'")
    run.gate()
    registry.end("t1")
    assert (registry.report("t1").result, registry.report("t1").occurrences) == ("halted", 3)
    assert registry.report("never seen").result == "clean"


def test_ending_what_is_not_there_does_nothing(ledger: Ledger, ends: Ends) -> None:
    """Frameworks may say it twice, or of a run in which nothing was called."""
    registry = RunRegistry(ledger=ledger)
    registry.end("t1")
    registry.of("t1")
    registry.end("t1")
    registry.end("t1")
    assert ends.results == [("t1", "", "clean")]


def test_a_run_that_waits_for_a_human_does_not_end(ledger: Ledger, ends: Ends) -> None:
    """A framework ends its own run when it hands over to a human; ours goes on when the answer is there."""
    registry = RunRegistry(ledger=ledger, on_escalation=lambda escalation: errcompact.Pause("Ann looks at it"))
    run = registry.of("t1")
    breach(run)
    assert isinstance(run.gate(), errcompact.RunPaused)
    registry.end("t1")
    assert ends.results == []
    assert registry.of("t1") is run
    assert run.answer("the key is called id") == errcompact.Continue("the key is called id")
    assert run.gate() is None
    assert "OPERATOR: the key is called id" in run.digest()


def test_the_run_that_the_application_has_opened_is_the_run(ledger: Ledger, ends: Ends) -> None:
    """It is bound to the id where that is first seen, also for hooks of other threads, and ends with its block."""
    registry = RunRegistry(ledger=ledger)
    seen: list[errcompact.Run] = []
    with errcompact.run("mine", ledger=ledger) as mine:
        assert registry.of("t1") is mine
        thread = threading.Thread(target=lambda: seen.append(registry.of("t1")))
        thread.start()
        thread.join()
        registry.end("t1")
        assert ends.results == []
        assert registry.of("t1") is mine
    assert seen == [mine]
    assert ends.results == [("mine", "", "clean")]
    assert registry.of("t1").run_id == "t1"


def test_the_runs_that_nobody_ends_are_bounded() -> None:
    """The least recently used one ends, and is counted as it was."""
    ledger, ends = Ledger(Options(memory=MemoryLimits(runs=2))), Ends()
    ledger.listeners.add(ends)
    registry = RunRegistry(ledger=ledger)
    for run_id in ("t1", "t2", "t1", "t3"):
        registry.of(run_id)
    assert ends.results == [("t2", "", "clean")]
    for run_id in ("t4", "t5"):
        registry.of(run_id)
    assert [run_id for run_id, _, _ in ends.results] == ["t2", "t1", "t3"]
    assert registry.report("t2").result == "clean"


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_a_child_process_starts_with_no_runs(ledger: Ledger) -> None:
    """Its ledger is empty after the fork, so that runs must be opened again."""
    registry = RunRegistry(ledger=ledger)
    before = registry.of("t1")
    child = os.fork()
    if child == 0:
        os._exit(0 if registry.of("t1") is not before else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        pytest.param(True, errcompact.Continue(), id="yes"),
        pytest.param(False, errcompact.Halt("a human said no"), id="no"),
        pytest.param("Halt", errcompact.Halt(), id="word"),
        pytest.param("look in the cellar", errcompact.Continue("look in the cellar"), id="text"),
        pytest.param({"action": "pause", "message": "later"}, errcompact.Pause("later"), id="mapping"),
        pytest.param({"action": "continue"}, errcompact.Continue(), id="mapping without a message"),
        pytest.param(errcompact.Halt("no"), errcompact.Halt("no"), id="action"),
    ],
)
def test_what_a_human_replies_in_a_framework_s_dialogue(ledger: Ledger, reply: object, action: object) -> None:
    """Frameworks hand back what people said in many shapes."""
    run = RunRegistry(ledger=ledger).of("t1")
    breach(run)
    assert run.answer(reply) == action


@pytest.mark.parametrize("reply", [None, 7, {"action": "sleep"}, {}])
def test_a_reply_that_means_nothing_is_refused(ledger: Ledger, reply: object) -> None:
    """The error says what may be said."""
    run = RunRegistry(ledger=ledger).of("t1")
    with pytest.raises(ConfigurationError, match=r"answer Halt\(\), Continue\(\) or Pause\(\), yes or no"):
        run.answer(reply)


def test_a_leg_with_an_id_of_its_own_goes_on_with_the_run_that_waits(ledger: Ledger) -> None:
    """It is the same run, its report is found under both ids, and it ends with the leg that ends it."""
    registry = RunRegistry(ledger=ledger, on_escalation=lambda _: errcompact.Pause())
    first = registry.of("first")
    breach(first)
    first.gate()
    registry.end("first")

    second = registry.of("second", resumes="first")
    assert (second is first, second.verdict.standing) == (True, "pause")
    second.answer("it was emptied")
    registry.end("second")

    assert [registry.report(run_id).occurrences for run_id in ("first", "second")] == [3, 3]
    assert registry.of("first") is not first


def test_a_leg_of_a_run_that_nobody_knows_begins_one(ledger: Ledger) -> None:
    """As after a restart of the process."""
    assert RunRegistry(ledger=ledger).of("second", resumes="first").run_id == "second"


def test_an_invocation_begins_afresh(ledger: Ledger) -> None:
    """What an earlier invocation has left under the same id ends, and the new one counts from zero."""
    runs = RunRegistry(ledger=ledger, agent="shop", thresholds=HALTS)
    first = runs.begin("t1")
    breach(first)
    first.gate()
    second = runs.begin("t1")
    assert (first.port.is_closed, first.report().result, first.report().occurrences) == (True, "halted", 3)
    assert (second.port.is_closed, second.report().occurrences) == (False, 0)
    assert runs.of("t1") is second


def test_a_run_that_waits_ends_too(ledger: Ledger) -> None:
    """`end` leaves a run alone that waits for a human; an invocation after it says that nobody will answer."""
    runs = RunRegistry(ledger=ledger, on_escalation=lambda _: errcompact.Pause())
    first = runs.begin("t1")
    breach(first)
    first.gate()
    runs.end("t1")
    assert not first.port.is_closed
    assert runs.begin("t1") is not first
    assert first.port.is_closed


def test_the_applications_run_goes_on(ledger: Ledger) -> None:
    """Inside a run that the application has opened, each invocation belongs to that."""
    runs = RunRegistry()
    with errcompact.run("mine", ledger=ledger) as mine:
        assert runs.begin("t1") is mine
        assert runs.begin("t1") is mine
        assert not mine.port.is_closed


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        pytest.param({"agnt": "shop"}, "there is no setting 'agnt'; there are agent, on_escalation,", id="misspelt"),
        pytest.param({"on_escalation": "halt"}, "on_escalation is 'halt'; give it a function", id="no function"),
        pytest.param({"thresholds": {"same": 2}}, "thresholds is {'same': 2}; give it Thresholds(", id="no thresholds"),
    ],
)
def test_wrong_settings_are_named_at_once(settings: dict[str, Any], problem: str) -> None:
    """In a framework's hook it would be too late, and mostly nobody would see it."""
    with pytest.raises(ConfigurationError, match=re.escape(problem)):
        RunRegistry(**settings)


def test_a_run_with_wrong_thresholds_does_not_begin() -> None:
    """Or it would never escalate."""
    with pytest.raises(ConfigurationError, match="thresholds is 3"):
        errcompact.run(thresholds=3)  # type: ignore[arg-type]


def test_the_trace_of_a_framework_s_span_around_a_run_is_no_run_of_its_own(
    ledger: Ledger, ends: Ends, tracer_provider: TracerProvider
) -> None:
    """The span of the agent begins before any hook can open the run: it counts once."""
    processor = ErrorCompactionSpanProcessor(ledger)
    tracer_provider.add_span_processor(processor)
    registry = RunRegistry(ledger=ledger, tracer_provider=tracer_provider)
    tracer = tracer_provider.get_tracer("framework")
    agent = {"gen_ai.operation.name": "invoke_agent"}
    with tracer.start_as_current_span("invoke_agent shop", attributes=agent):
        registry.of("t1").begin_turn()
        registry.end("t1")
    with tracer.start_as_current_span("invoke_agent shop", attributes=agent):
        pass
    processor.shutdown()
    assert [result for _, _, result in ends.results] == ["clean", "clean"]
    assert ends.results[0][0] == "t1"


@pytest.mark.parametrize("mode", ["observe", "advise", "enforce"])
def test_the_mode_of_an_integration_is_its_own_setting_or_the_option(mode: Any) -> None:
    """The variable OTEL_ERRCOMPACT_MODE sets it for all of them."""
    ledger = Ledger(Options.from_environ({"OTEL_ERRCOMPACT_MODE": mode}))
    assert RunRegistry(ledger=ledger).mode == RunRegistry(ledger=ledger).of("r").port.mode == mode
    assert RunRegistry(ledger=ledger, mode="advise").mode == "advise"
