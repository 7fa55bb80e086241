"""Lists that nobody should hand in: a clear error where they cannot be read, else all of it is there afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_context import providers
from otel_errcompact_context.exceptions import ConversationError
from otel_errcompact_context.messages import with_text
from otel_errcompact_context.providers.costs import BLOCK_TOKENS, FRAME_TOKENS, IMAGE_TOKENS
from otel_errcompact_context.window.layers.summarising import checking
from packages.context.tests.conversations import FORMATS, Call, Step, Turn, told
from tests.clock import processor_seconds

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

USER = {"role": "user", "content": "do it"}
TOOL_USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "run", "input": {}}]}
TOOL_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "run", "arguments": "{}"}}],
}
ITEM = {"type": "function_call", "call_id": "1", "name": "run", "arguments": "{}"}
CONTENT = {"role": "user", "parts": [{"text": "do it"}]}


@pytest.mark.parametrize(
    ("messages", "format", "index", "told"),
    [
        pytest.param([USER, 7], None, 1, "int is no message of a provider", id="a number"),
        pytest.param([{}], None, 0, "dict is no message of a provider", id="an empty dict"),
        pytest.param([{"text": "hello"}], None, 0, "no message of a known format (it has text)", id="no role"),
        pytest.param([{"role": ["user"], "content": "?"}], None, 0, "no message of a known", id="a role that is none"),
        pytest.param([{"role": "robot", "content": "?"}], "anthropic", 0, "no message of a known", id="unknown role"),
        pytest.param([USER, CONTENT, TOOL_USE], None, 1, "a message of gemini in a list of", id="mixed, undecided"),
        pytest.param([TOOL_USE, TOOL_CALL], None, 1, "a message of openai-chat in a list of anthropic", id="chat"),
        pytest.param([TOOL_CALL, TOOL_USE], None, 1, "a message of anthropic in a list of openai-chat", id="anthropic"),
        pytest.param([TOOL_USE, ITEM], None, 1, "a message of openai-responses in a list of anthropic", id="responses"),
        pytest.param([ITEM, TOOL_USE], None, 1, "a message of anthropic in a list of openai-responses", id="an answer"),
        pytest.param([ITEM, TOOL_CALL], None, 1, "a message of openai-chat in a list of openai-responses", id="a call"),
        pytest.param([CONTENT, USER], None, 1, "in a list of gemini: hand in a list of one format", id="no parts"),
        pytest.param([ITEM, CONTENT], None, 1, "a message of gemini in a list of openai-responses", id="parts"),
        pytest.param([USER], "gemini", 0, "in a list of gemini", id="named wrongly"),
        pytest.param("do it", None, None, "a text is no list of messages", id="a text"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(
    messages: Any, format: FormatName | None, index: int | None, told: str
):
    """
    Unknown and mixed lists raise: which message it is, what it is, and what to hand in.
    """
    with pytest.raises(ConversationError) as raised:
        providers.read_list(messages, estimate_tokens, format)

    assert index == raised.value.message
    assert told in raised.value.problem
    assert str(raised.value) == (f"message {index}: " if index is not None else "") + raised.value.problem
    assert isinstance(raised.value, ErrcompactError)
    assert isinstance(raised.value, ValueError)


def test_arguments_with_half_a_character_are_read():
    """
    A surrogate that stands alone, cut off by some other tool, is read as it is.
    """
    call = {"type": "tool_use", "id": "1", "name": "run", "input": {"text": "\ud83d"}}

    (message,) = providers.read_list([{"role": "assistant", "content": [call]}], estimate_tokens).messages

    assert message.parts[0].text == '{"text":"\ud83d"}'


def test_arguments_that_are_no_json_are_said():
    """
    What no provider could be sent is named with its message.
    """
    circle: dict[str, object] = {}
    circle["self"] = circle
    call = {"type": "tool_use", "id": "1", "name": "run", "input": circle}

    with pytest.raises(ConversationError, match=r"message 1: a block that is no JSON .*Circular"):
        providers.read_list([USER, {"role": "assistant", "content": [call]}], estimate_tokens)


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_an_empty_list_is_an_empty_conversation(format: FormatName | None):
    """
    Nothing reads as nothing, of the format that was named or of OpenAI chat.
    """
    conversation = providers.read_list([], estimate_tokens, format)

    assert (format or "openai-chat", (), 0) == (conversation.format, conversation.messages, conversation.tokens)
    assert providers.write_list(conversation) == []


@pytest.mark.parametrize("format", FORMATS)
def test_an_image_costs_the_same_whatever_its_size(format: FormatName):
    """
    An image counts as an image and not as the text that it is sent as; it goes with the result that is replaced.
    """
    text = "x" * 400
    # A step of the model alone, so that the answer with the image is the last message.
    messages = told(format, (Turn("go", (Step(calls=(Call("run", {}, text, with_image=True),)),)),))
    conversation = providers.read_list(messages, estimate_tokens, format)
    result = conversation.messages[-1]

    cut = with_text(result, 0, "cut", estimate_tokens)

    said = len('{"output":"","exit_code":0}') / 4 if format == "gemini" else 0
    assert result.tokens == pytest.approx(IMAGE_TOKENS + 100 + said + FRAME_TOKENS + BLOCK_TOKENS, abs=1)
    assert cut.tokens == 1 + FRAME_TOKENS + BLOCK_TOKENS
    assert "image" not in str(providers.PROVIDERS[format].write_message(cut))


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        pytest.param({"type": "brand_new", "payload": ["x" * 40, {"more": "y" * 40}], "n": 1}, 20, id="unknown"),
        pytest.param({"type": "thinking", "thinking": "x" * 40, "signature": "s" * 999}, 10, id="thinking"),
        pytest.param({"type": "redacted_thinking", "data": "x" * 40}, 10, id="redacted thinking"),
        pytest.param(
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x" * 500_000}},
            10_000,
            id="a document",
        ),
        pytest.param(
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x" * 40}}, None,
            id="a text as a document",
        ),
        pytest.param({"type": "brand_new", "data": b"x" * 300}, IMAGE_TOKENS, id="bytes"),
        pytest.param(
            {"type": "brand_new", "source": {"mime_type": "audio/wav", "data": b"x" * 300_000}}, 8_000, id="audio"
        ),
        pytest.param({"type": "brand_new", "source": {"mime_type": "image/png", "uri": "x"}}, IMAGE_TOKENS, id="link"),
    ],
)  # fmt: skip
def test_what_else_stands_in_a_message_is_estimated(block: dict[str, Any], tokens: int | None):
    """
    Texts in blocks that are not understood count, marks for the provider do not, files by their size.
    """
    (message,) = providers.read_list([{"role": "user", "content": [block]}], estimate_tokens, "anthropic").messages
    if tokens is None:
        # The names of types and media beside it are texts too: a few tokens too many.
        assert 10 <= message.parts[0].tokens <= 20
    else:
        assert tokens == message.parts[0].tokens
    assert (message.parts[0].kind, message.parts[0].text) == ("other", "")


@pytest.mark.cost
def test_a_message_of_100_megabytes_is_not_copied():
    """
    The text of a huge result is the caller's own string, and reading, editing and writing cost less than a copy.
    """
    huge = "x" * 100_000_000
    messages = [USER, TOOL_CALL, {"role": "tool", "tool_call_id": "1", "content": huge}]

    def edit() -> None:
        conversation = providers.read_list(messages, estimate_tokens)
        cut = with_text(conversation.messages[2], 0, "cut", estimate_tokens)
        written = providers.PROVIDERS["openai-chat"].write_message(cut)
        assert conversation.messages[2].parts[0].text is huge
        assert written == {"role": "tool", "tool_call_id": "1", "content": "cut"}

    assert processor_seconds(edit, runs=5) < processor_seconds(lambda: huge[1:], runs=5)


@pytest.mark.parametrize(
    ("messages", "format"),
    [
        pytest.param([{"role": "user", "content": None}], "anthropic", id="no content"),
        pytest.param([{"role": "user", "content": ["a", None, 7]}], "anthropic", id="blocks that are none"),
        pytest.param([{"role": "user", "content": [{"type": ["text"]}]}], "anthropic", id="a type that is none"),
        pytest.param([{"role": "assistant", "tool_calls": [None, {}]}], "openai-chat", id="calls that are none"),
        pytest.param([{"role": "tool", "content": None}], "openai-chat", id="a result without content"),
        pytest.param([{"type": "function_call"}, {"id": "msg_1"}], "openai-responses", id="a call without anything"),
        pytest.param([{"parts": [{}, None, {"functionCall": {}}]}], "gemini", id="parts that are none"),
    ],
)
def test_what_is_malformed_comes_back_as_it_was(messages: list[Any], format: FormatName):
    """
    A message of the right shape with nonsense in it is no reason to fail.
    """
    conversation = providers.read_list(messages, estimate_tokens, format)

    assert providers.write_list(conversation) == messages
    providers.find_problems(conversation)


@pytest.mark.parametrize(
    "kind", [pytest.param({}, id="a dict"), pytest.param([], id="a list"), pytest.param(7, id="a number")]
)
@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses"])
def test_a_type_that_is_no_text_is_no_type_that_is_known(format: FormatName, kind: object) -> None:
    """A part that names none is kept as it is."""
    item = {"role": "user", "content": [{"type": kind, "text": "hello"}]}

    assert [message.native for message in providers.read_list([item], estimate_tokens, format).messages] == [item]


def test_a_summary_that_repeats_a_call_of_no_known_type_is_read() -> None:
    """Models write any JSON."""
    assert checking._is_call({"type": {}, "text": "hello"}) is False
    assert checking._is_call({"type": "tool_use"}) is True
