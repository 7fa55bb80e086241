"""LangChain agents and LangGraph graphs: a middleware."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, TypeAlias, cast

from otel_errcompact.boundary import RunRegistry, current_run
from otel_errcompact.detector.results import classify_result
from otel_errcompact.escalator.actions import Continue, Halt, Pause
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.records import replace

with required("langchain", "1.2.15", extra="langchain"):
    from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
    from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.graph import END
    from langgraph.types import Command, interrupt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Unpack

    from langchain.tools import ToolRuntime
    from langgraph.runtime import Runtime

    from otel_errcompact.boundary import Call, Run, RunSettings

Answer: TypeAlias = ToolMessage | Command[Any]
Question: TypeAlias = dict[str, object]

RUN: Final = "errcompact_run"
QUESTION: Final = "errcompact_question"


def _keep_newest_question(_: Question | None, question: Question | None) -> Question | None:
    return question


class CompactionState(AgentState[Any]):
    """
    The state in the checkpoints of an agent, private to this middleware.
    """

    errcompact_run: NotRequired[Annotated[str, PrivateStateAttr]]
    errcompact_question: NotRequired[Annotated[dict[str, object] | None, PrivateStateAttr, _keep_newest_question]]


class CompactionMiddleware(AgentMiddleware[CompactionState, Any, Any]):
    """
    Compacts the failures of tool calls, and stops or asks in loops.

        agent = create_agent(model, tools, middleware=[CompactionMiddleware(agent="shop")])

    It stands first in the list, so that middleware that retries is inside. A run is one invocation of the agent; its
    id is the thread's, if it has one. A handler that answers `Pause` makes an `interrupt()`, and what the agent is
    resumed with is the human's reply.

    A graph written by hand, whose state is a `CompactionState`, takes the same hooks as nodes:

        node = ToolNode(tools, wrap_tool_call=compaction.wrap_tool_call, awrap_tool_call=compaction.awrap_tool_call)
        graph.add_node("begin", compaction.before_agent)              # from START, to "gate"
        graph.add_node("gate", compaction.before_model)               # from "begin" and the tools
        graph.add_conditional_edges("gate", past_gate("model"))

    Args:
        settings: As for `otel_errcompact.run`.
    """

    state_schema = CompactionState

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        super().__init__()
        self.runs: Final = RunRegistry(**settings)

    def before_agent(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        """Begin the run."""
        run_id = _thread_of(runtime) or uuid.uuid4().hex
        self.runs.begin(run_id)
        return {RUN: run_id, QUESTION: None}

    async def abefore_agent(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin the run in asynchronous code."""
        return self.before_agent(state, runtime)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Pass the gate: begin a turn, end, or ask a human."""
        run, question = self.runs.of(state[RUN]), state.get(QUESTION)
        return _pass_gate(run, question or run.gate())

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: CompactionState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        """Pass the gate in asynchronous code."""
        run, question = self.runs.of(state[RUN]), state.get(QUESTION)
        return _pass_gate(run, question or await run.agate())

    def after_agent(self, state: CompactionState, runtime: Runtime[Any]) -> None:  # noqa: ARG002
        """End the run."""
        self.runs.end(state[RUN])

    async def aafter_agent(self, state: CompactionState, runtime: Runtime[Any]) -> None:
        """End the run in asynchronous code."""
        self.after_agent(state, runtime)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]) -> Answer:
        """Execute a tool call; a failure becomes an error-marked message."""
        run, answer = self._find_run(request), None
        with _make_call(run, request) as call:
            if not call.refused:
                answer = _note_answer(call, handler(request))
        return _add_question(run, request, _render_answer(call, answer))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Execute a tool call in asynchronous code."""
        run, answer = self._find_run(request), None
        async with _make_call(run, request) as call:
            if not call.refused:
                answer = _note_answer(call, await handler(request))
        return _add_question(run, request, _render_answer(call, answer))

    def _find_run(self, request: ToolCallRequest) -> Run:
        if _has_run(request):
            return self.runs.of(request.state[RUN])
        return current_run() or self.runs.of(_thread_of(request.runtime))


def past_gate(model: str, end: str = END) -> Callable[[dict[str, Any]], str]:
    """
    Return the edge from a graph's gate to its model or end.

    Args:
        model: The name of the model's node.
        end: The name of the node that halted runs go to.
    """
    return lambda state: end if state.get("jump_to") == "end" else model


def _thread_of(runtime: Runtime[Any] | ToolRuntime[Any, Any]) -> str:
    info = runtime.execution_info
    if info is None or not info.thread_id:
        return ""
    return "/".join((info.thread_id, *info.checkpoint_ns.split("|")[:-1]))


def _has_run(request: ToolCallRequest) -> bool:
    return isinstance(request.state, dict) and RUN in request.state


def _build_question(stop: RunPaused) -> Question:
    return {"question": stop.reason, "escalation": stop.escalation.model_dump(mode="json")}


def _pass_gate(run: Run, stop: RunHalted | Question | None) -> dict[str, Any] | None:
    if stop is None:
        run.begin_turn()
        said = run.port.take_guidance()
        return {"messages": [HumanMessage(said)]} if said else None
    if isinstance(stop, RunPaused):
        stop = _build_question(stop)
    if isinstance(stop, RunHalted):
        return {"messages": [AIMessage(stop.final_text)], "jump_to": "end"}
    action = _ask_operator(run, stop)
    if isinstance(action, Continue):
        run.begin_turn()
        run.port.take_guidance()  # which is the message
        return {QUESTION: None, "messages": [HumanMessage(action.message)] if action.message else []}
    last = AIMessage(run.port.make_halt(stop["escalation"], action.reason).final_text)
    return {QUESTION: None, "messages": [last], "jump_to": "end"}


def _ask_operator(run: Run, question: Question) -> Halt | Continue:
    while True:
        try:
            action = run.answer(interrupt(question))
        except ConfigurationError as error:
            question = {**question, "problem": str(error)}
        else:
            if not isinstance(action, Pause):
                return action


def _make_call(run: Run, request: ToolCallRequest) -> Call:
    wanted = request.tool_call
    return run.tool(
        wanted["name"],
        arguments=wanted["args"],
        call_id=wanted["id"] or "",
        reraise=run.port.only_observes,
        gated=False,
    )


def _note_answer(call: Call, answer: Answer) -> Answer:
    message = _find_message(answer, call.call_id)
    call.result = str(message.text) if message is not None else answer
    if message is not None and message.status == "error":
        judged = classify_result(str(call.result), tool=call.tool, arguments=call.arguments, flagged=True)
        if judged.outcome == "failure":
            call.fail(str(call.result))
    return answer


def _render_answer(call: Call, answer: Answer | None) -> Answer:
    if answer is not None and not call.compacted:
        return answer
    message = _find_message(answer, call.call_id)
    if answer is None or message is None:
        return ToolMessage(call.text, name=call.tool, tool_call_id=call.call_id, status="error")
    told = message.model_copy(update={"content": call.text, "status": "error"})
    return cast("Answer", _swap_message(answer, message, told))


def _add_question(run: Run, request: ToolCallRequest, answer: Answer) -> Answer:
    stop = run.gate() if run.verdict.standing == "pause" and _has_run(request) else None
    if not isinstance(stop, RunPaused) or not isinstance(answer, ToolMessage):
        return answer
    return Command(update={"messages": [answer], QUESTION: _build_question(stop)})


def _find_message(answer: Any, call_id: str) -> ToolMessage | None:
    if isinstance(answer, ToolMessage):
        return answer if answer.tool_call_id == call_id else None
    held = answer.update.get("messages") if isinstance(answer, Command) and isinstance(answer.update, dict) else answer
    found = (_find_message(each, call_id) for each in held) if isinstance(held, list) else ()
    return next((message for message in found if message is not None), None)


def _swap_message(answer: Any, old: ToolMessage, new: ToolMessage) -> Any:
    if isinstance(answer, list):
        return [_swap_message(each, old, new) for each in answer]
    if isinstance(answer, Command) and isinstance(answer.update, dict) and "messages" in answer.update:
        return replace(answer, update={**answer.update, "messages": _swap_message(answer.update["messages"], old, new)})
    return new if answer is old else answer
