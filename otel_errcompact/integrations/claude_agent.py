"""Claude Agent SDK: hooks, and a wrap for tools of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.boundary.answers import text_of
from otel_errcompact.boundary.pending_calls import PendingCalls
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.escalator.exceptions import RunPaused
from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.records import replace

with required("claude-agent-sdk", "0.2.187", extra="claude_agent"):
    from claude_agent_sdk import HookMatcher, SdkMcpTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Unpack

    from claude_agent_sdk.types import HookEvent

    from otel_errcompact.boundary.pending_calls import PendingCall
    from otel_errcompact.boundary.scope import RunSettings

    Event = Mapping[str, Any]
    Output = dict[str, Any]
    Hooks = dict[HookEvent, list[HookMatcher]]

DAY: Final = 86_400.0  # for an escalation handler; after a hook's minute the agent would go on without its answer


class CompactionHooks:
    """
    Compacts, counts and stops the failures of Claude agents.

        compaction = CompactionHooks(agent="shop")
        server = create_sdk_mcp_server("shop", tools=compaction.tools(refund, find_order))
        options = ClaudeAgentOptions(hooks=compaction.hooks(), mcp_servers={"shop": server})

    A run is what an agent does for one prompt; its id is the session's, and a sub-agent's is `session/agent`. A halt
    ends the turn; `runs.report(session_id)` tells of it, since the result message says success. While a run waits for
    a human, `can_use_tool` is asked before each further call: to allow it lets the run go on.

    Args:
        settings: What all runs have in common, as for `otel_errcompact.run`.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(**settings)
        self._calls = PendingCalls(self.runs)

    def hooks(self, *others: Hooks) -> Hooks:
        """Return the hooks for the options, merged with your own."""
        mine: dict[str, Any] = {"PreToolUse": self._check_call, "PostToolBatch": self._gate_turn}
        mine |= dict.fromkeys(("PostToolUse", "PostToolUseFailure"), self._conclude_call)
        mine |= dict.fromkeys(("UserPromptSubmit", "Stop", "SubagentStop"), self._end_run)
        merged = {name: [HookMatcher(hooks=[hook], timeout=DAY)] for name, hook in mine.items()}
        for name, matchers in (item for hooks in others for item in hooks.items()):
            merged[name] = [*merged.get(name, ()), *matchers]
        return cast("Hooks", merged)  # the SDK's type of names lacks some that the command line has

    def tools(self, *tools: SdkMcpTool[Any]) -> list[SdkMcpTool[Any]]:
        """Return tools whose failures the model reads as digests alone."""
        return [replace(tool, handler=self._wrap_tool(tool)) for tool in tools]

    def _wrap_tool(self, tool: SdkMcpTool[Any]) -> Callable[[Any], Awaitable[dict[str, Any]]]:
        async def handler(arguments: Any) -> dict[str, Any]:
            pending = self._calls.find_by_arguments(tool.name, arguments)
            if pending is None:
                return await tool.handler(arguments)
            answer: dict[str, Any] = {}
            async with pending.execute() as call:
                if not call.refused:
                    answer = await tool.handler(arguments)
                    call.result = text = text_of(answer.get("content"))
                    if answer.get("is_error"):
                        call.fail(text or "the result is flagged as an error and holds no text")
            if not call.compacted:
                return answer
            return {"content": [{"type": "text", "text": call.text}], "is_error": True}

        return handler

    async def _check_call(self, event: Event, *_: object) -> Output:
        call = self._announce_call(event, event)
        reason, decision = call.refuse(), "ask" if call.is_asked else "deny"
        return (
            _build_output("PreToolUse", permissionDecision=decision, permissionDecisionReason=reason) if reason else {}
        )

    async def _conclude_call(self, event: Event, *_: object) -> Output:
        call = self._announce_call(event, event)
        call.is_counted = call.is_counted or bool(event.get("is_interrupt"))
        text = await call.conclude(event.get("error"), text_of(event.get("tool_response")))
        added = _find_new_text(text, event.get("error", ""))
        return _build_output(event["hook_event_name"], additionalContext=added) if added else {}

    async def _gate_turn(self, event: Event, *_: object) -> Output:
        texts = [text for called in event["tool_calls"] if (text := await self._settle_call(event, called))]
        run = self.runs.of(_run_id(event), agent=event.get("agent_type", ""))
        stop = await run.agate()
        if stop is None or isinstance(stop, RunPaused):
            run.begin_turn()
            texts += filter(None, (run.port.take_guidance(),))
            return _build_output("PostToolBatch", additionalContext="\n".join(texts)) if texts else {}
        self.runs.end(_run_id(event))  # no other hook tells the end of a turn that a hook has stopped
        return {"continue_": False, "stopReason": stop.final_text}

    async def _end_run(self, event: Event, *_: object) -> Output:
        self._calls.forget(_run_id(event))  # an interrupted turn leaves some
        self.runs.end(_run_id(event))
        return {}

    async def _settle_call(self, event: Event, called: Event) -> str:
        call, response = self._announce_call(event, called), called["tool_response"]
        self._calls.forget(_run_id(event), call.call_id)
        failed = isinstance(response, str) and response.startswith("<tool_use_error>")
        return _find_new_text(await call.conclude(response, None), response) if failed else ""

    def _announce_call(self, event: Event, called: Event) -> PendingCall:
        name = called["tool_name"]
        bare = name.split("__", 2)[-1] if name.startswith("mcp__") else ""  # as the server has it
        ids, agent = (_run_id(event), called["tool_use_id"]), event.get("agent_type", "")
        return self._calls.announce(*ids, name, called["tool_input"], span_name=bare, agent=agent)


def _find_new_text(text: str, error: str) -> str:
    # The agent reads the error all the same: of a digest that holds it whole, only the mark is new.
    return "" if text in error else text.removeprefix(error.strip()).strip()


def _run_id(event: Event) -> str:
    return "/".join(filter(None, (event["session_id"], event.get("agent_id"))))


def _build_output(hook: str, **told: str) -> Output:
    return {"hookSpecificOutput": {"hookEventName": hook, **told}}
