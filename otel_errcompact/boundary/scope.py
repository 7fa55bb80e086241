"""The state of one run, under its calls, `Run` and `Port`."""

from __future__ import annotations

import itertools
import time
import uuid
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypedDict

from opentelemetry import trace

from otel_errcompact.boundary.arguments import as_name
from otel_errcompact.boundary.gate import Gate
from otel_errcompact.boundary.recording import HandedOutDigests, Recorder, counted_by_span, counted_since, span_ref
from otel_errcompact.boundary.rows import TOLD_FROM, IdenticalSuccesses
from otel_errcompact.detector.control_flow import is_control_flow
from otel_errcompact.digest import one_line
from otel_errcompact.engine.events import Repeated, Resumed
from otel_errcompact.errors import Operation, RawError
from otel_errcompact.escalator.actions import Continue, Halt, Pause, name_action, read_action
from otel_errcompact.escalator.thresholds import MODES, Thresholds
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.installation.install import current_ledger, current_logger_provider, current_tracer_provider
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.otel.spans.recorded import read_exception

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from opentelemetry.trace import Span, Tracer, TracerProvider

    from otel_errcompact.engine.events import Observation
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.state import EndedRun, Verdict
    from otel_errcompact.escalator.actions import Action, FinalText, Handler
    from otel_errcompact.escalator.escalation import Escalation
    from otel_errcompact.escalator.exceptions import RunHalted
    from otel_errcompact.escalator.thresholds import Mode


class RunSettings(TypedDict, total=False):
    """
    The settings of a run; each is described at `otel_errcompact.run`.
    """

    agent: str
    on_escalation: Handler | None
    final_text: FinalText
    thresholds: Thresholds | None
    mode: Mode | None
    ledger: Ledger | None
    tracer_provider: TracerProvider | None


class RunScope:
    """
    One run: its identity, services and gate, and its digests.

    Args:
        run_id: The run's id; a random one if empty.
        clock_ns: Nanoseconds since the epoch.
        stoppable: Whether the run has an agent that can be stopped; a server has none.
        settings: As for `otel_errcompact.run`.

    Raises:
        ConfigurationError: There is no such setting, or it is not what it should be.
    """

    def __init__(
        self,
        run_id: str = "",
        *,
        clock_ns: Callable[[], int] = time.time_ns,
        stoppable: bool = True,
        **settings: Unpack[RunSettings],
    ) -> None:
        check_settings(settings)
        self.ledger: Final = settings.get("ledger") or current_ledger()
        self.guard: Final = self.ledger.guard
        self.at_boundary: Final = self.guard.stage("boundary")
        """Keeps faults of a boundary away from the application."""
        self._at_gate: Final = self.guard.stage("gate")
        self.run_id = as_name(run_id, "the id of a run", self.guard) or uuid.uuid4().hex
        self.agent = as_name(settings.get("agent", ""), "the agent's name", self.guard)
        self.clock_ns: Final = clock_ns
        self.tracer: Final[Tracer] = _tracer_of(settings.get("tracer_provider") or current_tracer_provider())
        self.recorder: Final = Recorder(
            self.ledger.options.telemetry.exception_signal, current_logger_provider(), self.guard
        )
        self.digests: Final = HandedOutDigests()
        self._claims: Final = claims_of(self.ledger)
        self._claimed = (0, "")
        """The trace that was claimed last, and its name."""
        self.ended: EndedRun | None = None
        """What the run answers after its end; None before."""
        self.turn_began = 0
        """The tick at which the newest turn began; 0 before the first."""
        self._settings: Final = settings
        self.stoppable = stoppable
        """Whether the run has an agent that can be stopped."""
        final_text = settings.get("final_text", "")
        self._gate: Final = Gate(
            self.ledger, self.run_id, settings.get("on_escalation"), self._take_answer, final_text=final_text
        )
        self._span: Span = trace.INVALID_SPAN
        self._sequence: Final = itertools.count(1)
        self._guidance = ""
        self._successes: Final = IdenticalSuccesses()
        self._notice = ""
        self._newest_closed = 0

    @property
    def verdict(self) -> Verdict:
        """Whether the run may continue; after its end, the last verdict."""
        return self.ended.verdict if self.ended is not None else self._gate.verdict

    @property
    def mode(self) -> Mode:
        """What the library may do in the run."""
        return self._settings.get("mode") or self.ledger.options.mode

    @property
    def only_observes(self) -> bool:
        """Whether the agent reads what it would read without the library."""
        return self.mode == "observe"

    @property
    def is_closed(self) -> bool:
        """Whether the run has ended."""
        return self.ended is not None

    @property
    def conversation(self) -> str:
        """The id of the conversation that spans name; empty without one."""
        return self.run_id

    def open(self) -> None:
        """Begin the run, or begin it again after its end."""
        self.ended = None
        with self.at_boundary:
            self.ledger.open(
                self.run_id,
                agent=self.agent,
                thresholds=self._settings.get("thresholds"),
                mode=self._settings.get("mode"),
                asks=self._settings.get("on_escalation") is not None,
                stoppable=self.stoppable,
            )

    def let_stop(self) -> None:
        """Note that the run's agent can be stopped from now on."""
        self.stoppable = True
        self.open()

    def name_agent(self, agent: str) -> None:
        """Name the agent of a run that began without it."""
        self.agent = as_name(agent, "the agent's name", self.guard)

    def close(self, *, failed: bool = False) -> None:
        """End the run, which `failed` itself or not; its report is final."""
        with self.at_boundary:
            self.ended = self.ledger.close(self.run_id, failed=failed)

    def start_span(self) -> Span:
        """Start the span of the run and return it."""
        attributes = {
            semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_RUN,
            semconv.GEN_AI_AGENT_NAME: self.agent,
            semconv.GEN_AI_CONVERSATION_ID: self.run_id,
        }
        with self.at_boundary:
            known = {name: value for name, value in attributes.items() if value}
            self._span = self.tracer.start_span(f"{semconv.SPAN_RUN} {self.agent}".rstrip(), attributes=known)
        return self._span

    def end_span(self) -> None:
        """End the span of the run with its result."""
        with self.at_boundary:
            report = self.ended.report if self.ended is not None else self.ledger.report(self.run_id)
            self._span.set_attribute(semconv.RESULT, report.result)
            if report.escalations:
                self._span.set_attribute(semconv.ACTION, report.escalations[-1].action)
            self._span.end()

    def begin_turn(self) -> None:
        """Begin a turn of the agent; see `Run.begin_turn`."""
        self.turn_began = self.ledger.next_tick()
        self.claim_trace()

    def mark_request(self) -> int:
        """Return the tick of a request: the turn's or a new one."""
        return self.turn_began or self.ledger.next_tick()

    def claim_trace(self) -> None:
        """Count the trace around this run, a framework's, as no run."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return
        trace_id, name = self._claimed
        if context.trace_id != trace_id or not self._claims.is_trace_claimed(name):
            self._claimed = context.trace_id, trace.format_trace_id(context.trace_id)
            self._claims.claim_trace(self._claimed[1])

    def settle_call(self, call_id: str) -> None:
        """Record that a call is counted, so its span is not."""
        if call_id:
            self._claims.settle_call(call_id, self.clock_ns())

    def bind(self, span: Span) -> None:
        """Note the span that was started for a call of the run."""

    def is_control_flow(self, error: BaseException) -> bool:
        """Return whether an exception steers the program and is no failure."""
        return is_control_flow(error, self.ledger.options.control_flow)

    def observe(self, raw: RawError) -> Observation:
        """Count one failure of the run."""
        self._successes.end()
        observation = self._observe(raw)
        if (escalation := observation.escalation) is not None:
            self._span.set_attribute(semconv.THRESHOLD, escalation.threshold)
            self._span.set_attribute(semconv.CLASS, escalation.key)
        return observation

    def _observe(self, raw: RawError) -> Observation:
        return self.ledger.observe(self.run_id, raw)

    def observe_escaped(self, error: BaseException) -> None:
        """Count an exception that leaves the run, if nothing inside has."""
        if self.is_control_flow(error):
            return
        seen = read_exception(error)
        raw = RawError(
            text=seen.text,
            exception=error,
            messages=seen.messages,
            type=seen.type,
            message=seen.message,
            operation=Operation(semconv.SPAN_RUN),
            agent=self.agent,
            boundary=False,
            time_ns=self.clock_ns(),
            span=span_ref(self._span),
        )
        counted = counted_since(error, self.run_id, 0)
        key, kind = (counted.key, counted.type) if counted is not None else ("", "")
        if counted is None and not counted_by_span(error):
            found = self.observe(raw).found
            key, kind = found.key, found.facts.type
        self.recorder.record(self._span, raw, key, kind)

    def note_success(self, call: tuple[str, str, str], result: object, began: int) -> None:
        """Count a success that repeats the one before; `began` 0 is now."""
        closed = self.ledger.next_tick()
        times = self._successes.succeed(call, result, began=began or closed, closed=closed)
        if times > 1:
            self.ledger.apply(Repeated(run_id=self.run_id, tool=call[0], agent=self.agent))
        if times >= TOLD_FROM and not self.only_observes:
            self._notice = (
                f"{one_line(call[0], 80)}: this exact call has returned the same result {times} times in a row"
            )

    def next_sequence(self) -> int:
        """Return the next number in the order of calls and digests."""
        return next(self._sequence)

    def mark_closed_call(self) -> int:
        """Return the number of a call's end."""
        self._newest_closed = closed = next(self._sequence)
        return closed

    def take_guidance(self, closed_at: int = 0) -> str:
        """
        Return, once, the line with an operator's answer; empty without one.

        Args:
            closed_at: The number of the end of the call that shows it: only the newest call does; 0 for any.
        """
        if closed_at and closed_at < self._newest_closed:
            return ""
        line, self._guidance = self._guidance, ""
        return line

    def take_notice(self) -> str:
        """Return, once, what stands beside the newest result and never in it."""
        line, self._notice = self._notice, ""
        return line

    def gate(self) -> RunHalted | None:
        """Pass the gate; see `Run.gate`."""
        with self._at_gate:
            if self._is_quiet():
                return None
            return self._gate.stop() if self.ended is None else self._gate.stopped_by(self.ended.verdict)
        return None

    async def agate(self) -> RunHalted | None:
        """Pass the gate in asynchronous code."""
        with self._at_gate:
            if self._is_quiet():
                return None
            return await self._gate.astop() if self.ended is None else self._gate.stopped_by(self.ended.verdict)
        return None

    def make_halt(self, escalation: Escalation, reason: str) -> RunHalted:
        """Return what stops the run where only a question knows of it."""
        return self._gate.make_halt(escalation, reason)

    def ask_handler(self) -> None:
        """Ask the escalation handler about a breach without an answer."""
        with self._at_gate:
            if not self._is_quiet():
                self._gate.ask()

    async def aask_handler(self) -> None:
        """Ask the handler, also an asynchronous one, as `ask_handler` does."""
        with self._at_gate:
            if not self._is_quiet():
                await self._gate.aask()

    def _is_quiet(self) -> bool:
        return self.ended is None and self.ledger.is_quiet(self.run_id)

    def answer(self, reply: object) -> Action:
        """Answer the open escalation with a human's reply; see `Run.answer`."""
        action = read_action(reply)
        self.ledger.answer(self.run_id, action)
        self._gate.release()
        self._take_answer(action)
        return action

    def resume(self, message: str) -> None:
        """Let the run continue with fresh counters; see `Run.resume`."""
        with self.at_boundary:
            self.ledger.apply(Resumed(run_id=self.run_id, message=message))
            self._gate.release()
            self._take_answer(Continue(message))

    def _take_answer(self, action: Action | None) -> None:
        if action is None:
            self._guidance = "recorded for the operators"
            return
        self._span.set_attribute(semconv.ACTION, name_action(action))
        message = action.message if isinstance(action, Continue) else _ANSWERED[type(action)]
        self._guidance = f"OPERATOR: {one_line(message, self.ledger.options.digest.line_characters)}" if message else ""


_ANSWERED: Final[dict[type[Action], str]] = {
    Halt: "the run is stopped",
    Pause: "the run waits for a human",
}
"""What an answer without a message for the agent comes to."""


def _tracer_of(provider: TracerProvider) -> Tracer:
    known = _newest[0]
    if known is not None and known[0]() is provider:
        return known[1]
    tracer = trace.get_tracer(semconv.SCOPE, tracer_provider=provider)
    with suppress(TypeError):  # no weak reference is possible
        _newest[0] = weakref.ref(provider), tracer
    return tracer


_newest: Final[list[tuple[weakref.ref[TracerProvider], Tracer] | None]] = [None]
"""The tracer of the provider that runs used last: an SDK makes a new one each time, at the cost of two spans."""


def check_settings(settings: RunSettings) -> None:
    """
    Raise an error for wrong settings before a run needs them.

    Raises:
        ConfigurationError: There is no such setting, or it is not what it should be.
    """
    if unknown := sorted(set(settings) - set(RunSettings.__annotations__)):
        known = ", ".join(RunSettings.__annotations__)
        raise ConfigurationError(f"there is no setting {', '.join(map(repr, unknown))}; there are {known}")
    handler, thresholds, mode = (settings.get(name) for name in ("on_escalation", "thresholds", "mode"))
    if handler is not None and not callable(handler):
        raise ConfigurationError(f"on_escalation is {handler!r}; give it a function that takes an Escalation")
    final_text = settings.get("final_text", "")
    if not (isinstance(final_text, str) or callable(final_text)):
        raise ConfigurationError(f"final_text is {final_text!r}; give it a text or a function of an Escalation")
    if thresholds is not None and not isinstance(thresholds, Thresholds):
        raise ConfigurationError(f"thresholds is {thresholds!r}; give it Thresholds(same=..., loop=..., total=...)")
    if mode is not None and mode not in MODES:
        raise ConfigurationError(f"mode is {mode!r}; give it one of {', '.join(MODES)}")
