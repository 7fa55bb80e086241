"""Strands Agents: a hook provider."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.boundary.answers import text_of
from otel_errcompact.boundary.pending_calls import PendingCalls
from otel_errcompact.boundary.registry import RunRegistry
from otel_errcompact.escalator.actions import Continue
from otel_errcompact.escalator.exceptions import RunPaused
from otel_errcompact.integrations.requirement import required

with required("strands-agents", "1.51.0", extra="strands"):
    from strands.hooks import HookProvider, HookRegistry, events

if TYPE_CHECKING:
    from typing import Unpack

    from strands.types.agent import LocalAgent

    from otel_errcompact.boundary.pending_calls import PendingCall
    from otel_errcompact.boundary.runs import Run
    from otel_errcompact.boundary.scope import RunSettings
    from otel_errcompact.engine.report import RunReport

STATE: Final = "errcompact"
"""Where an agent's state says which run it is in, so that a session that is restored goes on with it."""


class CompactionHooks(HookProvider):
    """
    Compacts and counts the failures of an agent's tools, and stops loops.

        hooks = CompactionHooks()
        agent = Agent(model, tools=[refund], hooks=[hooks])

    A run is one invocation; after an interrupt, the one that resumes it is the same run. A halt ends the turn with its
    reason as the last message, and `stop_reason` says `end_turn`: `hooks.report(agent).result` tells. While a run waits
    for a human, the next batch of tools is an interrupt of the name `errcompact`; the response is what `Run.answer`
    takes: yes or no, or a text for the agent to go on with.

    Args:
        settings: What all runs have in common, as for `otel_errcompact.run`; the agent's name is its own by default.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        self.runs: Final = RunRegistry(**settings)
        self._named = settings.get("agent", "")
        self._calls = PendingCalls(self.runs)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Register what is called before and after each invocation, batch and call."""
        registry.add_callback(events.BeforeInvocationEvent, self._begin_run)
        registry.add_callback(events.BeforeModelCallEvent, self._begin_turn)
        registry.add_callback(events.BeforeToolsEvent, self._ask_operator)
        registry.add_callback(events.BeforeToolCallEvent, self._check_call)
        registry.add_callback(events.AfterToolCallEvent, self._conclude_call)
        registry.add_callback(events.AfterToolsEvent, self._gate_turn)
        registry.add_callback(events.AfterInvocationEvent, self._end_run)

    def report(self, agent: LocalAgent) -> RunReport:
        """Return the report of an agent's current or last run."""
        return self.runs.report(_run_id(agent))

    def _begin_run(self, event: events.BeforeInvocationEvent) -> None:
        if not _read_state(event.agent).get("waits"):
            event.agent.state.set(STATE, {"run": uuid.uuid4().hex})

    def _begin_turn(self, event: events.BeforeModelCallEvent) -> None:
        run = self._find_run(event.agent)
        run.begin_turn()
        newest = event.agent.messages[-1] if event.agent.messages else None
        if newest is not None and newest["role"] == "user" and (said := run.port.take_guidance()):
            newest["content"].append({"text": said})

    def _ask_operator(self, event: events.BeforeToolsEvent) -> None:
        run = self._find_run(event.agent)
        stop = run.gate() if run.verdict.standing == "pause" else None
        if stop is None:
            return
        action = run.answer(event.interrupt(STATE, reason=stop.reason))
        if not isinstance(action, Continue):
            event.cancel = action.reason or stop.reason
        elif action.message:
            run.port.take_guidance()  # which stands beside the results of this batch
            event.agent.state.set(STATE, {**_read_state(event.agent), "guidance": action.message})

    def _check_call(self, event: events.BeforeToolCallEvent) -> None:
        if refusal := self._announce_call(event).refuse():
            event.cancel_tool = refusal

    async def _conclude_call(self, event: events.AfterToolCallEvent) -> None:
        call, result = self._announce_call(event), event.result
        self._calls.forget(_run_id(event.agent), call.call_id)
        if event.cancel_message is not None:
            return
        said = text_of(result["content"])
        error = (event.exception or said) if result["status"] == "error" else None
        if text := await call.conclude(error, said):
            event.result = {**result, "status": "error", "content": [{"text": text}]}

    async def _gate_turn(self, event: events.AfterToolsEvent) -> None:
        stop = await self._find_run(event.agent).agate()
        if stop is not None and not isinstance(stop, RunPaused):
            event.end_turn = stop.final_text
        state = _read_state(event.agent)
        if guidance := state.pop("guidance", ""):
            event.message["content"].append({"text": guidance})
            event.agent.state.set(STATE, state)

    def _end_run(self, event: events.AfterInvocationEvent) -> None:
        run_id, run = _run_id(event.agent), self._find_run(event.agent)
        interrupted = event.result is not None and event.result.stop_reason == "interrupt"
        waits = interrupted or run.verdict.standing == "pause"
        event.agent.state.set(STATE, {**_read_state(event.agent), "waits": waits})
        self._calls.forget(run_id)
        if not waits:
            self.runs.end(run_id)

    def _announce_call(self, event: events.BeforeToolCallEvent | events.AfterToolCallEvent) -> PendingCall:
        use, agent = event.tool_use, event.agent
        call_id = use["toolUseId"]
        return self._calls.announce(
            _run_id(agent), call_id, use["name"], use["input"], span_name=call_id, agent=self._named or agent.name
        )

    def _find_run(self, agent: LocalAgent) -> Run:
        return self.runs.of(_run_id(agent), agent=self._named or agent.name)


def _read_state(agent: LocalAgent) -> dict[str, Any]:
    return agent.state.get(STATE) or {}


def _run_id(agent: LocalAgent) -> str:
    if not _read_state(agent):  # a tool that is called directly, outside any invocation
        agent.state.set(STATE, {"run": uuid.uuid4().hex})
    return str(_read_state(agent)["run"])
