"""The tool runner of the Anthropic SDK, over a transport that plays the API."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from opentelemetry import trace

import otel_errcompact as errcompact
from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.integrations.anthropic import compacted, guarded
from otel_errcompact_context import providers
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.messages import with_text
from otel_errcompact_context.window.endpoints import anthropic_compaction, anthropic_context_editing
from otel_errcompact_context.window.window import ContextWindow
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, Tools, verify
from tests.integrations.served import Served, served

if TYPE_CHECKING:
    from tests.integrations.conftest import World


MAKES_SPANS = find_spec("anthropic.lib._tracing") is not None
"""Newer releases make spans as soon as there is a tracer provider; those of the tests would fail beside ours."""

http: Any = import_module("httpx2" if find_spec("httpx2") else "httpx")
"""What the SDK speaks over: releases before 1.0 have another."""

EXAMPLE = Path(__file__).parents[2] / "examples" / "with_anthropic.py"


class Api:
    """Answers with the calls of a script, then with text, and keeps the requests."""

    def __init__(self, *turns: list[tuple[str, dict[str, Any]]]) -> None:
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: Any) -> Any:
        self.requests.append(json.loads(request.content))
        turn = self.turns.pop(0) if self.turns else []
        number = len(self.requests)
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"toolu_{number}_{n}", "name": name, "input": arguments}
            for n, (name, arguments) in enumerate(turn)
        ] or [{"type": "text", "text": "done"}]
        message = {
                "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude", "content": content,
                "stop_reason": "tool_use" if turn else "end_turn", "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return _streamed(message) if self.requests[-1].get("stream") else http.Response(200, json=message)

    def runner(self, *tools: Any, **options: Any) -> Any:
        client = Anthropic(api_key="none", http_client=http.Client(transport=http.MockTransport(self)))
        return client.beta.messages.tool_runner(**self.params(tools), **options)

    def async_runner(self, *tools: Any, **options: Any) -> Any:
        transport = http.AsyncClient(transport=http.MockTransport(self))
        return AsyncAnthropic(api_key="none", http_client=transport).beta.messages.tool_runner(
            **self.params(tools), **options
        )

    def params(self, tools: Any) -> dict[str, Any]:
        return {
            "model": "claude", "max_tokens": 100, "tools": list(tools), "messages": [{"role": "user", "content": "?"}],
        }  # fmt: skip

    @property
    def read(self) -> list[tuple[str, bool]]:
        """The results of tools that the model was sent, and whether they were marked as errors."""
        results = {
            block["tool_use_id"]: block
            for request in self.requests
            for message in request["messages"]
            if message["role"] == "user" and isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        }
        return [(_text(block["content"]), block.get("is_error", False)) for block in results.values()]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else content[0]["text"]


def _streamed(message: dict[str, Any]) -> Any:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(message["content"]):
        empty = {**block, "input": {}} if "input" in block else {**block, "text": ""}
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            if "input" in block
            else {"type": "text_delta", "text": block["text"]}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return http.Response(200, text=text, headers={"content-type": "text/event-stream"})


COFFEE, TEA = ("price", {"item": "coffee"}), ("price", {"item": "tea"})
executed: list[str] = []


@compacted
@beta_tool
def price(item: str) -> str:
    """Look up a price."""
    executed.append(item)
    return str({"tea": 2}[item])


@compacted
@beta_tool
def stock(item: str) -> str:
    """Count what is there."""
    executed.append("stock")
    return item


@compacted
@beta_async_tool(name="price")
async def async_price(item: str) -> str:
    """Look up a price."""
    await asyncio.sleep(0)
    executed.append(item)
    return str({"tea": 2}[item])


@pytest.fixture(autouse=True)
def _fresh() -> None:
    executed.clear()


@pytest.mark.duty("render")
@pytest.mark.duty("gate")
def test_a_tool_that_fails_for_ever_stops_before_the_next_request(world: World) -> None:
    """Three requests, three executions, no fourth request."""
    api = Api(*[[COFFEE]] * 9)
    with pytest.raises(errcompact.RunHalted), errcompact.run(agent="shop") as run:
        for _ in guarded(api.runner(price)):
            pass
    assert kinds(api) == [("new", True), ("again", True)]
    assert "Traceback" not in json.dumps(api.requests)
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [raw.splitlines()[-1] for raw in world.raw_errors()] == ["KeyError: 'coffee'"] * 3
    native = [span.name for span in world.spans() if span.name.startswith("anthropic.custom_tool_use")]
    assert native == (["anthropic.custom_tool_use price"] * 3 if MAKES_SPANS else [])
    assert run.report().result == "halted"


def test_the_same_asynchronously_with_an_asynchronous_handler(world: World) -> None:
    """The handler is awaited at the gate."""
    api, asked = Api(*[[COFFEE]] * 9), []

    async def handler(escalation: errcompact.Escalation) -> errcompact.Halt:
        await asyncio.sleep(0)
        asked.append(escalation.tool)
        return errcompact.Halt("enough")

    async def play() -> None:
        async with errcompact.run(agent="shop", on_escalation=handler):
            async for _ in guarded(api.async_runner(async_price)):
                pass

    with pytest.raises(errcompact.RunHalted, match="enough"):
        asyncio.run(play())
    assert asked == ["price"]
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 3
    assert world.errors() == {"new": 1, "repeat": 2}


def kinds(api: Api) -> list[tuple[str, bool]]:
    """What the model read: the digest of a new failure, a line for one again, or else the text."""
    return [
        ("new" if "[KeyError] at price (" in text else "again" if " again (" in text else text, marked)
        for text, marked in api.read
    ]


@pytest.mark.duty("success")
def test_a_success_resolves(world: World) -> None:
    """The failure of the same call before it is over, and the run has recovered."""
    api, failing = Api([COFFEE], [COFFEE]), [True, False]

    @compacted
    @beta_tool(name="price")
    def flaky(item: str) -> str:
        """Look up a price."""
        if failing.pop():
            return "2"
        raise KeyError(item)

    with errcompact.run(agent="shop"):
        assert [message.stop_reason for message in guarded(api.runner(flaky))] == ["tool_use", "tool_use", "end_turn"]
    assert [(text.partition(" ")[0], marked) for text, marked in api.read] == [("[KeyError]", True), ("2", False)]
    assert world.errors() == {"new": 1}
    assert world.resolutions() == 1
    assert world.runs() == {"recovered": 1}


def test_parallel_calls_are_judged_each_for_itself(world: World) -> None:
    """A sibling's success does not end the streak of what fails."""
    api = Api(*[[COFFEE, ("stock", {"item": "tea"})]] * 9)
    with pytest.raises(errcompact.RunHalted), errcompact.run():
        list(guarded(api.runner(price, stock)))
    assert executed == ["coffee", "stock"] * 3
    assert world.errors() == {"new": 1, "repeat": 2}


@pytest.mark.duty("ask", says="leave the loop, go on with it")
def test_a_pause_leaves_the_loop_which_goes_on_from_there(world: World) -> None:
    """No tool runs twice, nothing is counted twice, and the human's message stands beside the result."""
    api = Api(*[[COFFEE]] * 3)
    with errcompact.run(on_escalation=lambda escalation: errcompact.Pause()) as run:
        messages = guarded(api.runner(price))
        for _ in range(2):  # also a second try while nobody has answered
            with pytest.raises(errcompact.RunPaused):
                list(messages)
        assert len(api.requests) == 3
        run.answer("there is no coffee today")
        assert [message.stop_reason for message in messages] == ["end_turn"]
    assert executed == ["coffee"] * 3
    assert "there is no coffee today" in api.requests[-1]["messages"][-1]["content"][-1]["text"]
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}


def test_a_handler_that_raises_halts_and_is_counted(world: World) -> None:
    """Its failure is visible apart."""
    api = Api(*[[COFFEE]] * 9)

    def handler(escalation: errcompact.Escalation) -> errcompact.Halt:
        raise ConnectionError("pager")

    with pytest.raises(errcompact.RunHalted, match="handler failed"), errcompact.run(on_escalation=handler):
        list(guarded(api.runner(price)))
    assert world.internal_failures() == {"escalation_handler": 1}


@pytest.mark.filterwarnings("ignore:Tool 'prize' not found")
def test_bad_arguments_and_unknown_tools_are_failures(world: World) -> None:
    """Of two classes: one that the SDK raises, one that its runner answers itself."""
    api = Api([("price", {"thing": 1})], [("prize", {})])
    with errcompact.run():
        list(guarded(api.runner(price)))
    (first, marked), (second, _) = api.read
    assert marked
    assert "thing" in first
    assert "Tool 'prize' not found" in second
    assert executed == []
    assert world.errors() == {"new": 2}


@compacted
@beta_tool
def pay(order: int) -> str:
    """Pay an order, or say in words that it cannot."""
    return "Error: payment method not found" if order else "Error: no such order"


def test_a_failure_that_a_tool_has_only_said_counts_once(world: World) -> None:
    """Its words are so few that they are their own digest; the runner's result is no second failure."""
    api = Api(*[[("pay", {"order": order})] for order in (1, 2, 0)])
    with errcompact.run():
        list(guarded(api.runner(pay)))
    said, is_error = api.read[0]
    assert re.fullmatch(r"Error: payment method not found #\w{4}", said)
    assert is_error
    assert world.errors() == {"new": 2, "repeat": 1}


@pytest.mark.duty("span")
@pytest.mark.parametrize("handled", [True, False], ids=["handled", "root cause"])
def test_a_span_inside_the_tool_is_part_of_the_call(world: World, handled: bool) -> None:
    """With the SDK's own spans on, as ever, an occurrence counts once; one that was got over counts as handled."""

    @compacted
    @beta_tool
    def fetch(url: str) -> str:
        """Fetch."""
        try:
            with trace.get_tracer("http").start_as_current_span("GET"):
                raise ConnectionError(url)
        except ConnectionError:
            if not handled:
                raise
        return "cached"

    api = Api([("fetch", {"url": "x"})])
    with errcompact.run():
        list(guarded(api.runner(fetch)))
    assert world.errors() == ({"handled": 1} if handled else {"new": 1})


def test_a_streamed_reply_is_guarded_too(world: World) -> None:
    """The items are the streams; their final message tells what was called."""
    api = Api(*[[COFFEE]] * 9)
    with pytest.raises(errcompact.RunHalted), errcompact.run():
        for stream in guarded(api.runner(price, stream=True)):
            stream.until_done()
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 3


def test_what_an_operator_says_in_between_is_read_by_the_model(world: World) -> None:
    """Also where no call has failed since: beside the results."""
    api = Api([("works", {})])

    @compacted
    @beta_tool
    def works() -> str:
        """Work, while a human says something."""
        errcompact.current_run().resume("it is open now")
        return "fine"

    with errcompact.run():
        list(guarded(api.runner(works)))
    assert api.requests[-1]["messages"][-1]["content"][-1] == {"type": "text", "text": "OPERATOR: it is open now"}


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework."""
    tools = Tools(conversation.turns)
    api = Api(*([(ask.tool, ask.arguments) for ask in turn] for turn in conversation.turns))
    with suppress(errcompact.RunHalted), errcompact.run(**conversation.settings) as run:
        runner = api.runner(*(compacted(beta_tool(tool)) for tool in (tools.check, tools.edit)))
        messages = guarded(runner)
        for _ in messages:
            pass
    sent = {json.dumps(message) for request in api.requests for message in request["messages"]}
    last = json.dumps(runner.generate_tool_call_response()) if run.report().result == "halted" else ""
    verify(conversation, Seen(run.report(), tools.executed, "\n".join([*sent, last])))


@pytest.mark.skipif(find_spec("httpx2") is None, reason="the example plays the API over what newer releases speak")
def test_the_example_runs() -> None:
    """It shows two digests and the halt."""
    shown = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True).stdout
    assert "[KeyError] at price" in shown
    assert "stopped: run " in shown


def test_message_lists_hold_the_objects_of_the_sdk():
    """
    A list of dicts and of `response.content` is read, comes back as it was, and the SDK sends what was edited.
    """
    api = Api([("price", {"item": "tea"})], [])
    client = Anthropic(api_key="none", http_client=http.Client(transport=http.MockTransport(api)))
    ask: Any = {"role": "user", "content": "what does tea cost?"}
    response = client.messages.create(model="claude", max_tokens=100, messages=[ask])
    result = {"type": "tool_result", "tool_use_id": "toolu_1_0", "content": "3.50 " * 100, "is_error": False}
    messages = [ask, {"role": "assistant", "content": response.content}, {"role": "user", "content": [result]}]

    conversation = providers.read_list(messages, estimate_tokens)
    call = conversation.messages[1].parts[0]
    cut = [
        ask,
        *(
            providers.PROVIDERS["anthropic"].write_message(with_text(message, 0, text, estimate_tokens))
            for message, text in zip(conversation.messages[1:], ('{"item": "t"}', "cut"), strict=True)
        ),
    ]
    client.messages.create(model="claude", max_tokens=100, messages=cut)

    assert (call.kind, call.tool, call.call_id, call.text) == ("call", "price", "toolu_1_0", '{"item":"tea"}')
    assert providers.find_problems(conversation) == ()
    assert all(a is b for a, b in zip(messages, providers.write_list(conversation), strict=True))
    assert api.requests[1]["messages"] == [
        ask,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1_0", "name": "price", "input": {"item": "t"}}],
        },
        {"role": "user", "content": [{**result, "content": "cut"}]},
    ]
    assert providers.plain(messages[1]) == {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_1_0", "name": "price", "input": {"item": "tea"}}],
    }


SAYS_TOO_LONG = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "prompt is too long: 12000 tokens > 10000 maximum"},
    "request_id": "req_1",
}
OPTIONS = ContextOptions(window_tokens=10_000, reserve_tokens=1_000)


def _said(text: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None,
        "stop_reason": "end_turn", "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 1, "output_tokens": 1}, **fields,
    }  # fmt: skip


def _chat(turns: int) -> list[Any]:
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"{n} " + "word Row of the list. " * 73}
        for n in range(turns)
    ]


def _provider(asked: Any) -> tuple[int, dict[str, Any]]:
    """Refuse what is too long, compact what is asked to be, and answer the rest."""
    if "compaction" in asked.body:
        block = {"type": "compaction", "content": "in short: the list is well", "signature": "s"}
        return 200, _said("", content=[block], stop_reason="compaction")
    return (400, SAYS_TOO_LONG) if len(json.dumps(asked.body)) > 25_000 else (200, _said("fine"))


def test_a_refused_call_is_saved_and_the_provider_compacts_by_itself() -> None:
    """The SDK's own error is recognised, and the compaction of its beta is the summary; by the real SDK over HTTP."""
    with served(_provider) as api:
        client = Anthropic(api_key="none", base_url=api.url, max_retries=0)
        window = ContextWindow(
            OPTIONS, archive=MemoryArchive(), summarize=anthropic_compaction(client, "claude", system="Be brief.")
        )
        sent = OverflowGuard(window).call(
            lambda messages: client.messages.create(model="claude", max_tokens=100, messages=messages),
            _chat(19),
            format="anthropic",
        )
    assert sent.reply.content[0].text == "fine"
    assert "in short: the list is well" in str(sent.messages)
    refused, compaction, retried = api.asked
    assert {one.path.partition("?")[0] for one in api.asked} == {"/v1/messages"}
    assert compaction.headers["anthropic-beta"] == "compact-2026-09-04"
    assert compaction.body["compaction"]["type"] == "summarize"
    assert "Summarise the conversation" in compaction.body["compaction"]["instructions"]
    assert compaction.body["system"] == "Be brief."
    assert compaction.body["messages"] == refused.body["messages"][: len(compaction.body["messages"])]
    assert len(retried.body["messages"]) < len(refused.body["messages"])


def test_the_same_with_the_asynchronous_client() -> None:
    """The window is used asynchronously then."""

    async def go(api: Served) -> Any:
        async with AsyncAnthropic(api_key="none", base_url=api.url, max_retries=0) as client:
            window = ContextWindow(OPTIONS, archive=MemoryArchive(), summarize=anthropic_compaction(client, "claude"))
            return await OverflowGuard(window).acall(
                lambda messages: client.messages.create(model="claude", max_tokens=100, messages=messages),
                _chat(19),
                format="anthropic",
            )

    with served(_provider) as api:
        sent = asyncio.run(go(api))
    assert sent.reply.content[0].text == "fine"
    assert "in short: the list is well" in str(sent.messages)


def _clearing(asked: Any) -> tuple[int, dict[str, Any]]:
    """Clear what is over the trigger of the request, and say how much."""
    edit = asked.body["context_management"]["edits"][0]
    tokens = len(json.dumps(asked.body["messages"])) // 4
    cleared = max(0, tokens - edit["trigger"]["value"])
    edits = [{"type": edit["type"], "cleared_tool_uses": 3, "cleared_input_tokens": cleared}] if cleared else []
    said = _said("fine")
    said["usage"] = {"input_tokens": tokens - cleared, "output_tokens": 2}
    return 200, said | {"context_management": {"applied_edits": edits}}


def test_the_provider_clears_old_results_by_itself() -> None:
    """What its reply says was cleared, the guard does not take for a prompt that was cut; by the real SDK over HTTP."""
    messages: list[Any] = [{"role": "user", "content": "Find the slowest module."}]
    for turn in range(60):
        call = {"type": "tool_use", "id": f"c{turn}", "name": "profile", "input": {}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"c{turn}",
            "content": f"{turn} " + "word Row of the list. " * 27,
        }
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    with served(_clearing) as api:
        client = Anthropic(api_key="none", base_url=api.url, max_retries=0)
        window = ContextWindow(ContextOptions(window_tokens=20_000), archive=MemoryArchive())
        guard = OverflowGuard(window)
        for end in (61, 81, 121):
            sent = guard.call(
                lambda given: client.beta.messages.create(
                    model="claude", max_tokens=100, messages=given, **anthropic_context_editing(window)
                ),
                messages[:end],
                format="anthropic",
            )
            assert sent.messages == messages[:end]
    assert [one.headers["anthropic-beta"] for one in api.asked] == ["context-management-2025-06-27"] * 3
    assert sent.reply.context_management.applied_edits[0].cleared_input_tokens > 0
    assert guard.widened_window() > guard.lowered_window()
