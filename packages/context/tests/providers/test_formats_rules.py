"""The providers' rules for turns, each with the list that breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from packages.context.tests.conversations import FORMATS, Call, Step, Turn, told

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName


def problems(format: FormatName, messages: list[Any]) -> list[str]:
    return list(providers.find_problems(providers.read_list(messages, estimate_tokens, format)))


def use(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "run", "input": {}} for i in ids]}


def answer(*ids: str, text: str = "") -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]
    return {"role": "user", "content": [*blocks, *([{"type": "text", "text": text}] if text else [])]}


ASK = {"role": "user", "content": "do it"}
SAY = {"role": "assistant", "content": "done"}
THINK = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([ASK, use("1"), answer("1"), SAY], [], id="as it should be"),
        pytest.param([ASK, use("1", "2"), answer("1"), answer("2")], [], id="two messages are one turn"),
        pytest.param([ASK, use("1"), answer("1", text="and hurry")], [], id="text after results"),
        pytest.param([SAY], ["message 0: the first turn is the assistant's; it has to be the user's"], id="first turn"),
        pytest.param([ASK, use("1")], ["message 1: the call '1' has no result in the next turn"], id="no result"),
        pytest.param(
            [ASK, use("1"), ASK, SAY, answer("1")],
            [
                "message 1: the call '1' has no result in the next turn",
                "message 4: the result '1' has no call in the turn before it",
            ],
            id="a result too late",
        ),
        pytest.param(
            [ASK, use("1"), ASK, answer("1")],
            ["message 3: the result '1' stands after other content"],
            id="text before results",
        ),
        pytest.param(
            [ASK, use("1"), answer("1", "1")],
            ["message 2: the result '1' has no call in the turn before it"],
            id="two results",
        ),
        pytest.param(
            [ASK, use("1"), answer("1"), use("1"), answer("1")],
            ["message 3: a second call has the id '1'"],
            id="an id again",
        ),
        pytest.param(
            [ASK, {"role": "assistant", "content": []}, ASK], ["message 1: it has no content"], id="no content"
        ),
        pytest.param([ASK, {"role": "assistant", "content": []}], [], id="no content at the end"),
        pytest.param([{"role": "user", "content": " "}], ["message 0: a text is empty"], id="an empty text"),
        pytest.param(
            [ASK, {"role": "assistant", "content": [THINK]}, ASK],
            ["message 1: it ends with thinking"],
            id="thinking that led to nothing",
        ),
        pytest.param(
            [ASK, {**use("1"), "role": "user"}, {**answer("1"), "role": "assistant"}],
            [
                "message 1: the call '1' does not stand in a turn of the assistant",
                "message 2: the result '1' stands in a turn of the assistant",
            ],
            id="the wrong roles",
        ),
    ],
)  # fmt: skip
def test_anthropic(messages: list[Any], expected: list[str]):
    """
    Every call is answered in the very next turn, results first, ids are unique, the user begins, nothing is empty.
    """
    assert expected == problems("anthropic", messages)


def chat_call(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "run", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([ASK, chat_call("1", "2"), chat_result("2"), chat_result("1"), SAY], [], id="as it should be"),
        pytest.param(
            [chat_call("1"), chat_result("1"), chat_call("1"), chat_result("1")], [], id="an id again in another answer"
        ),
        pytest.param([{"role": "system", "content": "be brief"}, SAY], [], id="any role begins"),
        pytest.param([chat_result("1")], ["message 0: the result '1' has no call in the answer before it"], id="lost"),
        pytest.param([chat_call("1")], ["message 0: the call '1' is not followed by its result"], id="no result"),
        pytest.param(
            [chat_call("1", "2"), chat_result("1"), ASK, chat_result("2")],
            [
                "message 0: the call '2' is not followed by its result",
                "message 3: the result '2' has no call in the answer before it",
            ],
            id="somebody speaks in between",
        ),
        pytest.param(
            [chat_call("1", "1"), chat_result("1")], ["message 0: a second call has the id '1'"], id="an id twice"
        ),
        pytest.param(
            [{"role": "assistant", "content": None}], ["message 0: the answer has neither content nor calls"], id="none"
        ),
        pytest.param(
            [{"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}},
             {"role": "function", "name": "run", "content": "ok"}],
            [],
            id="the old functions",
        ),
        pytest.param(
            [{"role": "assistant", "tool_calls": chat_call("1")["tool_calls"]}, chat_result("1")],
            [],
            id="content that is None and was left out",
        ),
    ],
)  # fmt: skip
def test_openai_chat(messages: list[Any], expected: list[str]):
    """
    The answers of the tool follow the message with the calls, one for each, before anybody else speaks.
    """
    assert expected == problems("openai-chat", messages)


REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def item(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "run", "arguments": "{}"}


def local_call(call_id: str, name: str) -> dict[str, Any]:
    action = {"type": "exec", "command": ["ls"], "env": {}}
    return {"type": "local_shell_call", "id": name, "call_id": call_id, "action": action, "status": "completed"}


def local_output(name: str) -> dict[str, Any]:
    return {"type": "local_shell_call_output", "id": name, "output": "a.py"}


def output(call_id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "ok"}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([ASK, REASONING, item("1"), item("2"), output("2"), output("1")], [], id="as it should be"),
        pytest.param([item("1"), ASK, output("1")], [], id="an output later"),
        pytest.param([ASK, output("1")], ["message 1: the output '1' has no call before it"], id="orphan"),
        pytest.param([output("1"), output("2"), ASK], [], id="outputs first: the provider keeps their calls"),
        pytest.param(
            [ASK, output("1"), item("1")],
            ["message 1: the output '1' has no call before it", "message 2: the call '1' has no output"],
            id="an output before its call",
        ),
        pytest.param([item("1"), local_output("i")], ["message 1: the output 'i' has no call before it",
                     "message 0: the call '1' has no output"], id="a local shell's output of no call"),
        pytest.param([ASK, local_call("c", "i"), local_output("i")], [], id="a local shell's, by the item's id"),
        pytest.param([ASK, local_call("c", "i"), local_output("c")], [], id="a local shell's, by the call's id"),
        pytest.param(
            [item("1"), item("1"), output("1")], ["message 1: a second call has the id '1'"], id="an id twice"
        ),
        pytest.param(
            [REASONING, ASK], ["message 0: the reasoning is not followed by what it led to"], id="reasoning alone"
        ),
        pytest.param(
            [ASK, REASONING], ["message 1: the reasoning is not followed by what it led to"], id="reasoning at the end"
        ),
    ],
)  # fmt: skip
def test_openai_responses(items: list[Any], expected: list[str]):
    """
    Each output follows its call, each call has an output, and reasoning is followed by what it led to.
    """
    assert expected == problems("openai-responses", items)


def content(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


TEXT = {"text": "do it"}
CALL = {"functionCall": {"name": "run", "args": {}}}
RESPONSE = {"functionResponse": {"name": "run", "response": {"output": "ok"}}}


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param(
            [content("user", TEXT), content("model", TEXT, CALL, CALL), content("user", RESPONSE, RESPONSE),
             content("model", CALL), content("user", RESPONSE, TEXT), content("model", TEXT)],
            [],
            id="as it should be",
        ),
        pytest.param(
            [content("user", TEXT), content("model", CALL, CALL), content("user", RESPONSE)],
            ["message 1: 2 function calls are followed by 1 responses"],
            id="too few responses",
        ),
        pytest.param(
            [content("user", TEXT), content("model", CALL)],
            ["message 1: 1 function calls are followed by 0 responses"],
            id="no response",
        ),
        pytest.param(
            [content("user", RESPONSE)], ["message 0: 1 function responses do not follow a function call"], id="orphan"
        ),
        pytest.param(
            [content("model", CALL), content("user", RESPONSE)],
            ["message 0: function calls do not follow the user or function responses"],
            id="calls at the beginning",
        ),
        pytest.param(
            [content("user", TEXT), content("model", TEXT), content("model", CALL), content("user", RESPONSE)],
            ["message 2: function calls do not follow the user or function responses"],
            id="calls after the model",
        ),
        pytest.param([content("user")], ["message 0: it has no parts"], id="no parts"),
    ],
)  # fmt: skip
def test_gemini(contents: list[Any], expected: list[str]):
    """
    Calls come after the user or responses, and the next content has as many responses as there were calls.
    """
    assert expected == problems("gemini", contents)


@pytest.mark.parametrize("format", FORMATS)
def test_a_call_at_the_end_waits(format: FormatName):
    """
    No provider accepts a list that ends with a call of one of the caller's own tools.
    """
    messages = told(format, (Turn("go", (Step(calls=(Call(),)),)),))[:-1]

    assert len(problems(format, messages)) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_list_has_no_problems(format: FormatName):
    """
    Of nothing no order is wrong.
    """
    assert problems(format, []) == []
