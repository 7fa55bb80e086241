"""The tool loops of the OpenAI SDK, over a transport that plays the API."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.lib.responses_tool_runner import (
    AsyncRegisteredFunction,
    AsyncResponsesToolRunner,
    RegisteredFunction,
    ResponsesToolRunner,
    ToolRunnerError,
)
from opentelemetry import trace

import otel_errcompact as errcompact
from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.integrations.openai import aanswered, answered, compacted, guarded
from otel_errcompact_context import providers
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.messages import with_text
from otel_errcompact_context.window.endpoints import openai_compaction, openai_context_management
from otel_errcompact_context.window.window import ContextWindow
from tests.integrations.conversations import CONVERSATIONS, Conversation, Seen, Tools, verify
from tests.integrations.served import Asked, Served, served

if TYPE_CHECKING:
    from tests.integrations.conftest import World

EXAMPLE = Path(__file__).parents[2] / "examples" / "with_openai.py"
PAGE = Path(__file__).parents[2] / "docs" / "frameworks" / "openai.md"
SCHEMA = {
    "type": "object",
    "properties": {"item": {"type": "string"}},
    "required": ["item"],
    "additionalProperties": False,
}
SPEC: Any = {"type": "function", "name": "price", "description": "Price.", "parameters": SCHEMA, "strict": True}
PARAMS: Any = {"model": "gpt", "input": "?"}

executed: list[str] = []


def price(item: str) -> str:
    executed.append(item)
    return str({"tea": 2}[item])


async def async_price(item: str) -> str:
    await asyncio.sleep(0)
    return price(item)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    executed.clear()


class Api:
    """Answers with the calls of a script, then with text, and keeps the requests; Responses and chat completions."""

    def __init__(self, *turns: list[tuple[str, str]]) -> None:
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        turn = self.turns.pop(0) if self.turns else []
        number = len(self.requests)
        calls = [(f"call_{number}_{n}", name, arguments) for n, (name, arguments) in enumerate(turn)]
        chat = request.url.path.endswith("completions")
        return httpx2.Response(200, json=_completion(calls) if chat else _response(number, calls))

    @property
    def client(self) -> OpenAI:
        return OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(self)))

    @property
    def async_client(self) -> AsyncOpenAI:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        return AsyncOpenAI(api_key="none", http_client=http)


def _response(number: int, calls: list[tuple[str, str, str]]) -> dict[str, Any]:
    items = [
        {
            "type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": arguments,
            "status": "completed",
        }
        for call_id, name, arguments in calls
    ] or [
        {
            "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        }
    ]  # fmt: skip
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1, "model": "gpt", "output": items,
        "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": None,
    }  # fmt: skip


def _completion(calls: list[tuple[str, str, str]]) -> dict[str, Any]:
    asked = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    message = {"role": "assistant", "content": None if asked else "done", "tool_calls": asked or None}
    choice = {"index": 0, "finish_reason": "tool_calls" if asked else "stop", "message": message}
    return {"id": "chat", "object": "chat.completion", "created": 1, "model": "gpt", "choices": [choice]}


def asks(item: str) -> tuple[str, str]:
    return ("price", json.dumps({"item": item}))


COFFEE, TEA = asks("coffee"), asks("tea")


def kinds(texts: list[str]) -> list[str]:
    """What the model read: the digest of a new failure, a line for one again, or else the text."""
    return ["new" if "[KeyError] at price (" in text else "again" if " again (" in text else text for text in texts]


def outputs(history: Any) -> list[str]:
    return [item["output"] for item in history if isinstance(item, dict) and item.get("type") == "function_call_output"]


def responses_loop(run: errcompact.Run, api: Api, history: list[Any], **tools: Any) -> None:
    """A loop of one's own over the Responses API."""
    while True:
        run.check()
        reply = api.client.responses.create(model="gpt", input=history)
        history += [item.model_dump(exclude_none=True) for item in reply.output]
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return
        history += [answered(call, {"price": price, **tools}) for call in calls]


def chat_loop(run: errcompact.Run, api: Api, history: list[Any]) -> None:
    """The same over chat completions."""
    while True:
        run.check()
        message = api.client.chat.completions.create(model="gpt", messages=history).choices[0].message
        history.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return
        history += [answered(call, {"price": price}) for call in message.tool_calls]


@pytest.mark.duty("render", says="text only: no error flag")
@pytest.mark.duty("gate")
@pytest.mark.parametrize("loop", [responses_loop, chat_loop])
def test_a_tool_that_fails_for_ever_stops_a_loop_of_ones_own(world: World, loop: Any) -> None:
    """Three requests, three executions, three digests."""
    api, history = Api(*[[COFFEE]] * 9), [{"role": "user", "content": "?"}]
    with pytest.raises(errcompact.RunHalted), errcompact.run(agent="shop") as run:
        loop(run, api, history)
    told = [item.get("output") or item["content"] for item in history if "output" in item or item.get("role") == "tool"]
    assert kinds(told) == ["new", "again", "again"]
    assert "Traceback" not in json.dumps(history)
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 3
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}
    assert world.runs() == {"halted": 1}
    assert [raw.splitlines()[-1] for raw in world.raw_errors()] == ["KeyError: 'coffee'"] * 3
    assert len(world.classes_on_spans()) == 3


@pytest.mark.duty("gate")
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_tool_that_fails_for_ever_stops_the_runner(world: World, asynchronous: bool) -> None:
    """It is halted before its next request."""
    api = Api(*[[COFFEE]] * 9)

    async def play() -> None:
        async def execute(arguments: dict[str, Any]) -> str:
            return await async_price(**arguments)

        runner = AsyncResponsesToolRunner(functions=[compacted(AsyncRegisteredFunction(SPEC, execute))])
        async with errcompact.run(on_escalation=handler):
            async for _ in guarded(runner, api.async_client, PARAMS):
                pass

    async def handler(escalation: errcompact.Escalation) -> errcompact.Halt:
        await asyncio.sleep(0)
        return errcompact.Halt("enough")

    with pytest.raises(errcompact.RunHalted):
        if asynchronous:
            asyncio.run(play())
        else:
            runner = ResponsesToolRunner(functions=[compacted(RegisteredFunction(SPEC, lambda given: price(**given)))])
            with errcompact.run():
                list(guarded(runner, api.client, PARAMS))
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 3
    assert kinds(outputs(api.requests[-1]["input"])) == ["new", "again"]
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"halt": 1}


@pytest.mark.duty("success")
def test_a_success_resolves(world: World) -> None:
    """In the runner, which would have ended at the failure."""
    api, prices = Api([COFFEE], [COFFEE]), iter([{}, {"coffee": "2"}])
    runner = ResponsesToolRunner(
        functions=[compacted(RegisteredFunction(SPEC, lambda given: next(prices)[given["item"]]))]
    )
    with errcompact.run():
        assert [turn.final for turn in guarded(runner, api.client, PARAMS)] == [False, False, True]
    assert [text.partition(" ")[0] for text in outputs(api.requests[-1]["input"])] == ["[KeyError]", "2"]
    assert world.errors() == {"new": 1}
    assert world.resolutions() == 1
    assert world.runs() == {"recovered": 1}


def test_the_applications_own_cancellation_and_other_errors_stay(world: World) -> None:
    """What stops the runner for another reason is the runner's own error."""
    runner = ResponsesToolRunner(functions=[compacted(RegisteredFunction(SPEC, lambda given: price(**given)))])
    with errcompact.run(), pytest.raises(ToolRunnerError, match="cancelled"):
        list(guarded(runner, Api([TEA]).client, PARAMS, cancelled=lambda: True))

    async def play() -> None:
        asynchronous = AsyncResponsesToolRunner(functions=[])
        async with errcompact.run():
            async for _ in guarded(asynchronous, Api([TEA]).async_client, PARAMS, cancelled=lambda: True):
                pass

    with pytest.raises(ToolRunnerError, match="cancelled"):
        asyncio.run(play())


@pytest.mark.duty("ask", says="leave the loop, go on with it")
def test_a_pause_leaves_the_loop_which_goes_on_with_the_same_history(world: World) -> None:
    """No tool runs twice, and nothing is counted twice."""
    api, history = Api(*[[COFFEE]] * 3), [{"role": "user", "content": "?"}]
    with errcompact.run(on_escalation=lambda escalation: errcompact.Pause()) as run:
        with pytest.raises(errcompact.RunPaused):
            responses_loop(run, api, history)
        run.answer("there is no coffee today")
        assert "there is no coffee today" in run.digest()
        responses_loop(run, api, history)
    assert executed == ["coffee"] * 3
    assert len(api.requests) == 4
    assert world.errors() == {"new": 1, "repeat": 2}
    assert world.escalations() == {"pause": 1, "continue": 1}


def test_bad_arguments_and_unknown_tools_are_failures(world: World) -> None:
    """Three classes, each with what the model needs to do better, and no frame: no tool of anyone's has failed."""
    history: list[Any] = [{"role": "user", "content": "?"}]
    api = Api([("price", '{"item" "tea"}')], [("price", '{"thing": 1}')], [("prize", "{}")])
    with errcompact.run() as run:
        responses_loop(run, api, history)
    first, second, third = outputs(history)
    assert "bad JSON arguments: Expecting ':' delimiter: line 1 column 9 (char 8)" in first
    assert 'before it: {"item" ; from there: "tea"}' in first
    assert "item\n  Field required" in second
    assert "thing\n  Unexpected keyword argument" in second
    assert "unknown tool 'prize'; known tools: price" in third
    assert not any("File " in text or ".py" in text for text in (first, second, third))
    assert executed == []
    assert world.errors() == {"new": 3}


def test_functions_that_are_asynchronous_are_not_called_with_what_does_not_fit(world: World) -> None:
    """As above."""

    async def play() -> list[dict[str, Any]]:
        async with errcompact.run():
            reply = await Api([("price", "[1]")]).async_client.responses.create(**PARAMS)
            return [await aanswered(call, {"price": async_price}) for call in reply.output]

    (text,) = outputs(asyncio.run(play()))
    assert "expected an object, got list" in text
    assert world.errors() == {"new": 1}


def test_a_result_that_cannot_be_written_is_a_failure(world: World) -> None:
    """The model must be answered something; arguments that are empty are none."""
    history: list[Any] = [{"role": "user", "content": "?"}]
    with errcompact.run() as run:
        responses_loop(run, Api([("table", "")]), history, table=lambda: {(1, 2): 3})
    (text,) = outputs(history)
    assert text.startswith("[TypeError]")
    assert "keys must be str" in text
    assert world.errors() == {"new": 1}


def test_functions_may_be_asynchronous(world: World) -> None:
    """One answers with text, one with JSON of what it returned."""

    async def play() -> list[dict[str, Any]]:
        async with errcompact.run():
            tools = {"price": async_price, "stock": lambda: {"tea": 3}}
            reply = await Api([TEA, ("stock", "{}"), COFFEE]).async_client.responses.create(**PARAMS)
            return [await aanswered(call, tools) for call in reply.output]

    assert kinds(outputs(asyncio.run(play()))) == ["2", '{"tea": 3}', "new"]
    assert world.errors() == {"new": 1}


@pytest.mark.duty("span")
@pytest.mark.parametrize("handled", [True, False], ids=["handled", "root cause"])
def test_a_span_inside_the_tool_is_part_of_the_call(world: World, handled: bool) -> None:
    """One occurrence counts once; one that was got over counts as handled."""

    def fetch() -> str:
        try:
            with trace.get_tracer("http").start_as_current_span("GET"):
                raise ConnectionError("refused")
        except ConnectionError:
            if not handled:
                raise
        return "cached"

    with errcompact.run():
        (call,) = Api([("fetch", "{}")]).client.responses.create(**PARAMS).output
        answered(call, {"fetch": fetch})
    assert world.errors() == ({"handled": 1} if handled else {"new": 1})


def own_loop(run: errcompact.Run, api: Api, tools: Tools) -> list[Any]:
    history: list[Any] = [{"role": "user", "content": "?"}]
    with suppress(errcompact.RunHalted):
        while True:
            run.check()
            run.begin_turn()
            reply = api.client.responses.create(model="gpt", input=history)
            history += [item.model_dump(exclude_none=True) for item in reply.output]
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                break
            history += [answered(call, {"check": tools.check, "edit": tools.edit}) for call in calls]
    return history


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same decisions as in every framework; where it only observes, the model reads the raw error."""
    tools = Tools(conversation.turns)
    api = Api(*([(ask.tool, json.dumps(ask.arguments)) for ask in turn] for turn in conversation.turns))
    with errcompact.run(**conversation.settings) as run:
        history = own_loop(run, api, tools)
    verify(conversation, Seen(run.report(), tools.executed, "\n".join(outputs(history))))


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_with_the_runner_comes_to_what_is_written(world: World, conversation: Conversation) -> None:
    """The same; where it only observes, the first failure ends the runner, as it does without the library."""
    tools = Tools(conversation.turns)
    api = Api(*([(ask.tool, json.dumps(ask.arguments)) for ask in turn] for turn in conversation.turns))
    known = {name: RegisteredFunction({**SPEC, "name": name}, getattr(tools, name)) for name in ("check", "edit")}
    texts: list[str] = []

    def kept(function: RegisteredFunction) -> RegisteredFunction:
        inner = compacted(
            dataclasses.replace(function, execute=lambda given: getattr(tools, function.tool["name"])(**given))
        )

        def execute(given: Any) -> Any:
            texts.append(str(inner.execute(given)))
            return texts[-1]

        return dataclasses.replace(inner, execute=execute)

    runner = ResponsesToolRunner(functions=[kept(function) for function in known.values()])
    ended = (ToolRunnerError, errcompact.RunHalted)
    with errcompact.run(**conversation.settings) as run, suppress(*ended):
        list(guarded(runner, api.client, PARAMS))
    if conversation.mode == "observe":
        assert (world.errors(), tools.executed) == ({"new": 1}, [("check", "a.py", "")])
        return
    verify(conversation, Seen(run.report(), tools.executed, "\n".join(texts)))


def test_the_example_runs() -> None:
    """Beside calls the model sends messages; the first agent ends by itself, the second one is stopped."""
    shown = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True).stdout
    first, _, second = shown.partition("Tea is 2.")
    assert first == "the model reads: 2\n"
    assert "the model reads: [KeyError] at price" in second
    assert "stopped: run " in second


def test_the_loop_of_the_page_runs() -> None:
    """Word for word, over HTTP: an answer with a message beside its call, then one with a message alone."""
    loop = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    message = _response(1, [])["output"]

    def answer(asked: Asked) -> tuple[int, dict[str, Any]]:
        number = len([item for item in asked.body["input"] if item.get("type") == "function_call_output"])
        calls = [(f"call_{number}", *TEA)] if number == 0 else []
        reply = _response(number, calls)
        return 200, reply | {"output": message + reply["output"]} if calls else reply

    history: list[Any] = [{"role": "user", "content": "What does tea cost?"}]
    with served(answer) as server, errcompact.run(agent="shop") as run:
        client = OpenAI(api_key="none", base_url=f"{server.url}/v1")
        exec(loop, {"client": client, "run": run, "history": history, "price": price})

    assert [asked.path for asked in server.asked] == ["/v1/responses"] * 2
    assert [item.get("type", "message") for item in server.asked[1].body["input"]] == [
        "message", "message", "function_call", "function_call_output",
    ]  # fmt: skip
    assert outputs(history) == ["2"]


CALL = {"id": "call_1", "type": "function", "function": {"name": "price", "arguments": '{"item": "tea"}'}}
CHAT: Any = {
    "id": "chatcmpl_1", "object": "chat.completion", "created": 1, "model": "gpt",
    "choices": [
        {"index": 0, "finish_reason": "tool_calls",
         "message": {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL]}},
    ],
}  # fmt: skip
RESPONSE: Any = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "status": "completed", "tools": [],
    "tool_choice": "auto", "parallel_tool_calls": True,
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "price", "arguments": '{"item": "tea"}'},
    ],
}  # fmt: skip


def test_message_lists_hold_the_objects_of_chat_completions():
    """
    A list of dicts and of `ChatCompletionMessage` is read, comes back as it was, and the SDK sends what was edited.
    """
    requests: list[Any] = []

    def api(request: httpx2.Request) -> httpx2.Response:
        requests.append(json.loads(request.content))
        return httpx2.Response(200, json=CHAT)

    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))
    ask: Any = {"role": "user", "content": "what does tea cost?"}
    message = client.chat.completions.create(model="gpt", messages=[ask]).choices[0].message
    messages: list[Any] = [ask, message, {"role": "tool", "tool_call_id": "call_1", "content": "3.50 " * 100}]

    conversation = providers.read_list(messages, estimate_tokens)
    call = conversation.messages[1].parts[-1]
    cut: list[Any] = [
        providers.PROVIDERS["openai-chat"].write_message(with_text(message, 0, text, estimate_tokens))
        for message, text in zip(conversation.messages[1:], ('{"item": "t"}', "cut"), strict=True)
    ]
    client.chat.completions.create(model="gpt", messages=[ask, *cut])

    assert (call.kind, call.tool, call.call_id, call.text) == ("call", "price", "call_1", '{"item": "tea"}')
    assert providers.find_problems(conversation) == ()
    assert all(a is b for a, b in zip(messages, providers.write_list(conversation), strict=True))
    shortened = {**CALL, "function": {"name": "price", "arguments": '{"item": "t"}'}}
    assert requests[1]["messages"] == [
        ask,
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [shortened]},
        {"role": "tool", "tool_call_id": "call_1", "content": "cut"},
    ]
    assert providers.plain(message) == CHAT["choices"][0]["message"]


def test_message_lists_hold_the_objects_of_responses():
    """
    A list of dicts and of a response's output items is read, comes back as it was, and the SDK sends what was edited.
    """
    requests: list[Any] = []

    def api(request: httpx2.Request) -> httpx2.Response:
        requests.append(json.loads(request.content))
        return httpx2.Response(200, json=RESPONSE)

    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(api)))
    ask: Any = {"role": "user", "content": "what does tea cost?"}
    items = client.responses.create(model="gpt", input=[ask]).output
    messages: list[Any] = [ask, *items, {"type": "function_call_output", "call_id": "call_1", "output": "3.50 " * 100}]

    conversation = providers.read_list(messages, estimate_tokens)
    call = conversation.messages[2].parts[0]
    cut: list[Any] = [
        providers.PROVIDERS["openai-responses"].write_message(with_text(message, 0, text, estimate_tokens))
        for message, text in zip(conversation.messages[2:], ('{"item": "t"}', "cut"), strict=True)
    ]
    client.responses.create(model="gpt", input=[ask, messages[1], *cut])

    assert (call.kind, call.tool, call.call_id, call.text) == ("call", "price", "call_1", '{"item": "tea"}')
    assert providers.find_problems(conversation) == ()
    assert all(a is b for a, b in zip(messages, providers.write_list(conversation), strict=True))
    assert requests[1]["input"] == [
        ask,
        RESPONSE["output"][0],
        {**RESPONSE["output"][1], "arguments": '{"item": "t"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "cut"},
    ]
    assert [providers.plain(item) for item in items] == RESPONSE["output"]


OPTIONS = ContextOptions(window_tokens=10_000, reserve_tokens=1_000)


def _chat(turns: int) -> list[Any]:
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"{n} " + "word Row of the list. " * 73}
        for n in range(turns)
    ]


def _provider(asked: Any) -> tuple[int, dict[str, Any]]:
    """Refuse what is too long, compact what is asked to be, and answer the rest."""
    if asked.path.endswith("/compact"):
        users = [
            {"type": "message", "id": f"msg_{n}", "role": "user", "status": "completed",
             "content": [{"type": "input_text", "text": message["content"]}]}
            for n, message in enumerate(asked.body["input"][:1])
        ]  # fmt: skip
        item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "b3BhcXVl"}
        usage = {
            "input_tokens": 9, "output_tokens": 1, "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return 200, {
            "id": "resp_c", "object": "response.compaction", "created_at": 1, "output": [*users, item], "usage": usage,
        }  # fmt: skip
    if len(json.dumps(asked.body)) > 25_000:
        message = "Your input exceeds the context window of this model. Please adjust your input and try again."
        error = {
            "message": message,
            "type": "invalid_request_error",
            "param": "input",
            "code": "context_length_exceeded",
        }
        return 400, {"error": error}
    return 200, _response(1, [])


def test_a_refused_call_is_saved_and_the_provider_compacts_by_itself() -> None:
    """The SDK's own error is recognised, and its compaction item takes the place of old turns; over HTTP."""
    with served(_provider) as api:
        client = OpenAI(api_key="none", base_url=api.url, max_retries=0)
        window = ContextWindow(OPTIONS, archive=MemoryArchive(), summarize=openai_compaction(client, "gpt"))
        sent = OverflowGuard(window).call(
            lambda items: client.responses.create(model="gpt", input=items), _chat(19), format="openai-responses"
        )
    assert sent.reply.output_text == "done"
    refused, compaction, retried = api.asked
    assert [one.path for one in api.asked] == ["/responses", "/responses/compact", "/responses"]
    assert compaction.body["input"] == refused.body["input"][: len(compaction.body["input"])]
    items = [item for item in retried.body["input"] if item.get("type") == "compaction"]
    assert [item["encrypted_content"] for item in items] == ["b3BhcXVl"]
    assert retried.body["input"][0] == refused.body["input"][0]


def test_the_same_with_the_asynchronous_client() -> None:
    """The window is used asynchronously then."""

    async def go(api: Served) -> Any:
        async with AsyncOpenAI(api_key="none", base_url=api.url, max_retries=0) as client:
            window = ContextWindow(OPTIONS, archive=MemoryArchive(), summarize=openai_compaction(client, "gpt"))
            return await OverflowGuard(window).acall(
                lambda items: client.responses.create(model="gpt", input=items), _chat(19), format="openai-responses"
            )

    with served(_provider) as api:
        sent = asyncio.run(go(api))
    assert sent.reply.output_text == "done"
    assert any(getattr(item, "type", "") == "compaction" for item in sent.messages)


def test_the_provider_compacts_unasked_once_the_request_allows_it() -> None:
    """Its item goes into the list with the rest of the output, and no layer takes it out; by the real SDK over HTTP."""
    made: list[dict[str, str]] = []
    read: list[bool] = []

    def provider(asked: Any) -> tuple[int, dict[str, Any]]:
        reply = _response(1, [])
        read.append([item for item in asked.body["input"] if item.get("type") == "compaction"][-1:] == made[-1:])
        if len(json.dumps(asked.body)) > asked.body["context_management"][0]["compact_threshold"] * 4:
            made.append({"type": "compaction", "id": f"cmp_{len(made)}", "encrypted_content": "b3BhcXVl"})
            reply["output"] = [made[-1], *reply["output"]]
        return 200, reply

    with served(provider) as api:
        client = OpenAI(api_key="none", base_url=api.url, max_retries=0)
        window = ContextWindow(OPTIONS, archive=MemoryArchive())
        guard, history = OverflowGuard(window), _chat(15)
        for _ in range(5):
            sent = guard.call(
                lambda items: client.responses.create(model="gpt", input=items, **openai_context_management(window)),
                history,
                format="openai-responses",
            )
            history = [*sent.messages, *sent.reply.output, *_chat(6)]
    assert read == [True] * 5
    assert len(made) > 1
    assert sent.compactions[-1].opaque
