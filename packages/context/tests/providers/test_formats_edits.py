"""How an edit is written where a format has forms of its own: shells, patches, custom tools, the old functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.messages import with_text

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

OLD = {"name": "run", "arguments": '{"text":"long"}'}
CUSTOM = {"id": "1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}


@pytest.mark.parametrize(
    ("format", "message", "before", "text", "changed"),
    [
        pytest.param(
            "openai-responses",
            {"type": "shell_call", "call_id": "1", "action": {"commands": ["ls"]}, "status": "completed"},
            '{"commands":["ls"]}', '{"commands":["cut"]}', {"action": {"commands": ["cut"]}},
            id="a call of the shell",
        ),
        pytest.param(
            "openai-responses",
            {"type": "shell_call_output", "call_id": "1", "max_output_length": 9,
             "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}]},
            "a\nb", "cut", {"output": [{"stdout": "cut", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}]},
            id="what the shell printed",
        ),
        pytest.param(
            "openai-responses", {"type": "custom_tool_call", "call_id": "1", "name": "sql", "input": "SELECT 1"},
            "SELECT 1", "cut", {"input": "cut"}, id="a custom call of Responses",
        ),
        pytest.param(
            "openai-responses", {"type": "apply_patch_call_output", "call_id": "1", "status": "failed", "output": "no"},
            "no", "cut", {"output": "cut"}, id="what a patch did",
        ),
        pytest.param(
            "openai-chat", {"role": "assistant", "content": None, "tool_calls": [CUSTOM]},
            "SELECT 1", "cut", {"tool_calls": [{**CUSTOM, "custom": {"name": "sql", "input": "cut"}}]},
            id="a custom call of chat",
        ),
        pytest.param(
            "openai-chat", {"role": "assistant", "content": None, "function_call": OLD},
            '{"text":"long"}', "{}", {"function_call": {"name": "run", "arguments": "{}"}}, id="an old function",
        ),
        pytest.param(
            "anthropic", {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
            "{}", "no JSON",
            {"content": [{"type": "tool_use", "id": "1", "name": "a", "input": {"arguments": "no JSON"}}]},
            id="arguments that are no object",
        ),
        pytest.param(
            "gemini",
            {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "a", "response": {"result": "long"}}}]},
            "long", "cut",
            {"parts": [{"functionResponse": {"id": "1", "name": "a", "response": {"result": "cut"}}}]},
            id="the response's own key",
        ),
        pytest.param(
            "gemini",
            {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"error": "no", "code": 1}}}]},
            '{"error":"no","code":1}', "cut",
            {"parts": [{"functionResponse": {"name": "a", "response": {"error": "cut"}}}]},
            id="a failure stays one",
        ),
        pytest.param(
            "gemini",
            {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"error": None, "n": 9}}}]},
            '{"error":null,"n":9}', "cut",
            {"parts": [{"functionResponse": {"name": "a", "response": {"result": "cut"}}}]},
            id="an empty error becomes none",
        ),
        pytest.param(
            "gemini",
            {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"output": "long", "n": 9}}}]},
            '{"output":"long","n":9}', "cut",
            {"parts": [{"functionResponse": {"name": "a", "response": {"output": "cut"}}}]},
            id="a success stays one",
        ),
    ],
)  # fmt: skip
def test_an_edit_keeps_the_form(
    format: FormatName, message: dict[str, Any], before: str, text: str, changed: dict[str, Any]
):
    """
    The text takes the place of what the model reads, and every other field is what it was.
    """
    (read,) = providers.read_list([message], estimate_tokens, format).messages

    written = providers.PROVIDERS[format].write_message(with_text(read, 0, text, estimate_tokens))

    assert before == read.parts[0].text
    assert written == {**message, **changed}


@pytest.mark.parametrize(
    ("format", "message", "kept", "expected"),
    [
        pytest.param(
            "openai-chat", {"role": "assistant", "content": "hm", "tool_calls": [CUSTOM, {**CUSTOM, "id": "2"}]},
            [0, 2],
            {"role": "assistant", "content": "hm", "tool_calls": [{**CUSTOM, "id": "2"}]}, id="one of two calls",
        ),
        pytest.param(
            "openai-chat", {"role": "assistant", "content": "hm", "tool_calls": [CUSTOM]}, [0],
            {"role": "assistant", "content": "hm"}, id="the only call",
        ),
        pytest.param(
            "openai-chat", {"role": "assistant", "content": "hm", "tool_calls": [CUSTOM]}, [1],
            {"role": "assistant", "content": None, "tool_calls": [CUSTOM]}, id="the text",
        ),
        pytest.param(
            "gemini", {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}, [1],
            {"role": "model", "parts": [{"text": "b"}]}, id="a part",
        ),
    ],
)  # fmt: skip
def test_parts_can_be_taken_out(format: FormatName, message: dict[str, Any], kept: list[int], expected: dict[str, Any]):
    """
    A layer may leave parts away: what remains is written.
    """
    (read,) = providers.read_list([message], estimate_tokens, format).messages
    cut = read._replace(parts=tuple(read.parts[index] for index in kept), edited=True)

    assert expected == providers.PROVIDERS[format].write_message(cut)
