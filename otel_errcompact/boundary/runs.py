"""One agent run: the public way to wrap tool calls."""

from __future__ import annotations

import itertools
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, overload

from opentelemetry import trace

from otel_errcompact.boundary.arguments import as_name, as_text
from otel_errcompact.boundary.call import Call
from otel_errcompact.boundary.entered import Entered, current_call, forget_left
from otel_errcompact.boundary.functions import execute
from otel_errcompact.boundary.gate import Gate
from otel_errcompact.boundary.recording import (
    Recorder,
    counted_by_span,
    counted_since,
    span_ref,
    tool_span,
)
from otel_errcompact.detector.results import is_control_flow
from otel_errcompact.digest import one_line
from otel_errcompact.errors import Operation, RawError
from otel_errcompact.escalator.actions import Continue, action_name, action_of
from otel_errcompact.escalator.exceptions import RunPaused
from otel_errcompact.escalator.thresholds import ASKING, MODES, Mode, Thresholds
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.history.history import SHORT_LENGTH
from otel_errcompact.installation.install import current_ledger, current_logger_provider, current_tracer_provider
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.otel.spans.recorded import read_exception

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from opentelemetry.trace import Span, Tracer, TracerProvider

    from otel_errcompact.boundary.arguments import Arguments
    from otel_errcompact.boundary.recording import Counted
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.observations import EndedRun, Observation, Verdict
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.escalator.actions import Action, Handler
    from otel_errcompact.escalator.exceptions import RunHalted
    from otel_errcompact.runtime.guard import Guard

P = ParamSpec("P")
R = TypeVar("R")

Ask = Callable[[str], Awaitable[object]]
"""Asks a human a question, and returns the reply."""

REFUSED: Final = "refused"
MAX_DIGESTS: Final = 16
"""Digests of a run that are recognised when they come back."""


class Run:
    """
    One agent run (conversation, task): the scope of history, thresholds and digest.

    Use it as `with errcompact.run() as run:` or `async with errcompact.run() as run:`.

    Args:
        run_id: The run's id, such as the conversation's; a random one if empty.
        agent: The agent's name.
        on_escalation: Answers an escalation with `Halt`, `Continue` or `Pause`; may be asynchronous. Without one the
            run halts.
        thresholds: When this run escalates; the options' thresholds if None.
        mode: What the library may do, `observe`, `advise` or `enforce`; the options' mode if None.
        ledger: Where failures are counted; the installed one if None.
        tracer_provider: Where the spans go; the installed or the global provider if None.
        clock_ns: Nanoseconds since the epoch.
        stoppable: Whether the run has an agent that can be stopped; a server has none.
    """

    def __init__(  # noqa: PLR0913 - by name all of them
        self,
        run_id: str = "",
        *,
        agent: str = "",
        on_escalation: Handler | None = None,
        thresholds: Thresholds | None = None,
        mode: Mode | None = None,
        ledger: Ledger | None = None,
        tracer_provider: TracerProvider | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
        stoppable: bool = True,
    ) -> None:
        check_settings(on_escalation, thresholds, mode)
        self.ledger: Final = ledger or current_ledger()
        self.run_id = as_name(run_id, "the id of a run", self.guard) or uuid.uuid4().hex
        self.agent: Final = as_name(agent, "the agent's name", self.guard)
        self.clock_ns: Final = clock_ns
        self.tracer: Final[Tracer] = trace.get_tracer(
            semconv.SCOPE, tracer_provider=tracer_provider or current_tracer_provider()
        )
        self.recorder: Final = Recorder(
            self.ledger.options.telemetry.exception_signal, current_logger_provider(), self.guard
        )
        self._thresholds = thresholds
        self._mode: Mode | None = mode
        self._asks = on_escalation is not None
        self._stoppable = stoppable
        self._gate = Gate(self.ledger, self.run_id, on_escalation, self._take)
        self._span: Span = trace.INVALID_SPAN
        self._ended: EndedRun | None = None
        self._ticks = itertools.count(1)
        self._asking = False
        self._guidance = ""
        self._turn_began = 0
        self._newest_closed = 0
        self._digests: Final[deque[Counted]] = deque(maxlen=MAX_DIGESTS)

    @property
    def guard(self) -> Guard:
        """What keeps our own faults away from the application."""
        return self.ledger.guard

    @property
    def verdict(self) -> Verdict:
        """Whether the run may go on, and why not; after its end, what it was then."""
        return self._ended.verdict if self._ended is not None else self._gate.verdict

    @property
    def mode(self) -> Mode:
        """What the library may do in this run."""
        return self._mode or self.ledger.options.mode

    @property
    def only_observes(self) -> bool:
        """Whether the agent reads what it would read without the library."""
        return self.mode == "observe"

    @property
    def has_turns(self) -> bool:
        """Whether a turn was ever begun."""
        return self._turn_began > 0

    def begin_turn(self) -> None:
        """
        Begin a turn of the agent: call it each time before the model is asked.

        The model has then read all that the calls so far came to. Calls that are made until the next turn begins were
        asked for together, and what several of them fail with counts once. Where no turn is ever begun, a failure
        counts if its call began after the class was last shown.
        """
        self._turn_began = self.ledger.tick()
        self.claim_trace()

    def claim_trace(self) -> None:
        """Note that the trace of the current span, such as a framework's around this run, is no run of its own."""
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            claims_of(self.ledger).claim_trace(trace.format_trace_id(context.trace_id))

    def asked_at(self) -> int:
        """Return when the agent asked for a call that begins now: with the turn, or where none is begun, now."""
        return self._turn_began or self.ledger.tick()

    def tool(
        self,
        name: str,
        *,
        arguments: Arguments = None,
        call_id: str = "",
        target: str = "",
        directory: str = "",
        began: int = 0,
        reraise: bool = False,
        gated: bool = True,
    ) -> Call:
        """
        Wrap one tool call: `with run.tool("db.query", arguments={...}) as call:`, or `async with`.

        Args:
            name: The tool's name.
            arguments: The call's arguments; without them identical calls cannot be recognised, and so not refused.
            call_id: The id of the call.
            target: What the call is about (a file, a test, a table), where its arguments do not tell; failures of one
                target are not resolved by the success of another.
            directory: The working directory of the call, where its arguments do not tell.
            began: The tick at which the agent asked for it; that of the turn, or now, if 0.
            reraise: Let an exception go on after it was counted.
            gated: Whether the call passes the gate first. Frameworks that run calls side by side pass it before the
                model is asked, where no call is under way.

        Raises:
            RunHalted: On entry, when the run was stopped; `RunPaused` when it waits for a human.
        """
        return Call(
            self,
            tool=name,
            arguments=as_text(arguments),
            call_id=call_id,
            target=target,
            directory=directory,
            began=began,
            reraise=reraise,
            gated=gated,
        )

    def executed(
        self,
        tool: str,
        *,
        arguments: Arguments = None,
        call_id: str = "",
        error: BaseException | str | None = None,
        result: object = None,
        began: int = 0,
    ) -> Call:
        """
        Take note of a tool call that a framework has executed itself, and return it: `call.text` is for the agent.

        What failed is kept on the span that the framework has opened for the call, where that is the current one, and
        else on a span of its own. Nobody is asked about an escalation yet; that is for the next gate.

        Args:
            tool: The tool's name.
            arguments: The call's arguments.
            call_id: The id of the call.
            error: What it failed with: the exception, or the text of an answer that is an error.
            result: What it returned, if it did not fail.
            began: The tick at which the agent asked for it; that of the turn, or unknown, if 0.
        """
        call = Call(
            self,
            tool=tool,
            arguments=as_text(arguments),
            call_id=call_id,
            began=began or self._turn_began,
            gated=False,
        )
        call.conclude(error, result)
        return call

    def refusal(self, tool: str, *, arguments: Arguments = None, call_id: str = "", began: int = 0) -> str:
        """
        Return why a call must not be made, for frameworks that make it themselves; empty if it may.

        It is asked once for each call, since a run that insists on a refused one escalates.

        Args:
            tool: The tool's name.
            arguments: The call's arguments.
            call_id: The id of the call.
            began: The tick at which the agent asked for it; that of the turn, or now, if 0.
        """
        with self.guard.stage("boundary"):
            tool = as_name(tool, "the tool's name", self.guard)
            refusal = self.ledger.refuse(
                self.run_id,
                tool,
                as_text(arguments),
                agent=self.agent,
                began=began or self._turn_began,
                now_ns=self.clock_ns(),
            )
            return self._refused(refusal, tool, call_id)
        return ""

    async def arefusal(self, tool: str, *, arguments: Arguments = None, began: int = 0, ask: Ask | None = None) -> str:
        """
        Return why a server must not execute a call; empty if it may.

        A server has no agent to stop, and the library disables none of its tools. Where the escalation handler, or a
        human at the client, has answered `Halt` or `Pause`, the tool that failed is refused until `resume`, and every
        tool where the threshold was not about one class of errors.

        Args:
            tool: The tool's name.
            arguments: The call's arguments.
            began: The tick at which the agent asked for it; that of the turn, or now, if 0.
            ask: Asks a human at the client, where the run waits for one, and returns the reply as `answer` takes it;
                None where nobody has replied.
        """
        stop = await self.agate()
        if isinstance(stop, RunPaused) and ask is not None and not self._asking:
            self._asking = True
            try:
                reply = await ask(str(stop.escalation))
            finally:
                self._asking = False
            action = self.answer(reply) if reply is not None else None
            if isinstance(action, Continue) and action.message:
                return self._refused(f"NOT EXECUTED: a human has answered: {action.message}", tool)
            stop = await self.agate()
        if stop is None or (stop.escalation.threshold in ASKING and stop.escalation.tool != tool):
            return self.refusal(tool, arguments=arguments, began=began)
        told = (str(stop.escalation), stop.reason)
        return self._refused(f"NOT EXECUTED: {'; '.join(dict.fromkeys(told))}", tool)

    def _refused(self, text: str, tool: str, call_id: str = "") -> str:
        """Note on the framework's own span that nothing has failed there, whatever the framework makes of the text."""
        if text:
            claims_of(self.ledger).settle_call(call_id, self.clock_ns())
            span = tool_span(tool, call_id)
            span.set_attribute(semconv.OUTCOME, REFUSED)
            span.set_attribute(semconv.GEN_AI_TOOL_NAME, tool)  # a span around it, of a client, may tell of it again
        return text

    @overload
    def call(self, function: Callable[P, Awaitable[R]], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[R | str]: ...
    @overload
    def call(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | str: ...
    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """
        Call a function as a tool of its own name; its result is returned, or the compacted text if it failed.

        A coroutine function gives an awaitable of the same. An identical call that has failed too often is refused,
        not executed.

        Raises:
            RunHalted: The run was stopped; `RunPaused` when it waits for a human.
        """
        return execute(self, function, "", args, kwargs)

    def fail(
        self,
        text: BaseException | str,
        *,
        tool: str = "",
        arguments: Arguments = None,
        call_id: str = "",
        exit_code: int | None = None,
    ) -> str:
        """
        Declare that a tool's answer is an error, and return what the agent reads in its place.

        Inside `with run.tool(...)` and without `tool`, the call that is open has failed; its text is known when it
        ends, and an empty string is returned. Else this is one whole call.

        Args:
            text: The whole answer, or the exception that the tool has failed with.
            tool: The tool's name.
            arguments: The call's arguments.
            call_id: The id of the call.
            exit_code: The exit status of a command.
        """
        call = current_call()
        if not tool and call is not None and call.run_id == self.run_id:
            call.fail(text, exit_code=exit_code)
            return ""
        with self.tool(tool, arguments=arguments, call_id=call_id) as whole:
            whole.fail(text, exit_code=exit_code)
        return whole.text

    def digest(self) -> str:
        """Return the block of recent errors for the agent's next prompt; empty if there is nothing to say."""
        return self._ended.digest if self._ended is not None else self.ledger.digest(self.run_id)

    def raw(self, key: str) -> str | None:
        """Return the newest raw error of the class `key` (a prefix, as digests show it, is enough), or None."""
        return self._ended.raw(key) if self._ended is not None else self.ledger.raw(self.run_id, key)

    def forget_shown(self) -> None:
        """
        Have the next digest of each class say all again; call it when earlier messages were taken out of the context.

        A repeat only names its class, as long as the agent can look up in its context what that was.
        """
        self.ledger.forget_shown(self.run_id)

    def report(self) -> RunReport:
        """Return the account of the run: so far, or the final one once it has ended."""
        return self._ended.report if self._ended is not None else self.ledger.report(self.run_id)

    def resume(self, message: str = "") -> None:
        """Let a paused or halted run go on with fresh counters; the agent reads `message` in its next digest."""
        with self.guard.stage("boundary"):
            self.ledger.resume(self.run_id, message)
            self._gate.settled()
            self._take(Continue(message))

    def answer(self, reply: object) -> Action:
        """
        Settle the escalation that stands, with what a human has replied, and return what that was taken for.

        Args:
            reply: `Halt`, `Continue` or `Pause`; else what comes out of a framework's own dialogue: yes or no as a
                bool, a text for the agent to go on with, or a mapping with an `action` and a `message`.

        Raises:
            ConfigurationError: `reply` is none of these.
        """
        action = action_of(reply)
        self.ledger.answer(self.run_id, action)
        self._gate.settled()
        self._take(action)
        return action

    def check(self) -> None:
        """
        Pass the gate; call it before each step of the agent.

        Raises:
            RunHalted: The run was stopped; `RunPaused` when it waits for a human.
        """
        if (stop := self.gate()) is not None:
            raise stop

    async def acheck(self) -> None:
        """
        Pass the gate in asynchronous code, where an asynchronous escalation handler can be awaited.

        Raises:
            RunHalted: The run was stopped; `RunPaused` when it waits for a human.
        """
        if (stop := await self.agate()) is not None:
            raise stop

    def gate(self) -> RunHalted | None:
        """
        Pass the gate without raising, for frameworks that are stopped in a way of their own.

        Returns:
            What stops the run: `RunHalted`, or `RunPaused` if it waits for a human; None if it may go on.
        """
        with self.guard.stage("gate"):
            return self._gate.stop() if self._ended is None else self._gate.stopped_by(self._ended.verdict)
        return None

    async def agate(self) -> RunHalted | None:
        """Pass the gate in asynchronous code without raising; see `gate`."""
        with self.guard.stage("gate"):
            return await self._gate.astop() if self._ended is None else self._gate.stopped_by(self._ended.verdict)
        return None

    def observe(self, raw: RawError) -> Observation:
        """Count one failure of this run."""
        observation = self._observe(raw)
        if (escalation := observation.escalation) is not None:
            self._span.set_attribute(semconv.THRESHOLD, escalation.threshold)
            self._span.set_attribute(semconv.CLASS, escalation.key)
        return observation

    def _observe(self, raw: RawError) -> Observation:
        return self.ledger.observe(self.run_id, raw)

    def bind(self, span: Span) -> None:
        """Note the span that was started for a call of the run."""

    @property
    def conversation(self) -> str:
        """The id of the conversation that spans name; empty if there is none."""
        return self.run_id

    def remember(self, counted: Counted) -> None:
        """Remember a digest that was handed out, since it may come back as the error of a call around this one."""
        if f"#{counted.key[:SHORT_LENGTH]}" in counted.text:
            self._digests.append(counted)

    def digested(self, text: str, since: int, *, once: bool = False) -> Counted | None:
        """
        Return what was counted when a digest was made that `text` only passes on.

        Args:
            text: The text of an error.
            since: When the call began that has failed with it.
            once: Whether the digest is passed on with that. Where nobody knows when a call began, an error that quotes
                an earlier one again and again is a loop.
        """
        remembered = reversed(tuple(self._digests))  # other threads add to them meanwhile
        found = next((known for known in remembered if known.at > since and known.text in text), None)
        if found is not None and once:
            with suppress(ValueError):  # another thread was faster
                self._digests.remove(found)
        return found

    def tick(self) -> int:
        """Return the next number of a sequence that orders what happens in this run."""
        return next(self._ticks)

    def settle(self) -> None:
        """Ask the escalation handler about a breach that stands unanswered."""
        with self.guard.stage("gate"):
            self._gate.settle()

    async def asettle(self) -> None:
        """Ask the escalation handler, also an asynchronous one, about a breach that stands unanswered."""
        with self.guard.stage("gate"):
            await self._gate.asettle()

    @property
    def closed(self) -> bool:
        """Whether the run has ended."""
        return self._ended is not None

    def open(self) -> None:
        """Begin the run without a `with` block, for frameworks that begin and end it in hooks; `close` ends it."""
        self._ended = None
        with self.guard.stage("boundary"):
            self.ledger.open(
                self.run_id,
                agent=self.agent,
                thresholds=self._thresholds,
                mode=self._mode,
                asks=self._asks,
                stoppable=self._stoppable,
            )

    def close(self, *, failed: bool = False) -> None:
        """
        End the run; what it reports is final from now on.

        Args:
            failed: Whether the run itself has failed.
        """
        with self.guard.stage("boundary"):
            self._ended = self.ledger.close(self.run_id, failed=failed)

    def __enter__(self) -> Self:
        forget_left()
        self._entered = Entered(self)
        try:
            self.open()
            with self.guard.stage("boundary"):
                self._span = self.tracer.start_span(
                    f"{semconv.SPAN_RUN} {self.agent}".rstrip(), attributes=self._attributes()
                )
            self._entered.enter(self._span)
        except BaseException:  # an interrupt: the block is not entered, and so never left
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        try:
            self._entered.leave()
            with self.guard.stage("boundary"):
                if error is not None:
                    self._count(error)
        finally:
            self.close(failed=error is not None and not self._steers(error))
            with self.guard.stage("boundary"):
                report = self.report()
                self._span.set_attribute(semconv.RESULT, report.result)
                if report.escalations:
                    self._span.set_attribute(semconv.ACTION, report.escalations[-1].action)
                self._span.end()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, frames)

    def _count(self, error: BaseException) -> None:
        """Count an exception that leaves the run, unless something inside the run has counted it already."""
        if self._steers(error):
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
        known = counted is not None or counted_by_span(error)
        if counted is not None or known:
            key, kind = (counted.key, counted.type) if counted is not None else ("", "")
        else:
            found = self.observe(raw).found
            key, kind = found.key, found.facts.type
        self.recorder.record(self._span, raw, key, kind)

    def _steers(self, error: BaseException) -> bool:
        return is_control_flow(error, self.ledger.options.control_flow)

    def note_closed(self) -> int:
        """Note that a call has ended, and return when."""
        self._newest_closed = self.tick()
        return self._newest_closed

    def guidance(self, closed_at: int = 0) -> str:
        """
        Return, once, the line that holds what an operator has answered; empty if there is none.

        Args:
            closed_at: When the call ended whose text it is to stand behind: only the newest gets it; 0 is any.
        """
        if closed_at and closed_at < self._newest_closed:
            return ""
        said, self._guidance = self._guidance, ""
        return f"OPERATOR: {one_line(said, self.ledger.options.digest.line_characters)}" if said else ""

    def _take(self, action: Action) -> None:
        self._note(action)
        self._guidance = action.message if isinstance(action, Continue) else ""

    def _note(self, action: Action) -> None:
        self._span.set_attribute(semconv.ACTION, action_name(action))

    def _attributes(self) -> dict[str, str]:
        attributes = {
            semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_RUN,
            semconv.GEN_AI_AGENT_NAME: self.agent,
            semconv.GEN_AI_CONVERSATION_ID: self.run_id,
        }
        return {name: value for name, value in attributes.items() if value}


def run(
    run_id: str = "",
    *,
    agent: str = "",
    on_escalation: Handler | None = None,
    thresholds: Thresholds | None = None,
    mode: Mode | None = None,
    ledger: Ledger | None = None,
    tracer_provider: TracerProvider | None = None,
) -> Run:
    """
    Open one agent run: `with errcompact.run(agent="shop") as run:`, or `async with`.

    Args:
        run_id: The run's id, such as the conversation's; a random one if empty.
        agent: The agent's name.
        on_escalation: Answers an escalation with `Halt`, `Continue` or `Pause`; may be asynchronous. Without one the
            run goes on, and only loops halt it.
        thresholds: When this run escalates; the options' thresholds if None.
        mode: What the library may do, `observe`, `advise` or `enforce`; the options' mode if None.
        ledger: Where failures are counted; the installed one if None.
        tracer_provider: Where the spans go; the installed or the global provider if None.
    """
    return Run(
        run_id,
        agent=agent,
        on_escalation=on_escalation,
        thresholds=thresholds,
        mode=mode,
        ledger=ledger,
        tracer_provider=tracer_provider,
    )


def check_settings(on_escalation: object, thresholds: object, mode: object) -> None:
    """
    Say at once what is wrong with how a run is to end, and not when that is needed.

    Raises:
        ConfigurationError: One of them is not what it should be.
    """
    if on_escalation is not None and not callable(on_escalation):
        raise ConfigurationError(f"on_escalation is {on_escalation!r}; give it a function that takes an Escalation")
    if thresholds is not None and not isinstance(thresholds, Thresholds):
        raise ConfigurationError(f"thresholds is {thresholds!r}; give it Thresholds(same=..., loop=..., total=...)")
    if mode is not None and mode not in MODES:
        raise ConfigurationError(f"mode is {mode!r}; give it one of {', '.join(MODES)}")
