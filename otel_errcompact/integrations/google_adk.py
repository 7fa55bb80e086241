"""Google's Agent Development Kit: a plugin for its runners."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.boundary import Run, RunRegistry, RunSettings
from otel_errcompact.escalator.actions import Continue, Halt
from otel_errcompact.escalator.exceptions import RunPaused
from otel_errcompact.integrations.requirement import required
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.bounded import BoundedTable

with required("google-adk", "2.10.0", extra="google_adk"):
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.agent_tool import AgentTool
    from google.genai import types

if TYPE_CHECKING:
    from typing import Unpack

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext

Fields = dict[str, Any]
MAX_CALLS: Final = 4_096
REFLECTION: Final = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"


class _Answer(Fields):
    """
    An answer of this plugin, which ADK shows as a tool's result.
    """


class CompactionPlugin(BasePlugin):
    """
    Digests, counts and an end to loops: `App(..., plugins=[CompactionPlugin()])`.

    A run is one invocation, and `runs.report(event.invocation_id)` tells how it ended. `Pause` asks by ADK's own tool
    confirmation, under the id of the call that failed last; the agent behind an `AgentTool` is a run of its own.

    Args:
        name: The plugin's name.
        settings: As for `otel_errcompact.run`; a run has the name of the agent that began it by default.
    """

    def __init__(self, name: str = "errcompact", **settings: Unpack[RunSettings]) -> None:
        super().__init__(name=name)
        self.runs: Final = RunRegistry(**settings)
        self._agent = settings.get("agent", "")
        self._questions: BoundedTable[str, tuple[str, str]] = BoundedTable(1_000)
        self._began: BoundedTable[tuple[str, str], int] = BoundedTable(MAX_CALLS)

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: Fields, tool_context: ToolContext) -> Any:
        """Answer for a call that is refused, or was asked about."""
        run, reply = self._find_run(tool_context), tool_context.tool_confirmation
        began = run.port.mark_request()
        self._began.put((tool_context.invocation_id, tool_context.function_call_id or ""), began)
        call_id, text = self._questions.get(tool_context.invocation_id) or ("", "")
        if reply is not None and call_id == tool_context.function_call_id:
            self._questions.pop(tool_context.invocation_id)
            told = reply.payload.get("message") if isinstance(reply.payload, dict) else reply.payload
            run.answer(Continue(str(told or "")) if reply.confirmed else Halt(str(told or "a human said no")))
            return _Answer(error=f"{text}\nA human has answered: {told}" if told else text)
        refusal = run.port.refuse(
            tool.name, arguments=tool_args, call_id=tool_context.function_call_id or "", began=began
        )
        return await self._build_answer(run, refusal, tool_context) if refusal else None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: Fields, tool_context: ToolContext, error: BaseException
    ) -> Any:
        """Count what a tool has raised, and give the agent its digest."""
        return await self._record_call(tool, tool_args, tool_context, error, None)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: Fields, tool_context: ToolContext, result: object
    ) -> Any:
        """Count a success or a returned failure; a waiting tool is neither."""
        if isinstance(result, _Answer):
            self._find_run(tool_context).port.settle_call(tool_context.function_call_id or "")
            return None
        error, actions = _error_in(result), tool_context.actions
        waits = actions.requested_tool_confirmations or actions.requested_auth_configs
        if waits or (tool.is_long_running and not error):
            return None
        judged = None if isinstance(tool, AgentTool) else result  # an agent's words; its own run has counted
        return await self._record_call(tool, tool_args, tool_context, error or None, judged)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Begin a turn, or end the run with the reason as answer."""
        run = self._find_run(callback_context)
        stop = await run.agate()
        if stop is None:
            run.begin_turn()
            if said := run.port.take_guidance():
                llm_request.contents.append(types.UserContent(said))
            return None
        callback_context.actions.escalate = True  # or a LoopAgent would go round and round
        return LlmResponse(content=types.ModelContent(stop.final_text), custom_metadata={semconv.RESULT: "halted"})

    async def after_run_callback(self, *, invocation_context: InvocationContext, **_: object) -> None:
        """End the run, unless it waits for a human."""
        self.runs.end(invocation_context.invocation_id)

    on_run_error_callback = after_run_callback

    def _find_run(self, context: CallbackContext) -> Run:
        return self.runs.of(context.invocation_id, agent=self._agent or context.agent_name)

    async def _record_call(
        self, tool: BaseTool, arguments: Fields, context: ToolContext, error: BaseException | str | None, result: object
    ) -> _Answer | None:
        run, call_id = self._find_run(context), context.function_call_id or ""
        began = self._began.pop((context.invocation_id, call_id)) or 0
        call = run.port.record_call(
            tool.name, arguments=arguments, call_id=call_id, error=error, result=result, began=began
        )
        if not call.compacted:
            return None
        await run.port.aask_handler()
        return await self._build_answer(run, call.text, context)

    async def _build_answer(self, run: Run, text: str, context: ToolContext) -> _Answer:
        stop = await run.agate() if run.verdict.standing in {"pending", "pause"} else None
        if isinstance(stop, RunPaused) and self._questions.get(context.invocation_id) is None:
            self._questions.put(context.invocation_id, (context.function_call_id or "", text))
            hint = "\n".join(dict.fromkeys((stop.escalation.reached, stop.reason)))
            context.request_confirmation(hint=hint, payload={"message": ""})
            context.actions.skip_summarization = True
        return _Answer(error=text)


def _error_in(result: object) -> str:
    answer: Fields = result if isinstance(result, dict) else {}
    if answer.get("response_type") == REFLECTION:
        return f"{answer.get('error_type')}: {answer.get('error_details')}"
    told = answer["error"] if list(answer) == ["error"] else json.dumps(answer, default=str)
    return str(told) if answer.get("error") or answer.get("isError") else ""
