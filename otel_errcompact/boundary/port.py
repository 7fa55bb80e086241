"""A framework's face of a run: hooks, and calls executed elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from otel_errcompact.boundary.arguments import as_name, as_text
from otel_errcompact.boundary.call import Call
from otel_errcompact.boundary.recording import find_tool_span
from otel_errcompact.engine.events import Refused
from otel_errcompact.engine.ladder import explain_stop
from otel_errcompact.escalator.actions import Continue
from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.escalator.thresholds import ASKING
from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from otel_errcompact.boundary.arguments import Arguments
    from otel_errcompact.boundary.scope import RunScope
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.escalator.thresholds import Mode

Ask = Callable[[str], Awaitable[object]]
"""Asks a human a question, and returns the reply."""


class Port:
    """
    A run as its framework drives it: `run.port`.

    Args:
        scope: The run.
    """

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope
        self._asks_client = False

    @property
    def ledger(self) -> Ledger:
        """Where failures are counted."""
        return self._scope.ledger

    @property
    def mode(self) -> Mode:
        """What the library may do in the run."""
        return self._scope.mode

    @property
    def is_closed(self) -> bool:
        """Whether the run has ended."""
        return self._scope.is_closed

    @property
    def only_observes(self) -> bool:
        """Whether the agent reads what it would read without the library."""
        return self._scope.only_observes

    @property
    def has_turns(self) -> bool:
        """Whether a turn was ever begun."""
        return self._scope.turn_began > 0

    def open(self) -> None:
        """Begin the run without a `with` block; `close` ends it."""
        self._scope.open()

    def name_agent(self, agent: str) -> None:
        """Name the agent of a run that began without it."""
        self._scope.name_agent(agent)

    def close(self, *, failed: bool = False) -> None:
        """End the run, which `failed` itself or not; its report is final."""
        self._scope.close(failed=failed)

    def claim_trace(self) -> None:
        """Count the framework's trace around this run as no run."""
        self._scope.claim_trace()

    def mark_request(self) -> int:
        """Return the tick of a request: the turn's or a new one."""
        return self._scope.mark_request()

    def record_call(  # noqa: PLR0913 - by name all of them
        self,
        tool: str,
        *,
        arguments: Arguments = None,
        call_id: str = "",
        error: BaseException | str | None = None,
        error_type: str = "",
        result: object = None,
        began: int = 0,
        exit_code: int | None = None,
        directory: str = "",
        says_success: bool = False,
        is_recorded: bool = False,
    ) -> Call:
        """
        Count a call that the framework has executed, and return it.

        A failure is kept on the span that the framework has opened for the call, where that is the current one, and
        else on a span of its own. The escalation handler is not asked yet; that is for the next gate.

        Args:
            tool: The tool's name.
            arguments: The call's arguments.
            call_id: The id of the call.
            error: What it failed with: the exception, or the text of an answer that is an error.
            error_type: What the framework calls the error of such a text; a type that the text names goes before it.
            result: What it returned, if it did not fail.
            began: The tick at which the agent asked for it; that of the turn, or unknown, if 0.
            exit_code: The exit status of a command; what it returned is judged by it too.
            directory: The working directory of the call, where its arguments do not tell.
            says_success: Whether the framework itself says that it succeeded, so that more is needed to doubt it.
            is_recorded: Whether other telemetry holds the failure, that of the current span if there is one: no span
                or log record of ours is made.
        """
        call = Call(
            self._scope,
            tool=tool,
            arguments=as_text(arguments),
            call_id=call_id,
            began=began or self._scope.turn_began,
            directory=directory,
            gated=False,
        )
        call.exit_code = exit_code
        call.conclude(error, result, error_type=error_type, says_success=says_success, is_recorded=is_recorded)
        return call

    def settle_call(self, call_id: str) -> None:
        """Record that a call is counted, so its span is not."""
        self._scope.settle_call(call_id)

    def refuse(
        self, tool: str, *, arguments: Arguments = None, call_id: str = "", began: int = 0, directory: str = ""
    ) -> str:
        """
        Return why a call must not be executed; empty if it may.

        Call it once for each call, since a run that insists on a refused one escalates.

        Args:
            tool: The tool's name.
            arguments: The call's arguments.
            call_id: The id of the call.
            began: The tick at which the agent asked for it; that of the turn, or now, if 0.
            directory: The working directory of the call, where its arguments do not tell.
        """
        scope = self._scope
        with scope.at_boundary:
            tool = as_name(tool, "the tool's name", scope.guard)
            if not scope.ledger.may_refuse(scope.run_id):
                return ""
            refusal = scope.ledger.refuse(
                Refused(
                    run_id=scope.run_id,
                    tool=tool,
                    arguments=as_text(arguments),
                    agent=scope.agent,
                    directory=directory,
                    began=began or scope.turn_began,
                    time_ns=scope.clock_ns(),
                )
            )
            return self._mark_refused(refusal, tool, call_id)
        return ""

    async def arefuse(self, tool: str, *, arguments: Arguments = None, began: int = 0, ask: Ask | None = None) -> str:
        """
        Return why a server must not execute a call; empty otherwise.

        A server has no agent to stop, and the library disables none of its tools. Where the escalation handler, or a
        human at the client, has answered `Halt` or `Pause`, the tool that failed is refused until `resume`, and every
        tool where the threshold was not about one class of errors.

        Args:
            tool: The tool's name.
            arguments: The call's arguments.
            began: The tick at which the agent asked for it; that of the turn, or now, if 0.
            ask: Asks a human at the client, where the run waits for one, and returns the reply as `Run.answer` takes
                it; None without a reply.
        """
        stop = await self._scope.agate()
        if isinstance(stop, RunPaused) and ask is not None and not self._asks_client:
            self._asks_client = True
            try:
                reply = await ask(stop.escalation.reached)
            finally:
                self._asks_client = False
            action = self._scope.answer(reply) if reply is not None else None
            if isinstance(action, Continue) and action.message:
                return self._mark_refused(f"NOT EXECUTED: a human has answered: {action.message}", tool)
            stop = await self._scope.agate()
        if stop is None or (stop.escalation.threshold in ASKING and stop.escalation.tool != tool):
            return self.refuse(tool, arguments=arguments, began=began)
        return self._mark_refused(f"NOT EXECUTED: {explain_stop(stop.escalation, stop.reason)}", tool)

    def _mark_refused(self, text: str, tool: str, call_id: str = "") -> str:
        if text:
            self._scope.settle_call(call_id)
            span = find_tool_span(tool, call_id)
            span.set_attribute(semconv.OUTCOME, semconv.REFUSED)
            span.set_attribute(semconv.GEN_AI_TOOL_NAME, tool)  # for a span around it, of a client
        return text

    def make_halt(self, escalation: object, reason: str) -> RunHalted:
        """Return what stops a run whose escalation a human's question holds."""
        return self._scope.make_halt(Escalation.model_validate(escalation), reason)

    def has_digest(self, text: str) -> bool:
        """Return whether an error only quotes a digest of the run."""
        return self._scope.digests.find(text) is not None

    def take_guidance(self) -> str:
        """
        Return, once, what stands beside results; empty without any.

        It is an operator's answer, or that an identical call repeats its success.
        """
        return "\n".join(filter(None, (self._scope.take_guidance(), self.take_notice())))

    def take_notice(self) -> str:
        """Return, once, that an identical call repeats its success, or nothing."""
        return self._scope.take_notice()

    def ask_handler(self) -> None:
        """Ask the escalation handler about a breach without an answer."""
        self._scope.ask_handler()

    async def aask_handler(self) -> None:
        """Ask the handler, also an asynchronous one, as `ask_handler` does."""
        await self._scope.aask_handler()
