"""An interrupted history becomes a list that the provider takes, and says what is not known."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers, repair
from otel_errcompact_context.providers.provider import LOST_TURN, UNKNOWN_OUTCOME
from packages.context.tests.conversations import FORMATS, LISTS_PER_LAW, broken_conversations, conversations

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

ASK = {"role": "user", "content": "do it"}
LOST = "[errcompact repair: the result of a call that is not in this conversation any more]"


def problems(format: FormatName, messages: list[Any]) -> tuple[str, ...]:
    return providers.find_problems(providers.read_list(messages, estimate_tokens, format))


# OpenAI Chat Completions.


def asked(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "run", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str, text: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def user_says(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


OLD_CALL = {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        pytest.param([ASK, asked("1")], [ASK, asked("1"), result("1", UNKNOWN_OUTCOME)], id="no result at the end"),
        pytest.param(
            [ASK, asked("1", "2"), result("2"), ASK],
            [ASK, asked("1", "2"), result("2"), result("1", UNKNOWN_OUTCOME), ASK],
            id="one of two results",
        ),
        pytest.param(
            [result("1"), ASK, asked("2"), result("1", ""), result("2")],
            [user_says(f"{LOST}\nok"), ASK, asked("2"), result("2"), user_says(LOST)],
            id="results without calls",
        ),
        pytest.param(
            [ASK, OLD_CALL], [ASK, OLD_CALL, {"role": "function", "name": "run", "content": UNKNOWN_OUTCOME}],
            id="an old function",
        ),
        pytest.param([ASK, {"role": "assistant"}, ASK], [ASK, ASK], id="an answer of nothing"),
    ],
)  # fmt: skip
def test_openai_chat(given_: list[Any], made: list[Any]) -> None:
    """Every call has a result that says its outcome is unknown; a result without its call is a text."""
    assert repair(given_, "openai-chat") == made
    assert problems("openai-chat", made) == ()


# OpenAI Responses.


def item(call_id: str, kind: str = "function_call", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, **({"name": "run", "arguments": "{}"} | fields)}


def output(call_id: str, text: Any = "ok", kind: str = "function_call_output", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "output": text, **fields}


REASONING = {"type": "reasoning", "id": "rs", "summary": []}
LOCAL = {"type": "local_shell_call", "id": "i", "call_id": "1", "action": {"command": ["ls"]}, "status": "completed"}
SHELL = {"type": "shell_call", "call_id": "1", "action": {"commands": ["ls"]}}
PATCH = {"type": "apply_patch_call", "call_id": "1", "operation": {"type": "delete_file", "path": "a"}}
TIMEOUT = {"stdout": "", "stderr": UNKNOWN_OUTCOME, "outcome": {"type": "timeout"}}


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        pytest.param(
            [ASK, REASONING, item("1"), item("2"), output("2")],
            [ASK, REASONING, item("1"), item("2"), output("1", UNKNOWN_OUTCOME), output("2")],
            id="one of two outputs: behind the whole answer",
        ),
        pytest.param([ASK, item("1")], [ASK, item("1"), output("1", UNKNOWN_OUTCOME)], id="at the end"),
        pytest.param(
            [output("0"), ASK, output("1"), item("2")],
            [output("0"), ASK, {"role": "user", "content": f"{LOST}\nok"}, item("2"), output("2", UNKNOWN_OUTCOME)],
            id="outputs first stay, others without calls are texts",
        ),
        pytest.param([ASK, REASONING, REASONING, ASK, REASONING], [ASK, ASK], id="reasoning that led to nothing"),
        pytest.param(
            [ASK, LOCAL],
            [ASK, LOCAL, {"type": "local_shell_call_output", "id": "1", "output": UNKNOWN_OUTCOME}],
            id="local shell",
        ),
        pytest.param([ASK, SHELL], [ASK, SHELL, output("1", [TIMEOUT], "shell_call_output")], id="shell"),
        pytest.param(
            [ASK, PATCH],
            [ASK, PATCH, output("1", UNKNOWN_OUTCOME, "apply_patch_call_output", status="failed")],
            id="apply patch",
        ),
        pytest.param(
            [{"type": "compaction", "id": "c", "encrypted_content": "g"}, output("0"), item("1")],
            [{"type": "compaction", "id": "c", "encrypted_content": "g"}, output("0"), item("1"),
             output("1", UNKNOWN_OUTCOME)],
            id="a compaction first",
        ),
        pytest.param([ASK, {"role": "user", "content": []}, item("1")],
                     [ASK, {"role": "user", "content": []}, item("1"), output("1", UNKNOWN_OUTCOME)], id="no content"),
    ],
)  # fmt: skip
def test_openai_responses(given_: list[Any], made: list[Any]) -> None:
    """Outputs have the form of their call's kind."""
    assert repair(given_, "openai-responses") == made
    assert problems("openai-responses", made) == ()


# Anthropic Messages.


def use(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "run", "input": {}} for i in ids]}


def block(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}


def unknown(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": UNKNOWN_OUTCOME, "is_error": True}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


TEXT = {"type": "text", "text": "and hurry"}
BLANK = {"type": "text", "text": " "}
THINK = {"type": "thinking", "thinking": "hm", "signature": "s"}
COMPACTED = {"role": "assistant", "content": [{"type": "compaction", "content": "It began."}]}


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        pytest.param([ASK, use("1")], [ASK, use("1"), user(unknown("1"))], id="no result at the end"),
        pytest.param([ASK, use("1"), ASK], [ASK, use("1"), user(unknown("1")), ASK], id="the user speaks instead"),
        pytest.param(
            [ASK, use("1", "2"), user(block("2"), TEXT)],
            [ASK, use("1", "2"), user(block("2"), unknown("1")), user(TEXT)],
            id="one of two results",
        ),
        pytest.param(
            [ASK, use("1"), user(TEXT, block("1"))],
            [ASK, use("1"), user(block("1")), user(TEXT)],
            id="a text before the result",
        ),
        pytest.param(
            [ASK, use("1"), {"role": "system", "content": "rule"}],
            [ASK, use("1"), user(unknown("1")), {"role": "system", "content": "rule"}],
            id="the system speaks instead",
        ),
        pytest.param(
            [ASK, user(block("0"), TEXT)], [ASK, user({"type": "text", "text": f"{LOST}\nok"}, TEXT)],
            id="a result without its call",
        ),
        pytest.param([use("1"), user(block("1"))], [{"role": "user", "content": LOST_TURN}, use("1"), user(block("1"))],
                     id="a lost beginning"),
        pytest.param([COMPACTED, ASK, use("1")], [COMPACTED, ASK, use("1"), user(unknown("1"))], id="compacted"),
        pytest.param([ASK, {"role": "assistant", "content": [TEXT, THINK]}],
                     [ASK, {"role": "assistant", "content": [TEXT]}], id="thinking at the end"),
        pytest.param([ASK, {"role": "assistant", "content": [THINK]}, ASK], [ASK, ASK], id="nothing but thinking"),
        pytest.param([ASK, user(BLANK), user(TEXT, BLANK), {"role": "assistant", "content": ""}],
                     [ASK, user(TEXT)], id="empty texts"),
        pytest.param([ASK, {"role": "assistant", "content": [BLANK, TEXT]}, ASK],
                     [ASK, {"role": "assistant", "content": [TEXT]}, ASK], id="an empty text of the assistant"),
    ],
)  # fmt: skip
def test_anthropic(given_: list[Any], made: list[Any]) -> None:
    """Results stand first in the next turn; nothing is empty, and thinking leads to something."""
    assert repair(given_, "anthropic") == made
    assert problems("anthropic", made) == ()


# Gemini.


def content(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def call(name: str = "run", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def response(name: str = "run", said: Any = None, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {**more, "name": name, "response": said or {"output": "ok"}}}


SAID = {"text": "do it"}
ERROR = {"error": UNKNOWN_OUTCOME}


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        pytest.param(
            [content("user", SAID), content("model", call())],
            [content("user", SAID), content("model", call()), content("user", response(said=ERROR))],
            id="no response at the end",
        ),
        pytest.param(
            [content("user", SAID), content("model", call(id="1"), call(id="2")), content("user", response(id="2"))],
            [content("user", SAID), content("model", call(id="1"), call(id="2")),
             content("user", response(id="2"), response(said=ERROR, id="1"))],
            id="one of two responses",
        ),
        pytest.param(
            [content("user", SAID), content("model", call()), content("user", SAID)],
            [content("user", SAID), content("model", call()), content("user", response(said=ERROR)),
             content("user", SAID)],
            id="the user speaks instead",
        ),
        pytest.param(
            [content("user", response(), SAID)],
            [content("user", {"text": f"{LOST.replace('a call', 'a call of run')}\nok"}, SAID)],
            id="a response without its call",
        ),
        pytest.param(
            [content("model", call()), content("user", response()), content("user")],
            [content("user", {"text": LOST_TURN}), content("model", call()), content("user", response())],
            id="a lost beginning",
        ),
    ],
)  # fmt: skip
def test_gemini(given_: list[Any], made: list[Any]) -> None:
    """As many responses as calls, and calls behind the user only."""
    assert repair(given_, "gemini") == made
    assert problems("gemini", made) == ()


# The laws.

FORMAT = pytest.mark.parametrize("format", FORMATS)


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_whatever_is_left_of_a_valid_list_is_repaired(format: FormatName, data: st.DataObject) -> None:
    """Cut anywhere at both ends: valid, the caller's list untouched, other messages the same objects, and for good."""
    whole = data.draw(conversations(format))
    start = data.draw(st.integers(0, len(whole)))
    messages = whole[start : data.draw(st.integers(start, len(whole)))]
    untouched = copy.deepcopy(messages)
    made = repair(messages, format)
    assert messages == untouched
    assert problems(format, made) == ()
    assert repair(made, format) == made
    if not problems(format, messages):
        assert [id(message) for message in made] == [id(message) for message in messages]


def test_two_calls_with_one_id_stay_as_they_are() -> None:
    """Nobody can tell which of them was answered."""
    doubled = [ASK, item("1"), item("1"), output("1"), output("2")]
    made = repair(doubled, "openai-responses")
    assert made == [*doubled[:4], user_says(f"{LOST}\nok")]


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_a_broken_list_becomes_no_worse(format: FormatName, data: st.DataObject) -> None:
    """Nothing raises, whatever happened to it."""
    messages = data.draw(broken_conversations(format))
    made = repair(messages, format)
    assert len(problems(format, made)) <= len(problems(format, messages))
