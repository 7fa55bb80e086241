"""
Runs inside the environment of the peers: lists to compact in, compacted lists out, a line of JSON each.

It knows nothing of this project. Each peer is driven through its own public objects, with the settings that its
documentation shows, in shares of the window where those are counted in tokens: begin at four fifths of the window
(LangChain's and ADK's are asked to, OpenAI's session through its hook), and keep what its example keeps. Where a peer
wants a model for a summary, the caller's stand-in answers, which is asked by a line of JSON as well; where it takes a
counter, it is given the estimator that all candidates are measured with.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TRIGGER = 0.8
"""The share of a window at which peers begin that have no default for it."""

DISTRIBUTIONS = ("langchain", "openai-agents", "google-adk", "headroom-ai")
COSTS = bytes.fromhex(os.environ.get("BYTE_COSTS", ""))
"""What each byte costs, from the caller."""

_FRAME, _BLOCK = 4, 10


def count_text(text: str) -> int:
    """Estimate tokens by what bytes cost, as the caller does; a test compares the two."""
    return (sum(text.encode("utf-8", "surrogatepass").translate(COSTS)) + 19) // 20


def count_messages(messages: Iterable[dict[str, Any]]) -> int:
    """Estimate what a list of OpenAI chat costs, as the caller does."""
    tokens = 0
    for message in messages:
        calls = message.get("tool_calls") or ()
        blocks = len(calls) + (message["role"] == "tool")
        tokens += _FRAME + _BLOCK * blocks + count_text(message.get("content") or "")
        tokens += sum(count_text(call["function"]["arguments"]) for call in calls)
    return tokens


def ask_stand_in(text: str, limit: int) -> str:
    """Let the caller summarise a text."""
    _send({"summarise": text, "limit": limit})
    return json.loads(sys.stdin.readline())["summary"]


class LangChainMessages:
    """Turns a list into LangChain's messages and back; what was not touched is the very list that came."""

    def __init__(self) -> None:
        self._given: list[dict[str, Any]] = []
        self._made: list[Any] = []

    def read(self, messages: Sequence[dict[str, Any]]) -> list[Any]:
        """Return LangChain's messages."""
        from langchain_core.messages import convert_to_messages

        self._given = list(messages)
        self._made = convert_to_messages(self._given)
        for index, message in enumerate(self._made):
            message.id = str(index)
        return list(self._made)

    def write(self, messages: Iterable[Any]) -> list[dict[str, Any]]:
        """Return a list of OpenAI chat."""
        from langchain_core.messages import convert_to_openai_messages

        written: list[dict[str, Any]] = []
        for message in messages:
            index = int(message.id) if (message.id or "").isdecimal() else -1
            if index >= 0 and message.content == self._made[index].content:
                written.append(self._given[index])
            else:
                written.append(convert_to_openai_messages(message))
        return written


def count_langchain(messages: Iterable[Any]) -> int:
    """Estimate what LangChain's messages cost."""
    from langchain_core.messages import convert_to_openai_messages

    return count_messages(convert_to_openai_messages(list(messages)))


class LangChainSummarization:
    """`SummarizationMiddleware` with the trigger and the tail of its documentation: 0.8 and 0.3 of the window."""

    def __init__(self, window: int, limit: int) -> None:
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.language_models.fake_chat_models import FakeListChatModel
        from langchain_core.messages import get_buffer_string

        self._messages = LangChainMessages()
        self._middleware = SummarizationMiddleware(
            FakeListChatModel(responses=["never asked"]),
            trigger=("tokens", int(TRIGGER * window)),
            keep=("tokens", int(0.3 * window)),
            token_counter=count_langchain,
            summarizer=lambda messages: ask_stand_in(get_buffer_string(messages), limit),
        )

    def compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        made = self._messages.read(messages)
        update = self._middleware.before_model({"messages": made}, None)
        return messages if update is None else self._messages.write(update["messages"][1:])


class LangChainClearing:
    """`ContextEditingMiddleware` with a `ClearToolUsesEdit`: at half of the window, as its 100,000 are of 200,000."""

    def __init__(self, window: int, limit: int) -> None:
        from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

        del limit
        self._messages = LangChainMessages()
        self._middleware = ContextEditingMiddleware(
            edits=[ClearToolUsesEdit(trigger=window // 2)], token_counter=count_langchain
        )

    def compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        from langchain.agents.middleware import ModelRequest
        from langchain_core.language_models.fake_chat_models import FakeListChatModel
        from langchain_core.messages import AIMessage

        sent: list[Any] = []

        def take(request: ModelRequest) -> AIMessage:
            sent.extend(request.messages)
            return AIMessage("")

        model = FakeListChatModel(responses=["never asked"])
        self._middleware.wrap_model_call(ModelRequest(model=model, messages=self._messages.read(messages)), take)
        return self._messages.write(sent)


class OpenAITrimmer:
    """`ToolOutputTrimmer` of the Agents SDK with its defaults, which no window changes."""

    def __init__(self, window: int, limit: int) -> None:
        from agents.extensions import ToolOutputTrimmer

        del window, limit
        self._trim = ToolOutputTrimmer()

    def compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        from types import SimpleNamespace

        from agents.run_config import ModelInputData

        data = SimpleNamespace(model_data=ModelInputData(input=_to_items(messages), instructions=None))
        return _from_items(self._trim(data).input)


class _Endpoint:
    """
    Answers in place of OpenAI's endpoint, which is no code that could be run.

    As documented it gives back the users' messages and one item for all else, here with the stand-in's summary.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit

    @property
    def responses(self) -> _Endpoint:
        """Stand in for the client's resource."""
        return self

    async def compact(self, **asked: Any) -> Any:
        """Return a compacted response."""
        from types import SimpleNamespace

        users = [item for item in asked["input"] if item.get("role") == "user"]
        others = [item for item in asked["input"] if item.get("role") != "user"]
        fields = ("content", "output", "arguments", "encrypted_content")
        text = "\n".join(str(next(filter(None, map(item.get, fields)), "")) for item in others)
        made = {"type": "compaction", "encrypted_content": ask_stand_in(text, self._limit)}
        return SimpleNamespace(output=[*users, made], usage=None, id="response")


class OpenAICompaction:
    """`OpenAIResponsesCompactionSession`, whose hook decides by tokens, with a client that answers by the stand-in."""

    def __init__(self, window: int, limit: int) -> None:
        from agents import SQLiteSession
        from agents.memory import OpenAIResponsesCompactionSession

        threshold = int(TRIGGER * window)
        self._session = OpenAIResponsesCompactionSession(
            "run",
            SQLiteSession("run"),
            client=_Endpoint(limit),
            compaction_mode="input",
            should_trigger_compaction=lambda context: count_messages(_from_items(context["session_items"])) > threshold,
        )
        self._loop = asyncio.new_event_loop()

    def compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        return self._loop.run_until_complete(self._compact(messages))

    async def _compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        await self._session.clear_session()
        await self._session.add_items(_to_items(messages))
        await self._session.run_compaction({"compaction_mode": "input"})
        return _from_items(await self._session.get_items())


def _to_items(messages: Iterable[dict[str, Any]]) -> list[Any]:
    items: list[Any] = []
    for message in messages:
        if message["role"] == "tool":
            items.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
            continue
        if message.get("compaction"):
            items.append({"type": "compaction", "encrypted_content": message["content"]})
            continue
        if message.get("content"):
            items.append({"role": message["role"], "content": message["content"]})
        items += [
            {
                "type": "function_call",
                "call_id": call["id"],
                "name": call["function"]["name"],
                "arguments": call["function"]["arguments"],
            }
            for call in message.get("tool_calls") or ()
        ]
    return items


def _from_items(items: Iterable[Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type")
        if kind == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        elif kind == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            if messages and messages[-1]["role"] == "assistant":
                messages[-1].setdefault("tool_calls", []).append(call)
            else:
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif kind == "compaction":
            messages.append({"role": "assistant", "content": item["encrypted_content"], "compaction": True})
        else:
            messages.append({"role": item["role"], "content": item["content"]})
    return messages


class AdkCompaction:
    """ADK's `EventsCompactionConfig` by tokens, with the `LlmEventSummarizer` that it makes; ten events stay."""

    def __init__(self, window: int, limit: int) -> None:
        from google.adk.apps.app import EventsCompactionConfig
        from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
        from google.adk.models.base_llm import BaseLlm
        from google.adk.models.llm_response import LlmResponse
        from google.adk.sessions.in_memory_session_service import InMemorySessionService
        from google.genai import types

        class StandIn(BaseLlm):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                del stream
                text = ask_stand_in(llm_request.contents[0].parts[0].text, limit)
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))

        self._config = EventsCompactionConfig(
            token_threshold=max(1, int(TRIGGER * window)),
            event_retention_size=10,
            summarizer=LlmEventSummarizer(llm=StandIn(model="stand-in")),
        )
        self._service = InMemorySessionService()
        self._loop = asyncio.new_event_loop()
        self._session = self._loop.run_until_complete(self._service.create_session(app_name="app", user_id="user"))
        self._seen = 0
        self._names: dict[str, str] = {}

    def compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead; the session keeps what it has compacted."""
        return self._loop.run_until_complete(self._compact(messages))

    async def _compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        from google.adk.apps.compaction import _run_compaction_for_token_threshold_config
        from google.adk.flows.llm_flows.context._contents import _get_contents
        from google.genai import types

        for message in messages[self._seen :]:
            self._seen += 1
            await self._service.append_event(self._session, self._event(message))
        # What a provider would have reported of the request that the events stand for.
        tokens = count_messages(_from_contents(_get_contents(None, self._session.events, "agent")))
        latest = self._session.events[-1]
        latest.usage_metadata = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens)
        await _run_compaction_for_token_threshold_config(
            config=self._config,
            session=self._session,
            session_service=self._service,
            agent=None,  # type: ignore[arg-type]
        )
        return _from_contents(_get_contents(None, self._session.events, "agent"))

    def _event(self, message: dict[str, Any]) -> Any:
        from google.adk.events.event import Event
        from google.genai import types

        parts = [types.Part(text=message["content"])] if message.get("content") and message["role"] != "tool" else []
        for call in message.get("tool_calls") or ():
            self._names[call["id"]] = call["function"]["name"]
            arguments = json.loads(call["function"]["arguments"])
            parts.append(
                types.Part(
                    function_call=types.FunctionCall(id=call["id"], name=call["function"]["name"], args=arguments)
                )
            )
        if message["role"] == "tool":
            name = self._names.get(message["tool_call_id"], "tool")
            response = types.FunctionResponse(
                id=message["tool_call_id"], name=name, response={"result": message["content"]}
            )
            parts = [types.Part(function_response=response)]
        is_model = message["role"] == "assistant"
        return Event(
            author="user" if message["role"] == "user" else "agent",
            content=types.Content(role="model" if is_model else "user", parts=parts or [types.Part(text=" ")]),
            timestamp=float(self._seen),
            invocation_id=f"i{self._seen}",
        )


def _from_contents(contents: Iterable[Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for content in contents:
        message: dict[str, Any] = {"role": "assistant" if content.role == "model" else "user", "content": ""}
        results: list[dict[str, Any]] = []
        for part in content.parts or ():
            if part.text:
                message["content"] += part.text
            if part.function_call:
                function = {"name": part.function_call.name, "arguments": json.dumps(part.function_call.args)}
                call = {"id": part.function_call.id or "", "type": "function", "function": function}
                message.setdefault("tool_calls", []).append(call)
            if part.function_response:
                answer = (part.function_response.response or {}).get("result", "")
                results.append({"role": "tool", "tool_call_id": part.function_response.id or "", "content": answer})
        messages += results or [message]
    return messages


class Headroom:
    """`headroom.compress` with its defaults and the window as `model_limit`, without its own model for prose."""

    def __init__(self, window: int, limit: int) -> None:
        del limit
        self._window = window

    def compact(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the list that is sent instead."""
        from headroom import compress

        return compress(messages, model="gpt-4o", model_limit=self._window, kompress_model="disabled").messages


PEERS: dict[str, Callable[[int, int], Any]] = {
    "langchain-summarization": LangChainSummarization,
    "langchain-clearing": LangChainClearing,
    "openai-trimmer": OpenAITrimmer,
    "openai-compaction": OpenAICompaction,
    "adk": AdkCompaction,
    "headroom": Headroom,
}


def main() -> None:
    """Answer each line of standard input: versions, or a list compacted by a peer."""
    peers: dict[str, Any] = {}
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        try:
            if "run" not in asked:
                _send({"versions": dict(_versions())})
                continue
            if asked["new"]:
                peers[asked["peer"]] = PEERS[asked["peer"]](asked["window"], asked["limit"])
            _send({"messages": peers[asked["peer"]].compact(asked["messages"])})
        except Exception:  # noqa: BLE001 - other people's code; the report says what happened
            _send({"error": traceback.format_exc(limit=-3, chain=False)})


def _versions() -> Iterable[tuple[str, str]]:
    for name in DISTRIBUTIONS:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


_OUT = sys.stdout


def _send(value: object) -> None:
    _OUT.write(json.dumps(value) + "\n")
    _OUT.flush()


if __name__ == "__main__":
    _OUT, sys.stdout = sys.stdout, sys.stderr  # Peers print what they like; the answers alone go out.
    main()
