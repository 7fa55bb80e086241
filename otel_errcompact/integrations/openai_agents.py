"""The OpenAI Agents SDK: run hooks, a formatter of errors, approvals."""

from __future__ import annotations

import dataclasses
import uuid
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.boundary.approvals import Approvals
from otel_errcompact.boundary.pending_calls import PendingCalls
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.boundary.requested import why_no_json
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.integrations.requirement import required

with required("openai-agents", "0.24.0", extra="openai_agents"):
    from agents import Agent, FunctionTool, RunContextWrapper, RunHooks, ToolErrorFormatterArgs
    from agents.exceptions import AgentsException, ModelBehaviorError
    from agents.tool import default_tool_error_function, default_tool_timeout_error_message
if TYPE_CHECKING:
    from typing import Unpack

    from otel_errcompact.boundary.pending_calls import PendingCall
    from otel_errcompact.boundary.runs import Run
    from otel_errcompact.boundary.scope import RunSettings

Context = RunContextWrapper[Any]
_BAD_JSON: Final = "Invalid JSON input for tool"


class RunStopped(RunHalted, AgentsException):
    """
    The run was halted; `run_data` is the SDK's data until then.
    """

    run_data = None


class RunWaits(RunPaused, RunStopped):
    """
    The run was paused, without an approval to ask a human with.
    """


class CompactionHooks(RunHooks[Any]):
    """
    `Runner.run(agent, "...", hooks=compaction, run_config=RunConfig(tool_error_formatter=compaction.format_error))`.

    Args:
        approval: Ask about a paused run by an approval of the next call of a tool that `guard` made.
        settings: As for `otel_errcompact.run`.
    """

    def __init__(self, *, approval: bool = False, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(**settings)
        self._approval, self._agent = approval, settings.get("agent", "")
        self._key: Final = f"__errcompact_{uuid.uuid4().hex}__"
        self._calls, self._approvals = PendingCalls(self.runs), Approvals()

    def run_id(self, context: Context, call_id: str = "") -> str:
        """Return the id for `runs` of a context, such as `result.context_wrapper`."""
        # The SDK has no id for a run, but one object that all its contexts share, and that its states copy.
        known = vars(context.usage)
        if self._key not in known:
            known[self._key] = self._approvals.find_run(_build_reply_lookup(context), call_id) or uuid.uuid4().hex
        return str(known[self._key])

    def guard(self, tool: FunctionTool) -> FunctionTool:
        """Return a copy of a tool with a span, refusals and approvals."""

        async def invoke(context: Any, arguments: str) -> Any:
            return await self._find_call(context).guard(lambda: tool.on_invoke_tool(context, arguments))

        async def asks(context: Context, arguments: dict[str, Any], call_id: str) -> bool:
            if isinstance(await self._find_run(context, call_id).agate(), RunPaused):
                self._approvals.request(self.run_id(context), call_id, tool.name)
                return True
            return own if isinstance(own, bool) else await own(context, arguments, call_id)

        if getattr(tool.on_invoke_tool, "guard", None) is self:
            return tool
        own, invoke.guard = tool.needs_approval, self  # type: ignore[attr-defined]
        return dataclasses.replace(tool, on_invoke_tool=invoke, needs_approval=asks if self._approval else own)

    def format_error(self, args: ToolErrorFormatterArgs[Any]) -> str | None:
        """Return what the model reads of an error: for `RunConfig(tool_error_formatter=...)`."""
        if args.error is not None:
            text = self._find_call(args.run_context).fail(_explain_error(args.run_context, args.error))
            return None if self._find_run(args.run_context).port.only_observes else text
        run = self._find_run(args.run_context, args.call_id)
        if args.kind != "tool_not_found":
            return None
        call = run.port.record_call(args.tool_name, error=args.default_message)
        return call.text if call.compacted else None

    def on_failure(self, context: Context, error: Exception) -> str:
        """
        Return the text of an error: for `failure_error_function` of tools.

        Also for that of agents and MCP servers.
        """
        text = self._find_call(context).fail(_explain_error(context, error))
        return default_tool_error_function(context, error) if self._find_run(context).port.only_observes else text

    async def on_tool_start(self, context: Context, *_: Any, **__: Any) -> None:
        """Apply a human's replies to the paused run, and start the call."""
        self._approvals.apply_replies(self._find_run(context), _build_reply_lookup(context))
        self._find_call(context).start()

    async def on_tool_end(self, context: Context, agent: Agent[Any], tool: Any, result: object) -> None:  # noqa: ARG002
        """Take note of a result, unless it is a text of ours."""
        limit = getattr(tool, "timeout_seconds", None)
        late = limit and result == default_tool_timeout_error_message(tool_name=tool.name, timeout_seconds=limit)
        self._calls.end(self._find_call(context, tool.name), result, error=str(result) if late else None)

    async def on_llm_start(
        self,
        context: Context,
        agent: Agent[Any],
        system_prompt: str | None = None,  # noqa: ARG002 - the hook's signature
        input_items: Any = (),
    ) -> None:
        """Pass the gate, begin a turn, and add an operator's answer."""
        run = self.runs.of(self.run_id(context), agent=self._agent or agent.name)
        self._approvals.apply_replies(run, _build_reply_lookup(context))
        stop = await run.agate()
        if isinstance(stop, RunPaused):
            if not self._approval or not self._approvals.let_through(run.run_id):
                raise RunWaits(stop.escalation, stop.reason, stop.final_text)
        elif stop is not None:
            await self.on_agent_end(context)
            raise RunStopped(stop.escalation, stop.reason, stop.final_text)
        run.begin_turn()
        if isinstance(input_items, list) and (said := run.port.take_guidance()):
            input_items.append({"role": "user", "content": said})

    async def on_agent_end(self, context: Context, *_: Any, **__: Any) -> None:
        """End the run, unless the agent was a tool of the run."""
        if not self._calls.is_any_open(self.run_id(context)):
            self.runs.end(self.run_id(context))

    def _find_run(self, context: Context, call_id: str = "") -> Run:
        return self.runs.of(self.run_id(context, call_id or getattr(context, "tool_call_id", "")))

    def _find_call(self, context: Context, tool: str = "") -> PendingCall:
        name, arguments = getattr(context, "tool_name", tool), getattr(context, "tool_arguments", None)
        return self._calls.find(self._find_run(context), getattr(context, "tool_call_id", ""), name, arguments)


def _explain_error(context: Context, error: Exception) -> Exception:
    # By default the SDK keeps what its parser said to itself.
    said = str(error)
    if not said.startswith(_BAD_JSON):
        return error
    why = why_no_json(getattr(context, "tool_arguments", None))
    return ModelBehaviorError(f"{said.partition(': ')[0]}: {why}") if why else error


def _build_reply_lookup(context: Context) -> Any:
    # Yes, no, or no with a message, which is one for the agent.
    return lambda tool, call_id: context.get_rejection_message(tool, call_id) or context.is_tool_approved(tool, call_id)
