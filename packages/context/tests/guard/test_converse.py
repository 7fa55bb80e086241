"""Lists of Bedrock's Converse go through the layers as those of Anthropic, and come back as what they were."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact_context.exceptions import ConversationError
from otel_errcompact_context.guard.converse import ConverseList
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.memory.markers import marker
from otel_errcompact_context.window.window import ContextWindow

Fields = dict[str, Any]
MARKER = marker("snip", "12 messages, 900 tokens", "memory:00000001")


def said(role: str, *blocks: Fields, **more: Any) -> Fields:
    return {"role": role, "content": list(blocks), **more}


def called(call_id: str = "c1", **more: Any) -> Fields:
    return {"toolUse": {"toolUseId": call_id, "name": "look", "input": {"page": 1}, **more}}


def answered(*content: Fields, call_id: str = "c1", status: str = "success") -> Fields:
    return {"toolResult": {"toolUseId": call_id, "status": status, "content": list(content)}}


def test_each_block_is_read_as_the_one_of_anthropic_that_means_the_same() -> None:
    """What Anthropic does not know keeps its name, so that the layers leave it alone; extras of a message stay."""
    read = ConverseList(
        [
            said("user", {"text": "go"}, {"cachePoint": {"type": "default"}}),
            said("assistant", {"reasoningContent": {"reasoningText": {"text": "hm"}}}, called(), metadata={"a": 1}),
            said("user", answered({"text": "one"}, {"json": {"rows": 2}}, {"image": {"format": "png"}})),
            said("user", answered({"text": "no"}, call_id="c2", status="error")),
            said("assistant"),
        ]
    )
    assert read.messages == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "go"}, {"type": "cachePoint", "cachePoint": {"type": "default"}}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "reasoningContent": {"reasoningText": {"text": "hm"}}},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"page": 1}},
            ],
            "metadata": {"a": 1},
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [
                        {"type": "text", "text": "one"},
                        {"type": "text", "text": '{"rows":2}'},
                        {"type": "image", "image": {"format": "png"}},
                    ],
                    "is_error": False,
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c2",
                    "content": [{"type": "text", "text": "no"}],
                    "is_error": True,
                }
            ],
        },
        {"role": "assistant", "content": []},
    ]


def test_what_was_not_changed_comes_back_as_the_very_objects() -> None:
    """Messages, and of a changed message its other blocks."""
    messages = [said("user", {"text": "go"}), said("assistant", {"text": "I look"}, called(reasoningSignature="x"))]
    converse = ConverseList(messages)
    task, call = converse.messages
    assert all(one is other for one, other in zip(converse.restore([task, call]), messages, strict=True))
    assert isinstance(call, dict)
    shortened = {**call, "content": [call["content"][0], {**call["content"][1], "input": {"page": "..."}}]}
    restored: Any = converse.restore([task, shortened])
    assert restored[0] is messages[0]
    assert restored[1]["content"][0] is messages[1]["content"][0]
    # What only Converse knows of a call stays on it.
    assert restored[1]["content"][1]["toolUse"] == {
        "toolUseId": "c1",
        "name": "look",
        "input": {"page": "..."},
        "reasoningSignature": "x",
    }


def test_a_shortened_result_and_text_are_written_back_in_the_form_of_converse() -> None:
    """With the status that the result had."""
    converse = ConverseList([said("user", answered({"text": "long"}, status="error"), {"text": "and long"})])
    (message,) = converse.messages
    assert isinstance(message, dict)
    result, text = message["content"]
    shortened = {**message, "content": [{**result, "content": "short"}, {**text, "text": "and short"}]}
    assert converse.restore([shortened]) == [
        said("user", answered({"text": "short"}, status="error"), {"text": "and short"})
    ]


def test_a_marker_joins_the_message_of_the_user_beside_it() -> None:
    """Converse refuses two messages of the user in a row; two that came so stay so."""
    messages = [said("user", {"text": "go"}), said("assistant", {"text": "ok"}), said("user", {"text": "on"})]
    converse = ConverseList(messages)
    task, answer, question = converse.messages
    made = {"role": "user", "content": MARKER}
    behind: Any = converse.restore([task, made, answer, question])
    assert behind == [said("user", {"text": "go"}, {"text": MARKER}), messages[1], messages[2]]
    assert converse.restore([task, made, question]) == [said("user", {"text": "go"}, {"text": MARKER}, {"text": "on"})]
    twice: Any = ConverseList([messages[0], messages[2]])
    assert twice.restore(twice.messages) == [messages[0], messages[2]]


def test_a_marker_that_has_joined_is_read_as_a_message_of_its_own() -> None:
    """So that a later compaction knows it; the message is the very object while nothing in it is changed."""
    joined = said("user", {"text": "go"}, {"text": MARKER}, {"text": "on"}, metadata={"a": 1})
    converse = ConverseList([joined])
    texts = [[block["text"] for block in message["content"]] for message in converse.messages]  # type: ignore[index]
    assert texts == [["go"], [MARKER], ["on"]]
    assert converse.restore(converse.messages)[0] is joined
    task, _, question = converse.messages
    other = {"role": "user", "content": "a summary"}
    assert converse.restore([task, other, question]) == [
        said("user", {"text": "go"}, {"text": "a summary"}, {"text": "on"}, metadata={"a": 1})
    ]
    # Without its middle it is no longer whole.
    assert converse.restore([task, question]) == [said("user", {"text": "go"}, {"text": "on"}, metadata={"a": 1})]


def test_a_text_of_the_model_that_looks_like_a_marker_is_no_message_of_its_own() -> None:
    """Only messages of the user are joined."""
    message = said("assistant", {"text": "a"}, {"text": MARKER})
    assert len(ConverseList([message]).messages) == 1


def test_what_is_no_message_is_named() -> None:
    """By its place."""
    with pytest.raises(ConversationError, match="message 1: "):
        ConverseList([said("user", {"text": "go"}), object()])


@given(rounds=st.integers(1, 30), size=st.integers(1, 400), limit=st.integers(400, 4_000), data=st.data())
def test_a_compacted_list_alternates_and_keeps_every_call_with_its_result(
    rounds: int, size: int, limit: int, data: st.DataObject
) -> None:
    """However often a list is compacted as it grows."""
    window = ContextWindow(
        ContextOptions(window_tokens=limit, keep_results=2, result_budget_tokens=200, preview_tokens=20),
        archive=MemoryArchive(),
        count_tokens=estimate_mixed_tokens,
        observers=(),
    )
    messages: list[Any] = [said("user", {"text": "Find the slowest module."})]
    for number in range(rounds):
        width = data.draw(st.integers(1, 3))
        ids = [f"c{number}-{place}" for place in range(width)]
        messages.append(said("assistant", {"text": "I look."}, *(called(call_id) for call_id in ids)))
        messages.append(said("user", *(answered({"text": "module\n" * size}, call_id=call_id) for call_id in ids)))
        if data.draw(st.booleans()):
            messages += [said("assistant", {"text": "Well."}), said("user", {"text": "Go on."})]
        converse = ConverseList(messages)
        compaction = window.compact(converse.messages, format="anthropic")
        assert compaction.problems == ()
        restored: Any = converse.restore(compaction.messages)
        assert [message["role"] for message in restored] == ["user", "assistant"] * (len(restored) // 2) + ["user"] * (
            len(restored) % 2
        )
        for message, answer in pairwise(restored):
            asked = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
            if asked:
                assert [b["toolResult"]["toolUseId"] for b in answer["content"] if "toolResult" in b] == asked
        messages = restored
