"""The OpenAI Agents SDK: run hooks, a formatter of errors, and approvals. See docs/frameworks/openai_agents.md."""

from __future__ import annotations

import dataclasses
import inspect
import uuid
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.bounded import BoundedTable
from otel_errcompact.escalation import Continue, Halt
from otel_errcompact.exceptions import RunHalted, RunPaused
from otel_errcompact.integrations.requirement import required

with required("openai-agents", "0.24.0", extra="openai_agents"):
    from agents import Agent, FunctionTool, RunContextWrapper, RunHooks, ToolErrorFormatterArgs
    from agents.exceptions import AgentsException
    from agents.tool import default_tool_timeout_error_message
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.registry import RunSettings
    from otel_errcompact.boundary.runs import Run
    from otel_errcompact.escalation import Action

Context = RunContextWrapper[Any]
RUN_IDS: Final = "__errcompact_runs__"
MAX_CALLS: Final = 4_096
_OPEN, _GUARDED, _TOLD = "open", "guarded", "told"


class RunStopped(RunHalted, AgentsException):
    """
    The run was halted; `run_data` is what the SDK had of it until then.
    """

    run_data = None


class RunWaits(RunPaused, RunStopped):
    """
    The run was paused, and the SDK had no approval to ask a human with.
    """


class Compaction(RunHooks[Any]):
    """
    What a run is given: `compaction = Compaction(agent="shop")`, and then
    `Runner.run(agent, "...", hooks=compaction, run_config=RunConfig(tool_error_formatter=compaction.format_error))`.

    Args:
        approval: Ask about a paused run by an approval of the next call of a tool that `guard` made.
        settings: As for `otel_errcompact.run`.
    """

    def __init__(self, *, approval: bool = False, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(**settings)
        self._approval, self._agent, self._key = approval, settings.get("agent", ""), uuid.uuid4().hex
        self._calls: BoundedTable[tuple[str, str], str | Exception] = BoundedTable(MAX_CALLS)
        self._questions: BoundedTable[str, tuple[str, str]] = BoundedTable(MAX_CALLS)
        self._passed: BoundedTable[str, bool] = BoundedTable(MAX_CALLS)

    def run_id(self, context: Context) -> str:
        """Return the id for `runs` of a context, such as `result.context_wrapper`."""
        # The SDK has no id for a run, but one object that all its contexts share, and that its states copy.
        ids = vars(context.usage).setdefault(RUN_IDS, {})
        if self._key not in ids:
            # Copies get lost in JSON; the answer to a call we have asked about tells whose it was.
            answered = (run_id for run_id, call_id, tool in self._asked() if _answer(context, tool, call_id))
            ids[self._key] = next(answered, "") or uuid.uuid4().hex
        return str(ids[self._key])

    def guard(self, tool: FunctionTool) -> FunctionTool:
        """Return a copy of a tool with our own span around its body, which also refuses and asks."""

        async def invoke(context: Any, arguments: str) -> Any:
            run, key = self._run(context), self._call(context)
            async with run.tool(tool.name, arguments=arguments, call_id=key[1], gated=False) as call:
                self._calls.put(key, _GUARDED)
                try:
                    call.result = call.refused or await tool.on_invoke_tool(context, arguments)
                finally:
                    error = self._calls.pop(key)
                if isinstance(error, Exception):
                    raise error
            self._calls.put(key, _TOLD)
            return call.text if call.failed else call.result

        async def asks(context: Context, arguments: dict[str, Any], call_id: str) -> bool:
            if self._approval and isinstance(await self._run(context).agate(), RunPaused):
                self._questions.put(call_id, (self.run_id(context), tool.name))
                return True
            answer = own if isinstance(own, bool) else own(context, arguments, call_id)
            return await answer if inspect.isawaitable(answer) else answer

        own = tool.needs_approval
        return dataclasses.replace(tool, on_invoke_tool=invoke, needs_approval=asks if self._approval else own)

    def format_error(self, args: ToolErrorFormatterArgs[Any]) -> str | None:
        """Return what the model reads of an error: for `RunConfig(tool_error_formatter=...)`."""
        if args.error is not None:
            return self.on_failure(args.run_context, args.error)
        unknown = args.kind == "tool_not_found"
        run, told = self._run(args.run_context), args.default_message
        return run.executed(args.tool_name, call_id=args.call_id, error=told).text if unknown else None

    def on_failure(self, context: Context, error: Exception) -> str:
        """Return what the model reads of an error: for `failure_error_function` of tools, agents and MCP servers."""
        key = self._call(context)
        if self._calls.get(key) == _GUARDED:
            self._calls.put(key, error)
            return ""
        self._calls.put(key, _TOLD)
        call = self._executed(context, error=error)
        return call.text if call.failed else str(error)

    async def on_agent_start(self, context: Context, agent: Agent[Any]) -> None:
        """Begin the run, by the agent's name if there is no other."""
        self.runs.of(self.run_id(context), agent=self._agent or agent.name)

    async def on_tool_start(self, context: Context, *_: Any, **__: Any) -> None:
        """Take what a human said to the call, if one was asked, for the answer to why the run was paused."""
        self._settle(context)
        self._calls.put(self._call(context), _OPEN)

    async def on_tool_end(self, context: Context, agent: Agent[Any], tool: Any, result: object) -> None:  # noqa: ARG002
        """Take note of a result, unless it is a text of ours."""
        if self._calls.pop(self._call(context)) == _TOLD:
            return
        limit = getattr(tool, "timeout_seconds", None)
        if limit and result == default_tool_timeout_error_message(tool_name=tool.name, timeout_seconds=limit):
            self._executed(context, tool.name, error=str(result))
        else:
            self._executed(context, tool.name, result=result)

    async def on_llm_start(self, context: Context, *_: Any, **__: Any) -> None:
        """Pass the gate."""
        self._settle(context)
        run = self._run(context)
        stop = await run.agate()
        if isinstance(stop, RunPaused):
            if self._approval and not self._passed.get(run.run_id):
                # The model may propose one more step: the one that a human is asked about.
                return self._passed.put(run.run_id, True)
            raise RunWaits(stop.escalation, stop.reason)
        if stop is not None:
            self.runs.end(run.run_id)
            raise RunStopped(stop.escalation, stop.reason)
        return None

    async def on_agent_end(self, context: Context, *_: Any, **__: Any) -> None:
        """End the run, unless it was an agent inside a tool call of the run that ended."""
        run_id = self.run_id(context)
        if all(known != run_id for known, _ in tuple(self._calls.entries)):
            self.runs.end(run_id)

    def _run(self, context: Context) -> Run:
        return self.runs.of(self.run_id(context))

    def _call(self, context: Context) -> tuple[str, str]:
        return self.run_id(context), getattr(context, "tool_call_id", "")

    def _executed(self, context: Context, tool: str = "", **outcome: Any) -> Call:
        name, arguments = getattr(context, "tool_name", tool), getattr(context, "tool_arguments", None)
        return self._run(context).executed(name, arguments=arguments, call_id=self._call(context)[1], **outcome)

    def _asked(self) -> list[tuple[str, str, str]]:
        return [(run_id, call_id, tool) for call_id, (run_id, tool) in tuple(self._questions.entries.items())]

    def _settle(self, context: Context) -> None:
        run = self._run(context)
        for run_id, call_id, tool in self._asked():
            answer = _answer(context, tool, call_id) if run_id == run.run_id else None
            if answer is not None:
                self._questions.pop(call_id)
                self._passed.pop(run_id)
                if run.verdict.standing == "pause":
                    run.answer(answer)


def _answer(context: Context, tool: str, call_id: str) -> Action | None:
    """Return what a human said to a call: an approval, or a rejection, which a message makes a word to the agent."""
    approved, message = context.is_tool_approved(tool, call_id), context.get_rejection_message(tool, call_id)
    if approved is None:
        return None
    return Continue(message or "") if approved or message else Halt("a human has rejected the call")
