"""Microsoft Agent Framework: a chat middleware."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.integrations.requirement import required
from otel_errcompact_context.guard.guard import OverflowGuard, guard_of
from otel_errcompact_context.guard.histories import ORIGIN
from otel_errcompact_context.memory.beginnings import Beginnings
from otel_errcompact_context.providers.native import json_of

with required("agent-framework-core", "1.6.0", extra="agent_framework"):
    from agent_framework import ChatMiddleware, ChatResponse, Content, FunctionTool, Message, ResponseStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from agent_framework import ChatContext, ChatResponseUpdate

    from otel_errcompact.boundary.registry import RunRegistry
    from otel_errcompact_context.window.window import ContextWindow

    Fields = dict[str, Any]


class WindowMiddleware(ChatMiddleware):
    """
    Keeps what an agent sends within its model's window.

        agent = Agent(client, middleware=[WindowMiddleware()])

    Each request is compacted, the session's history stays as it is. Where the model refuses a request as too long, it
    is compacted harder and sent again, streamed or not. What that does not help is a `ContextOverflowError`.

    Args:
        window: Compacts, by the environment's options if None. A guard also remembers what refusals teach.
        runs: Those of the `CompactionMiddleware` beside it: after a cut its digests say all again.
    """

    def __init__(self, window: ContextWindow | OverflowGuard | None = None, *, runs: RunRegistry | None = None) -> None:
        self.guard: Final[OverflowGuard] = guard_of(window)
        self._runs = runs
        self._beginnings = Beginnings()

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Send a request that fits."""
        originals = list(context.messages)
        history = [_read(message, place) for place, message in enumerate(originals)]
        session_id = str(getattr(getattr(context, "session", None), "session_id", ""))
        resumed = self._beginnings.resume(history, session_id)
        known = {id(read): message for read, message in zip(history, originals, strict=True)}

        async def send(messages: list[object]) -> Any:
            context.messages = [
                known.get(id(message)) or _write(cast("Fields", message), originals) for message in messages
            ]
            await call_next()
            return _iterate(context.result) if isinstance(context.result, ResponseStream) else context.result

        name = session_id or (resumed.digests[0].hex() if resumed.digests else "")
        beside = self.guard.window.count_beside(_beside(context.options or {}))
        sent = await self.guard.acall(send, resumed.messages, session=name, beside_tokens=beside, format="anthropic")
        self._beginnings.keep(resumed, sent.messages)
        if isinstance(context.result, ResponseStream):
            context.result = ResponseStream(sent.reply, finalizer=_finalizer(context.result))
        elif isinstance(context.result, ChatResponse) and sent.compactions:
            usage: Mapping[str, Any] = context.result.usage_details or {}
            estimate = sent.compactions[-1].tokens_after + beside
            self.guard.calibration.learn(name, estimate, usage.get("input_token_count") or 0)
        if self._runs is not None and session_id and any(one.forgets for one in sent.compactions):
            self._runs.of(session_id).forget_shown()


async def _iterate(stream: ResponseStream[ChatResponseUpdate, ChatResponse]) -> AsyncIterator[ChatResponseUpdate]:
    async for update in stream:
        yield update


def _finalizer(stream: ResponseStream[ChatResponseUpdate, ChatResponse]) -> Any:
    # The framework's own has seen the updates, and knows what belongs to a response beside them.
    return lambda _: stream.get_final_response()


def _beside(options: Mapping[str, Any]) -> list[object]:
    tools = options.get("tools") or ()
    schemas = [tool.to_json_schema_spec() if isinstance(tool, FunctionTool) else tool for tool in tools]
    told = [schema for schema in schemas if isinstance(schema, dict)]
    return [*told, str(options.get("instructions") or "")]


def _read(message: Message, place: int) -> Fields:
    role = message.role if message.role in {"system", "assistant"} else "user"
    blocks = [{ORIGIN: number, **_read_block(content)} for number, content in enumerate(message.contents)]
    return {ORIGIN: place, "role": role, "content": blocks}


def _read_block(content: Content) -> Fields:
    kind, media = content.type, content.media_type or ""
    if kind == "text":
        return {"type": "text", "text": content.text or ""}
    if kind == "function_call":
        arguments = content.parse_arguments() or {}
        return {"type": "tool_use", "id": content.call_id or "", "name": content.name or "", "input": arguments}
    if kind == "function_result":
        failed = content.exception is not None
        said: Any = content.result if isinstance(content.result, str) else json_of(content.result, 0)
        if any(item.type != "text" for item in content.items or ()):
            said = [_read_block(item) for item in content.items or ()]
        return {"type": "tool_result", "tool_use_id": content.call_id or "", "content": said, "is_error": failed}
    if kind == "text_reasoning":
        return {"type": "thinking", "thinking": content.text or ""}
    if kind in {"data", "uri"}:
        source = content.uri or ""
        is_image = media.startswith("image/")
        return {"type": "image", "source": source} if is_image else {"media_type": media, "data": source}
    # A call that the provider itself has made belongs to its result as well.
    key = "tool_use_id" if kind.endswith("_result") else "id"
    told = content.to_dict(exclude={"raw_representation"})
    return {"type": f"agent_framework_{kind}", key: content.call_id or "", "name": kind, "told": told}


def _write(message: Fields, originals: Sequence[Message]) -> Message:
    if ORIGIN not in message:
        return Message("user", [Content.from_text(message["content"])])
    made = copy(originals[message[ORIGIN]])
    made.contents = [_write_block(block, made.contents[block[ORIGIN]]) for block in message["content"]]
    return made


def _write_block(block: Fields, original: Content) -> Content:
    if block == {ORIGIN: block[ORIGIN], **_read_block(original)}:
        return original
    made = copy(original)
    if block["type"] == "tool_use":
        made.arguments = json_of(block["input"], 0)
    elif block["type"] == "tool_result":
        made.result = block["content"]
        made.items = [Content.from_text(block["content"])]
    else:
        made.text = block["text"]
    return made
