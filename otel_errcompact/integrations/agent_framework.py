"""Microsoft Agent Framework: a middleware."""

from __future__ import annotations

import uuid
from copy import copy
from typing import TYPE_CHECKING, Final, TypeVar

from otel_errcompact.boundary import RunRegistry
from otel_errcompact.boundary.runs import current_call
from otel_errcompact.escalator.actions import Continue, Halt
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.integrations.requirement import required

with required("agent-framework-core", "1.6.0", extra="agent_framework"):
    from agent_framework import (
        AgentMiddleware,
        AgentResponse,
        ChatMiddleware,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionMiddleware,
        Message,
        ResponseStream,
    )

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from typing import Unpack

    from agent_framework import AgentContext, AgentResponseUpdate, ChatContext, FunctionInvocationContext

    from otel_errcompact.boundary import Run, RunSettings

    CallNext = Callable[[], Awaitable[None]]
    Answer = TypeVar("Answer", Message, AgentResponseUpdate)

DENIED: Final = "a human said no"

ASK: Final = "ask_whether_to_go_on"
"""The function that the request for a human's approval names; no model is told of it."""


class CompactionMiddleware(AgentMiddleware):
    """
    Compacts the tool errors of an agent.

    ```python
    agent = Agent(client, tools=[query], middleware=[CompactionMiddleware(agent="shop")])
    ```

    A run that must not go on ends with a message that says so; `middleware.runs.report(session.session_id)` tells its
    result. One that waits for a human ends with a request for approval, as those of tools: the run goes on when it is
    answered with `request.to_function_approval_response(True)`, and what else that message says is for the agent.

    Args:
        settings: As for `otel_errcompact.run`.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        self._named = bool(settings.get("agent"))
        self.runs: Final = RunRegistry(**settings)
        """The runs, by the id of their session: without one only the telemetry tells how a run ended."""

    async def process(self, context: AgentContext, call_next: CallNext) -> None:
        """Begin a run, or continue a waiting one, and end it."""
        reply = _find_reply(context.messages)
        call = reply.function_call if reply is not None else None
        question = (call.parse_arguments() or {}) if call is not None else {}
        waiting = str(question.get("run", ""))
        run_id = waiting or (context.session.session_id if context.session is not None else uuid.uuid4().hex)
        around = current_call()
        nested = around is not None and around.run_id == run_id  # an agent in a tool of this run, with its session
        begin = self.runs.of if waiting or nested else self.runs.begin
        run = begin(run_id, agent="" if self._named else context.agent.name or "")
        denied: RunHalted | None = None
        if reply is not None:
            run.answer(Continue() if reply.approved else Halt(DENIED))
            # A process that has not seen the run knows of the escalation from the question.
            denied = None if reply.approved else run.port.make_halt(question["escalation"], DENIED)
        context.messages = _without_question(context.messages)
        texts: dict[str, str] = {}
        inner = context.client_kwargs.get("middleware", ())
        if any(isinstance(one, _Tools) for one in inner):
            raise ConfigurationError("an agent has two CompactionMiddleware: each would count all that fails")
        context.client_kwargs["middleware"] = [_Tools(run, texts), *inner, _Gate(run, texts, denied)]
        context.stream_transform_hooks.append(lambda update: _render_answer(update, texts))
        if not nested:
            context.stream_cleanup_hooks.append(lambda: self.runs.end(run_id))
        try:
            await call_next()
        finally:
            if not (context.stream or nested):
                self.runs.end(run_id)
        for message in context.result.messages if isinstance(context.result, AgentResponse) else ():
            _render_answer(message, texts)


class _Tools(FunctionMiddleware):
    """
    Executes the tools of one run.

    Args:
        run: The run.
        texts: What the model reads of the calls that have failed, by their ids; empty for the framework's own text.
    """

    def __init__(self, run: Run, texts: dict[str, str]) -> None:
        self._run = run
        self._texts = texts

    async def process(self, context: FunctionInvocationContext, call_next: CallNext) -> None:
        call_id = str(context.metadata.get("call_id", ""))
        tool, arguments = self._run.tool, dict(context.arguments)
        made = tool(context.function.name, arguments=arguments, call_id=call_id, gated=False, reraise=True)
        try:
            async with made:
                if not made.refused:
                    await call_next()
                    made.result = _read_text(context.result)
        finally:
            if made.failed:
                self._texts[call_id] = made.text if made.compacted else ""
            if made.compacted:
                raise ToolError(made.text)


class _Gate(ChatMiddleware):
    """
    Passes the gate before each model call and adds the digests.

    Args:
        run: The run.
        texts: What the model reads of the calls that have failed, by their ids.
        denied: What stops the run because a human has said no.
    """

    def __init__(self, run: Run, texts: dict[str, str], denied: RunHalted | None) -> None:
        self._run = run
        self._texts = texts
        self._denied = denied

    async def process(self, context: ChatContext, call_next: CallNext) -> None:
        messages = context.messages = _without_question(context.messages)
        calls = {one.call_id: one for message in messages for one in message.contents if one.type == "function_call"}
        for message in reversed(messages):
            if message.role == "assistant":
                break
            for content in filter(_has_failed, message.contents):
                self._count_result(content, calls.get(content.call_id))
            _render_answer(message, self._texts)
        stop = await self._run.agate() or self._denied
        self._run.begin_turn()
        if stop is None:
            if said := self._run.port.take_guidance():
                context.messages = [*messages, Message("user", [Content.from_text(said)])]
            await call_next()
        else:
            context.result = _last_words(stop, stream=context.stream)

    def _count_result(self, result: Content, call: Content | None) -> None:
        if call is not None and result.call_id is not None and result.call_id not in self._texts:
            text = max(str(result.result), str(result.exception), key=len)  # the model is told less than is known
            record = self._run.port.record_call
            made = record(call.name or "", arguments=call.arguments, call_id=result.call_id, error=text)
            self._texts[result.call_id] = made.text if made.compacted else ""


class ToolError(Exception):
    """
    A tool has failed; the text is all that the model reads.
    """


def _has_failed(content: Content) -> bool:
    return content.type == "function_result" and content.exception is not None


def _read_text(result: object) -> object:
    if isinstance(result, list):
        return "\n".join(one.text for one in result if isinstance(one, Content) and one.text)
    return result


def _last_words(stop: RunHalted, *, stream: bool) -> ChatResponse | ResponseStream[ChatResponseUpdate, ChatResponse]:
    told = {"run": stop.escalation.run_id, "reason": stop.reason, "escalation": stop.escalation.model_dump(mode="json")}
    asked = {ASK: told} if isinstance(stop, RunPaused) else None
    content = Content.from_text(stop.final_text, additional_properties=asked)
    if not stream:
        return ChatResponse(messages=[Message("assistant", [content])])

    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=[content])

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def _render_answer(answer: Answer, texts: dict[str, str]) -> Answer:
    # The request for approval is the agent's and not the model's: at its limit of errors in a row the framework drops
    # all that a model asks for.
    contents = [_render_result(content, texts) if _has_failed(content) else content for content in answer.contents]
    for told in [content.additional_properties[ASK] for content in contents if ASK in content.additional_properties]:
        id_ = f"{ASK}:{uuid.uuid4().hex}"
        call = Content.from_function_call(id_, ASK, arguments=told)
        contents.append(Content.from_function_approval_request(id_, call))
    answer.contents = contents
    return answer


def _render_result(result: Content, texts: dict[str, str]) -> Content:
    digested = copy(result)
    digested.result = texts.get(result.call_id or "") or result.result
    digested.items = [Content.from_text(str(digested.result))]
    return digested


def _is_question(content: Content) -> bool:
    asks = content.type in {"function_approval_request", "function_approval_response"}
    return asks and content.function_call is not None and content.function_call.name == ASK


def _find_reply(messages: Sequence[Message]) -> Content | None:
    contents = (content for message in messages for content in message.contents if _is_question(content))
    return next((content for content in contents if content.type == "function_approval_response"), None)


def _without_question(messages: Sequence[Message]) -> list[Message]:
    kept: list[Message] = []
    for message in messages:
        contents = [content for content in message.contents if not _is_question(content)]
        if len(contents) == len(message.contents):
            kept.append(message)
        elif contents:
            kept.append(Message(message.role, contents, author_name=message.author_name))
    return kept
