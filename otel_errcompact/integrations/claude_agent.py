"""Claude Agent SDK: hooks around every tool of an agent, and a wrap for the tools that live in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.boundary.arguments import as_text
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.bounded import BoundedTable
from otel_errcompact.exceptions import RunPaused
from otel_errcompact.integrations.requirement import required

with required("claude-agent-sdk", "0.1.0", extra="claude_agent"):
    from claude_agent_sdk import HookMatcher, SdkMcpTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from claude_agent_sdk.types import HookEvent
    from typing_extensions import Unpack

    from otel_errcompact.boundary.registry import RunSettings
    from otel_errcompact.boundary.runs import Run

    Event = Mapping[str, Any]
    Output = dict[str, Any]
    Hooks = dict[HookEvent, list[HookMatcher]]

MAX_CALLS: Final = 4_096
"""Calls that are under way at the same time."""

GATE_SECONDS: Final = 86_400.0
"""How long an escalation handler may take; after a hook's minute the agent would go on without its answer."""

_ERROR: Final = "<tool_use_error>"
_NO_TEXT: Final = "the result is flagged as an error and holds no text"


@dataclass(slots=True, kw_only=True)
class _Use:
    """
    One use of a tool, from the hook before it to the end of its batch.
    """

    run: Run
    tool: str
    arguments: Mapping[str, Any]
    call_id: str
    told: bool = False
    """Whether its outcome has been counted."""

    asked: bool = False
    """Whether a human was asked about it, because the run waits for one."""

    def begin(self) -> None:
        """Take note that it was executed: whoever was asked has let the agent go on."""
        self.told = True
        if self.asked:
            self.run.answer(True)


class Compaction:
    """
    Compacts what fails in Claude agents, counts it, and stops an agent that does not get on.

        compaction = Compaction(agent="shop")
        server = create_sdk_mcp_server("shop", tools=compaction.tools(refund, find_order))
        options = ClaudeAgentOptions(hooks=compaction.hooks(), mcp_servers={"shop": server})

    A run is what the agent does for one prompt: its id is the session's, and of a sub-agent `session/agent`. A halt
    ends the turn; `runs.report(session_id)` tells of it, since the result message says success. While a run waits for
    a human, `can_use_tool` is asked before each further call: to allow it lets the run go on.

    Args:
        settings: What all runs have in common, as for `otel_errcompact.run`.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(**settings)
        self._uses: BoundedTable[tuple[str, str], _Use] = BoundedTable(MAX_CALLS)

    def hooks(self, *others: Hooks) -> Hooks:
        """Return the hooks for the options, and with them those of your own: all of them are called."""
        mine: dict[str, Callable[..., Awaitable[Output]]] = {
            "PreToolUse": self._before,
            "PostToolUse": self._worked,
            "PostToolUseFailure": self._failed,
            "PostToolBatch": self._gate,
            "Stop": self._ended,
            "SubagentStop": self._ended,
            "UserPromptSubmit": self._ended,
        }
        merged = {name: [HookMatcher(hooks=[hook], timeout=GATE_SECONDS)] for name, hook in mine.items()}
        for name, matchers in (item for hooks in others for item in hooks.items()):
            merged[name] = [*merged.get(name, ()), *matchers]
        return cast("Hooks", merged)  # its declaration lacks hooks that the command line has

    def tools(self, *tools: SdkMcpTool[Any]) -> list[SdkMcpTool[Any]]:
        """Return tools of this process so that the model reads the digest in place of the error, not after it."""
        return [replace(tool, handler=self._wrapped(tool)) for tool in tools]

    async def _before(self, event: Event, *_: object) -> Output:
        use = self._use(event, event)
        standing = use.run.verdict.standing
        if standing in {"halt", "pause"}:
            use.asked = standing == "pause"
            return _output(event, permissionDecision="ask" if use.asked else "deny",
                           permissionDecisionReason=str(use.run.gate()))
        refusal = use.run.ledger.refuse(use.run.run_id, use.tool, as_text(use.arguments))
        use.told = bool(refusal)
        return _output(event, permissionDecision="deny", permissionDecisionReason=refusal) if refusal else {}

    async def _worked(self, event: Event, *_: object) -> Output:
        text = self._outcome(self._use(event, event), result=_text(event["tool_response"]))
        return _output(event, additionalContext=text) if text else {}

    async def _failed(self, event: Event, *_: object) -> Output:
        use = self._use(event, event)
        use.told = use.told or bool(event.get("is_interrupt"))
        text = self._outcome(use, error=event["error"])
        return _output(event, additionalContext=text) if text else {}

    async def _gate(self, event: Event, *_: object) -> Output:
        texts = [self._settled(event, call) for call in event["tool_calls"]]
        run = self._run(event)
        stop = await run.agate()
        if stop is not None and not isinstance(stop, RunPaused):
            self.runs.end(run.run_id)  # no other hook tells the end of a turn that a hook has stopped
            return {"continue_": False, "stopReason": str(stop)}
        text = "\n".join(filter(None, texts))
        return _output(event, additionalContext=text) if text else {}

    async def _ended(self, event: Event, *_: object) -> Output:
        self.runs.end(_run_id(event))
        return {}

    def _settled(self, event: Event, call: Event) -> str:
        """Forget a call; errors that the command line makes itself are only told at the end of the batch."""
        use, response = self._use(event, call), call["tool_response"]
        self._uses.pop((use.run.run_id, use.call_id))
        own_error = isinstance(response, str) and response.startswith(_ERROR)
        return self._outcome(use, error=response) if own_error else ""

    def _outcome(self, use: _Use, *, error: str | None = None, result: str = "") -> str:
        """Count a call that has not been counted yet, and return what the agent is told of its failure."""
        if use.told:
            return ""
        use.begin()
        call = use.run.executed(use.tool, arguments=use.arguments, call_id=use.call_id, error=error, result=result)
        return call.text if call.failed else ""

    def _run(self, event: Event) -> Run:
        return self.runs.of(_run_id(event), agent=event.get("agent_type", ""))

    def _use(self, event: Event, call: Event) -> _Use:
        run, call_id = self._run(event), call["tool_use_id"]
        known = self._uses.get((run.run_id, call_id))
        if known is None:
            known = _Use(run=run, tool=call["tool_name"], arguments=call["tool_input"], call_id=call_id)
            self._uses.put((run.run_id, call_id), known)
        return known

    def _announced(self, tool: str, arguments: object) -> _Use | None:
        """
        Find which call a handler was called for, since it is only told the arguments.

        Where agents make the same call at the same time it may be the other's: each is still counted once.
        """
        uses = [use for use in tuple(self._uses.entries.values())
                if not use.told and use.tool.endswith(f"__{tool}")]
        same = (use for use in uses if use.arguments == arguments)
        return next(same, uses[0] if uses else None)  # another hook may have changed the arguments

    def _wrapped(self, tool: SdkMcpTool[Any]) -> Callable[[Any], Awaitable[dict[str, Any]]]:
        async def handler(arguments: Any) -> dict[str, Any]:
            use = self._announced(tool.name, arguments)
            if use is None:
                return await tool.handler(arguments)
            use.begin()
            result: dict[str, Any] = {}
            async with use.run.tool(use.tool, arguments=arguments, call_id=use.call_id, gated=False) as call:
                if not call.refused:
                    result = await tool.handler(arguments)
                    call.result = text = _text(result.get("content"))
                    if result.get("is_error"):
                        call.fail(text or _NO_TEXT)
            return {"content": [{"type": "text", "text": call.text}], "is_error": True} if call.failed else result

        return handler


def _run_id(event: Event) -> str:
    agent_id = event.get("agent_id")
    return f"{event['session_id']}/{agent_id}" if agent_id else str(event["session_id"])


def _output(event: Event, **specific: str) -> Output:
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], **specific}}


def _text(response: object) -> str:
    """Return what a tool has printed or answered, where there is such a text to judge by."""
    if isinstance(response, Mapping):
        printed = (response.get("stdout"), response.get("stderr"))
        return "\n".join(text for text in printed if isinstance(text, str) and text)
    if isinstance(response, list):
        return "\n".join(block["text"] for block in response if isinstance(block, Mapping) and "text" in block)
    return response if isinstance(response, str) else ""
