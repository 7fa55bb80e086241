"""One tool call: its span, its failure, and the agent's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from opentelemetry import trace

from otel_errcompact.boundary.answers import classify_answer, is_flagged
from otel_errcompact.boundary.arguments import as_exit_code, as_name, as_plain
from otel_errcompact.boundary.blocks import Block, discard_left_blocks
from otel_errcompact.boundary.recording import (
    TOOL_ERROR,
    Counted,
    claim_tool_span,
    counted_since,
    find_tool_span,
    mark_counted,
    span_ref,
)
from otel_errcompact.detector.operation import call_fingerprint, operation_of, runs_commands
from otel_errcompact.detector.results import classify_result
from otel_errcompact.digest import one_line
from otel_errcompact.engine.events import Refused
from otel_errcompact.errors import RawError
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.recorded import read_exception
from otel_errcompact.runtime.foreign import string_of
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from opentelemetry.trace import Span

    from otel_errcompact.boundary.scope import RunScope
    from otel_errcompact.engine.events import Observation


class Call:
    """
    One tool call of a run, for `with` and `async with`.

    An exception that leaves the block is a failure of the tool: it is kept whole on the span, counted, and swallowed,
    and `text` is what the agent reads. Control flow, such as cancellation or an approval request, passes untouched.
    A result that states a failure which the tool has not declared counts as one, and is marked as stated.

    A `with` block runs whatever `refused` holds. One that reads `refused` and sets no result has honoured it; every
    other block is taken for executed, and counts as what came of it.

    Args:
        scope: The run.
        tool: The tool's name.
        arguments: The arguments as JSON; empty if unknown.
        call_id: The id of the call.
        target: What the call is about, where the arguments do not tell; see `operation_of`.
        directory: The working directory of the call, where the arguments do not tell.
        began: The tick at which the agent asked for the call; when it is opened if 0.
        reraise: Let the exception pass after it was counted, for code that turns it into an answer itself.
        gated: Whether the call passes the run's gate first.
    """

    def __init__(  # noqa: PLR0913 - by name all of them
        self,
        scope: RunScope,
        *,
        tool: str,
        arguments: str,
        call_id: str,
        target: str = "",
        directory: str = "",
        began: int = 0,
        reraise: bool = False,
        gated: bool = True,
    ) -> None:
        self.scope: Final = scope
        """The run the call belongs to."""
        self.tool = as_name(tool, "the tool's name", scope.guard)
        self.call_id = as_name(call_id, "the id of the call", scope.guard)
        self.arguments = arguments
        self.result: object = None
        """What the tool returned; set it in the block."""
        self.exit_code: int | None = None
        """The exit status of a command; set it in the block, and the result is judged by it."""
        self.failure: Observation | None = None
        """What became of the failure, if this call was the one that counted it."""
        self.is_open = False
        """Whether the call is under way."""
        self._reraise = reraise
        self._gated = gated
        self._error: RawError | None = None
        self._counted: Counted | None = None
        self.is_ignored = False
        """Whether the call was neither a failure nor a success, as one that its user has declined."""
        self._is_executed_elsewhere = False
        self._is_recorded_elsewhere = False
        self._says_success = False
        self._stays = False
        """Whether the result of a stated failure stays as it is: its status or its framework calls it a success."""
        self._guidance = ""
        self._opened_at = 0
        self._closed_at = 0
        self._began = began
        self._directory = directory
        self._fingerprint = ""
        self._refusal = ""
        self._refusal_was_read = False
        self._span: Span = trace.INVALID_SPAN
        self._target = target
        self._block: Block

    @property
    def run_id(self) -> str:
        """The id of the run the call belongs to."""
        return self.scope.run_id

    @property
    def failed(self) -> bool:
        """Whether the call failed or was refused."""
        return bool(self._error or self._refusal)

    @property
    def compacted(self) -> bool:
        """Whether the agent reads `text` in place of the result."""
        return self.failed and not (self.scope.only_observes or self._stays)

    @property
    def refused(self) -> str:
        """Why this identical call must not be executed; empty if it may."""
        self._refusal_was_read = self._refusal_was_read or self.is_open
        return self._refusal

    @property
    def text(self) -> str:
        """
        The agent's text: the result or a digest, never a raw traceback.

        Behind it stands, once, what an operator has answered to an escalation.
        """
        if not self._guidance and not self.is_open:
            self._guidance = self.scope.take_guidance(self._closed_at)
        return f"{self._render_text()}\n{self._guidance}" if self._guidance else self._render_text()

    def _render_text(self) -> str:
        if self._stays:
            return string_of(self.result)
        if self._counted is not None:
            return self._counted.text
        if self._error is not None:
            return one_line(f"[{self._error.type or TOOL_ERROR}] {self._error.message or self._error.text}")
        return self._refusal or string_of(self.result)

    def fail(
        self,
        text: BaseException | str,
        *,
        type: str = "",  # noqa: A002 - the attribute's name
        message: str = "",
        exit_code: int | None = None,
    ) -> None:
        """
        Declare that the tool's answer is an error.

        Args:
            text: The whole answer, or the exception that the tool has failed with.
            type: What the tool calls the error, if it has a name for it.
            message: The message, where the tool gives it apart from the text.
            exit_code: The exit status of a command.
        """
        exit_code = as_exit_code(self.exit_code if exit_code is None else exit_code, self.scope.guard)
        if not isinstance(text, BaseException):
            text = as_plain(text, "the text of a failure", self.scope.guard)
            self._error = self._build_raw_error(text=text, type=type, message=message, exit_code=exit_code)
            return
        seen = read_exception(text)
        self._error = self._build_raw_error(
            text=seen.text,
            type=type or seen.type,
            message=message or seen.message,
            exit_code=exit_code,
            exception=text,
            messages=seen.messages,
        )

    def conclude(
        self,
        error: BaseException | str | None,
        result: object,
        *,
        error_type: str = "",
        says_success: bool = False,
        is_recorded: bool = False,
    ) -> None:
        """
        Settle a call that was executed elsewhere, on its open span.

        Args:
            error: What it failed with: the exception, or the text of an answer that is an error.
            result: What it returned, if it did not fail.
            error_type: What the framework calls the error of such a text, if it has a name for it.
            says_success: Whether the framework itself says that it succeeded, so that more is needed to doubt it.
            is_recorded: Whether other telemetry holds it, that of the current span if there is one, and none of ours
                is to be made.
        """
        with self.scope.at_boundary:
            self._is_executed_elsewhere, self._says_success = True, says_success
            self._is_recorded_elsewhere = is_recorded
            self.result = result
            if not isinstance(error, BaseException) and isinstance(error, str):
                exit_code = as_exit_code(self.exit_code, self.scope.guard)
                judged = classify_result(
                    error, tool=self.tool, arguments=self.arguments, flagged=True, exit_code=exit_code
                )
                if judged.outcome == "failure":
                    self.fail(error, type=error_type)
                self._conclude_call(None, control=judged.outcome == "ignored")
            else:
                self._conclude_call(error, control=error is not None and self.scope.is_control_flow(error))
        self._closed_at = self.scope.mark_closed_call()

    def __enter__(self) -> Self:
        if self._gated and (stop := self.scope.gate()) is not None:
            raise stop
        self._open_call()
        return self

    async def __aenter__(self) -> Self:
        if self._gated and (stop := await self.scope.agate()) is not None:
            raise stop
        self._open_call()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> bool:
        swallowed = self._close_call(error)
        self.scope.ask_handler()
        return swallowed

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> bool:
        swallowed = self._close_call(error)
        await self.scope.aask_handler()
        return swallowed

    def _open_call(self) -> None:
        self.is_open = True
        scope = self.scope
        discard_left_blocks()
        self._block = block = Block(scope, self, is_call=True)
        try:
            with scope.at_boundary:
                self._opened_at = scope.next_sequence()
                self._began = self._began or scope.mark_request()
                if scope.ledger.may_refuse(scope.run_id):
                    self._refusal = scope.ledger.refusal(self._as_refused())
                self._span = self._start_span()
            block.enter(self._span)
        except BaseException:  # an interrupt: the block is not entered, and so never left
            block.leave()
            self._span.end()
            raise

    def _start_span(self) -> Span:
        span = self.scope.tracer.start_span(f"{semconv.SPAN_TOOL} {self.tool}", attributes=self._build_attributes())
        self.scope.bind(span)
        return span

    def _build_attributes(self) -> dict[str, str]:
        scope = self.scope
        attributes = {semconv.GEN_AI_OPERATION_NAME: semconv.SPAN_TOOL}
        if self.tool:
            attributes[semconv.GEN_AI_TOOL_NAME] = self.tool
        if conversation := scope.conversation:
            attributes[semconv.GEN_AI_CONVERSATION_ID] = conversation
        if scope.agent:
            attributes[semconv.GEN_AI_AGENT_NAME] = scope.agent
        if self.call_id:
            attributes[semconv.GEN_AI_TOOL_CALL_ID] = self.call_id
        return attributes

    def _identify_call(self) -> str:
        self._fingerprint = self._fingerprint or call_fingerprint(self.tool, self.arguments, self._directory)
        return self._fingerprint

    def _close_call(self, error: BaseException | None) -> bool:
        self.is_open = False
        self._block.leave()
        control = True
        with self.scope.at_boundary:
            if self._refusal:
                self._count_refusal(error)
            control = error is not None and self.scope.is_control_flow(error)
            self._conclude_call(error, control=control)
            if self.failed:
                claim_tool_span(self.tool, self.call_id, self._counted.key if self._counted else "")
        self._closed_at = self.scope.mark_closed_call()
        return error is not None and not control and not self._reraise

    def _count_refusal(self, error: BaseException | None) -> None:
        # What was executed is never called refused.
        returned = self.result is not None and self.result != self._refusal
        executed = returned or error is not None or self._error is not None
        if executed or not self._refusal_was_read:
            self._refusal = ""
            return
        self._span.set_attribute(semconv.OUTCOME, semconv.REFUSED)
        self.scope.ledger.refuse(self._as_refused())

    def _as_refused(self) -> Refused:
        scope = self.scope
        return Refused(
            run_id=scope.run_id,
            agent=scope.agent,
            tool=self.tool,
            arguments=self.arguments,
            directory=self._directory,
            call=self._identify_call(),
            began=self._began,
            time_ns=scope.clock_ns(),
        )

    def _conclude_call(self, error: BaseException | None, *, control: bool) -> None:
        if error is not None and not control:
            seen = read_exception(error)
            self._error = self._build_raw_error(
                text=seen.text, type=seen.type, message=seen.message, exception=error, messages=seen.messages
            )
        self._settle_outcome(control or (error is None and self._classify_result() == "ignored"))

    def _classify_result(self) -> str:
        # A tool may report no failure, and its answer give one away: that becomes this call's error.
        exit_code = None if self.exit_code is None else as_exit_code(self.exit_code, self.scope.guard)
        if self._error is not None or self._refusal:
            return ""
        flagged = is_flagged(self.result)
        if not flagged and exit_code is None and not self.scope.ledger.options.hidden_failures:
            return ""
        classified = classify_answer(
            self.result,
            tool=self.tool,
            arguments=self.arguments,
            exit_code=exit_code,
            flagged=flagged,
            says_success=self._says_success,
        )
        if classified is None:
            return ""
        verdict, text = classified
        if verdict.outcome == "failure":
            self._error = self._build_raw_error(text=text, exit_code=exit_code, stated=verdict.stated)
            shows_success = exit_code == 0 or (self._says_success and runs_commands(self.tool, self.arguments))
            self._stays = bool(verdict.stated) and shows_success
        return verdict.outcome

    def _settle_outcome(self, control: bool) -> None:
        mine = not self._is_executed_elsewhere
        self.is_ignored = control and self._error is None
        if not mine:
            self.scope.settle_call(self.call_id)
            if self._error is not None and self._span is trace.INVALID_SPAN and not self._is_recorded_elsewhere:
                mine, self._span = True, self._start_span()
                self._error = replace(self._error, span=span_ref(self._span))
        try:
            if self._error is not None:
                self._counted = self._count_failure(self._error)
            elif not control and not self._refusal:
                if self.arguments:  # unknown ones are identical to none
                    at = self._directory or self._target
                    self.scope.note_success((self.tool, self.arguments, at), self.result, self._began)
                self.scope.ledger.succeed(
                    self.scope.run_id,
                    self.tool,
                    arguments=self.arguments,
                    target=self._target,
                    agent=self.scope.agent,
                    began=self._began,
                    directory=self._directory,
                )
        finally:
            if self._error is not None:
                key, kind = (self._counted.key, self._counted.type) if self._counted else ("", "")
                if not self._is_recorded_elsewhere:
                    self.scope.recorder.record(self._span, self._error, key, kind)
                self._error = self._error.without_exception()  # a call may be kept for long
            if mine:
                self._span.end()

    def _count_failure(self, raw: RawError) -> Counted:
        passed_on = self._find_passed_on(raw)
        if passed_on is not None:
            return passed_on
        self.failure = self.scope.observe(raw).without_exception()
        if self.failure.escalation is not None:
            self._span.set_attribute(semconv.THRESHOLD, self.failure.escalation.threshold)
        found, text = self.failure.found, self.failure.text
        at = self.scope.next_sequence()
        counted = Counted(
            self.run_id, at, found.key, text, concluded=self._is_executed_elsewhere, type=found.facts.type
        )
        self.scope.digests.add(counted)
        if raw.exception is not None:
            mark_counted(raw.exception, counted)
        return counted

    def _find_passed_on(self, raw: RawError) -> Counted | None:
        error = raw.exception
        if error is None:
            return self.scope.digests.find(raw.text, self._opened_at, once=self._is_executed_elsewhere)
        counted = counted_since(error, self.run_id, self._opened_at)
        if counted is None or not self._is_executed_elsewhere:
            return counted
        mark_counted(error, counted._replace(concluded=True))
        return None if counted.concluded else counted

    def _build_raw_error(
        self,
        *,
        text: str,
        type: str = "",  # noqa: A002 - the attribute's name
        message: str = "",
        exit_code: int | None = None,
        exception: BaseException | None = None,
        messages: Mapping[int, str] | None = None,
        stated: str = "",
    ) -> RawError:
        if self._is_recorded_elsewhere:
            self._span = trace.get_current_span()
        elif self._is_executed_elsewhere:
            self._span = find_tool_span(self.tool, self.call_id)
        return RawError(
            text=text,
            exception=exception,
            messages=messages,
            type=type,
            message=message,
            exit_code=exit_code,
            stated=stated,
            tool=self.tool,
            operation=operation_of(self.tool, self.arguments, target=self._target),
            began=self._began,
            directory=self._directory,
            fingerprint=self._identify_call(),
            call_id=self.call_id,
            arguments=self.arguments,
            agent=self.scope.agent,
            time_ns=self.scope.clock_ns(),
            span=span_ref(self._span),
        )
