"""Pydantic AI: a capability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.boundary import RunRegistry
from otel_errcompact.escalator.actions import Halt
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.records import replace

with required("pydantic-ai-slim", "2.16.0", extra="pydantic_ai"):
    from pydantic_ai import DeferredToolResults, FunctionToolset, ModelRetry, Tool, ToolDenied, ToolFailed
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ToolFailedError, UnexpectedModelBehavior, UsageLimitExceeded, UserError
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart

if TYPE_CHECKING:
    from typing import Unpack

    from pydantic import ValidationError
    from pydantic_ai.capabilities.abstract import (
        NodeResult,
        RawToolArgs,
        ValidatedToolArgs,
        WrapModelRequestHandler,
        WrapRunHandler,
        WrapToolExecuteHandler,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import DeferredToolRequests, RunContext, ToolDefinition

    from otel_errcompact.boundary import Call, Run, RunSettings

ASK: Final = "ask_whether_to_go_on"
"""The tool that stands for the question to a human; the model is not told of it."""

ENDS_THE_RUN: Final = (UnexpectedModelBehavior, UsageLimitExceeded, UserError)
"""The framework's own limits, and mistakes in the program: they count, and go on."""


class CompactionCapability(AbstractCapability[Any]):
    """
    Compacts the tool errors of an agent.

    ```python
    agent = Agent(model, tools=[query], capabilities=[CompactionCapability(agent="shop")])
    ```

    A run that must not go on raises `RunHalted` before the next model request. One that waits for a human ends with
    `DeferredToolRequests` if that is among the agent's output types, and raises `RunPaused` if it is not. Approving
    the request lets the run go on, `ToolApproved(override_args={"message": ...})` with a message for the agent;
    denying it halts.

    Args:
        settings: As for `otel_errcompact.run`.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        self._named = bool(settings.get("agent"))  # Pydantic AI's own name for an agent may be that of a variable
        self.runs: Final = RunRegistry(**settings)
        """The runs by `ctx.run_id`: `runs.report(result.run_id)` tells how one ended."""

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the question to a human as a tool that needs approval."""
        return (
            FunctionToolset([Tool(_go_on, name=ASK, requires_approval=True)]) if self.runs.mode == "enforce" else None
        )

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Begin a run, or continue an answered one, and end it."""
        self._get_run(ctx, resumes=str(_find_question(ctx.messages).get("run", "")))
        try:
            return await handler()
        finally:
            self.runs.end(ctx.run_id or "")

    async def on_node_run_error(self, ctx: RunContext[Any], *, error: Exception, **_: Any) -> NodeResult[Any]:
        """Raise the pause where the agent's output types cannot ask."""
        if isinstance(error, UserError) and isinstance(stop := self._get_run(ctx).gate(), RunPaused):
            raise stop from error
        raise error

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        """Pass the gate and begin a turn; count calls of unknown tools."""
        run = self._get_run(ctx)
        parameters = request_context.model_request_parameters
        known = {tool.name for tool in (*parameters.function_tools, *parameters.output_tools)}
        question = _find_question(request_context.messages)
        part: Any  # their classes differ between releases
        for part in request_context.messages[-1].parts:
            if isinstance(part, ToolReturnPart) and part.tool_name == ASK and question:
                if part.outcome != "denied":
                    run.answer(part.content)
                    run.port.take_guidance()  # which is the result
                    continue
                run.answer(Halt(str(part.content)))
                # A process that has not seen the run knows of the escalation from the question.
                raise run.gate() or run.port.make_halt(question["escalation"], str(part.content))
            if _is_retry(part) and part.tool_name not in known:
                run.port.record_call(part.tool_name, call_id=part.tool_call_id, error=str(part.content))
        stop = await run.agate()
        if isinstance(stop, RunPaused):
            told = stop.escalation.model_dump(mode="json")
            return ModelResponse([ToolCallPart(ASK, {"reason": stop.reason, "escalation": told, "run": ctx.run_id})])
        if stop is not None:
            raise stop
        offered = [tool for tool in parameters.function_tools if tool.name != ASK]
        request_context.model_request_parameters = replace(parameters, function_tools=offered)
        run.begin_turn()
        if said := run.port.take_guidance():
            request_context.messages[-1].parts = [*request_context.messages[-1].parts, UserPromptPart(said)]
        return await handler(request_context)

    async def handle_deferred_tool_calls(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 - the hook's signature
        *,
        requests: DeferredToolRequests,
    ) -> DeferredToolResults | None:
        """Refuse a model that has guessed the name of the question."""
        guessed = [call for call in requests.approvals if call.tool_name == ASK and "run" not in call.args_as_dict()]
        denied = ToolDenied("this tool is not for you")
        return DeferredToolResults(approvals={call.tool_call_id: denied for call in guessed}) if guessed else None

    async def on_tool_validate_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: RawToolArgs,
        error: ValidationError | ModelRetry,
    ) -> ValidatedToolArgs:
        """Count arguments that do not fit; the tool's retries still apply."""
        if isinstance(error, ModelRetry):
            raise error
        # The text alone, since all frames of the traceback are the framework's.
        text = str(error)
        if "json_invalid" in text:
            text = f"Invalid arguments for tool {tool_def.name}: {text}"
        made = self._get_run(ctx).port.record_call(tool_def.name, arguments=args, call_id=call.tool_call_id, error=text)
        if not made.compacted:
            raise error
        raise ModelRetry(made.text) from error

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:
        """Execute a tool; a failure becomes a failed result with the digest."""
        if tool_def.name == ASK:
            return await handler(args)
        made = self._get_run(ctx).tool(
            tool_def.name, arguments=args, call_id=call.tool_call_id, gated=False, reraise=True
        )
        failed: Exception | None = None
        try:
            async with made:
                if not made.refused:
                    failed = await _execute(made, handler, args)
        except Exception as error:
            if isinstance(error, ENDS_THE_RUN) or not made.compacted:
                raise
            failed = error
        if made.compacted:
            raise ToolFailed(made.text) from failed
        if failed is not None:
            raise failed
        return made.result

    def _get_run(self, ctx: RunContext[Any], *, resumes: str = "") -> Run:
        name = ctx.agent.name if ctx.agent is not None and not self._named else None
        return self.runs.of(ctx.run_id or "", agent=name or "", resumes=resumes)


async def _execute(made: Call, handler: WrapToolExecuteHandler, args: ValidatedToolArgs) -> ToolFailedError | None:
    try:
        made.result = await handler(args)
    except RunHalted as halted:
        if isinstance(halted, RunPaused) or halted.escalation.run_id == made.run_id:
            raise
        # The tool was an agent; this one can still do something else.
        made.fail(f"the sub-agent was halted: {halted.escalation.reached}", type="RunHalted")
    except ToolFailedError as failed:
        made.fail(failed.__cause__ or failed)
        return failed
    return None


def _is_retry(part: Any) -> bool:
    # Older releases have a part of its own for what is to be tried again.
    retry = part.part_kind == "retry-prompt" or getattr(part, "outcome", "") == "retried"
    return retry and part.tool_name is not None


def _go_on(message: str = "", **_: object) -> str:
    """Let the run go on, with a message for the agent."""
    return message or "continue"


def _find_question(history: list[ModelMessage]) -> dict[str, Any]:
    calls = next((message.tool_calls for message in reversed(history) if isinstance(message, ModelResponse)), ())
    asked = (call.args_as_dict() for call in calls if call.tool_name == ASK)
    return next((question for question in asked if "run" in question), {})
