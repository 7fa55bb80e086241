"""What holds for the message lists of all providers: they come back as they were, and only what was edited is new."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.messages import Conversation, with_text
from packages.context.tests.conversations import (
    FORMATS,
    LISTS_PER_LAW,
    broken_conversations,
    conversations,
    long_conversation,
    of_any_format,
)

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

LISTS = of_any_format(conversations)
BROKEN_LISTS = of_any_format(broken_conversations)


def edited(conversation: Conversation, message: int, part: int, text: str) -> Conversation:
    """The conversation with one part replaced."""
    changed = with_text(conversation.messages[message], part, text, estimate_tokens)
    messages = (*conversation.messages[:message], changed, *conversation.messages[message + 1 :])
    return Conversation(format=conversation.format, messages=messages)


def editable(conversation: Conversation) -> list[tuple[int, int]]:
    """Where the parts stand that layers may edit."""
    return [
        (index, number)
        for index, message in enumerate(conversation.messages)
        for number, part in enumerate(message.parts)
        if part.kind != "other"
    ]


@settings(max_examples=LISTS_PER_LAW)
@given(LISTS | BROKEN_LISTS)
def test_what_was_not_edited_comes_back_as_the_very_objects(case: tuple[FormatName, list[Any]]):
    """
    Reading and writing gives back each message itself, of valid and of broken lists, and changes nothing in them.
    """
    name, messages = case
    before = copy.deepcopy(messages)

    written = providers.write_list(providers.read_list(messages, estimate_tokens, name))

    assert [id(message) for message in messages] == [id(message) for message in written]
    assert before == messages


@settings(max_examples=LISTS_PER_LAW)
@given(LISTS)
def test_valid_lists_have_no_problems(case: tuple[FormatName, list[Any]]):
    """
    What a provider accepts has no problems.
    """
    name, messages = case

    assert providers.find_problems(providers.read_list(messages, estimate_tokens, name)) == ()


@settings(max_examples=LISTS_PER_LAW)
@given(LISTS)
def test_a_list_is_told_by_its_content(case: tuple[FormatName, list[Any]]):
    """
    The format that is detected reads the list as the true one does: another one only where nothing tells them apart.
    """
    name, messages = case
    detected = providers.read_list(messages, estimate_tokens)

    assert name == detected.format or detected.messages == providers.read_list(messages, estimate_tokens, name).messages


@settings(max_examples=LISTS_PER_LAW)
@given(st.data(), LISTS | BROKEN_LISTS, st.text(min_size=1))
def test_an_edit_replaces_one_part_and_nothing_else(data: st.DataObject, case: tuple[FormatName, list[Any]], text: str):
    """
    The new message is another object that reads as it was edited, in text and tokens; all else is what it was.

    What stays says something: to Gemini an empty error is no failure.
    """
    name, messages = case
    before = copy.deepcopy(messages)
    conversation = providers.read_list(messages, estimate_tokens, name)
    spots = editable(conversation)
    if not spots:
        return
    index, number = data.draw(st.sampled_from(spots))
    if conversation.messages[index].parts[number].kind == "call":
        text = json.dumps({"shortened": text}, ensure_ascii=False, separators=(",", ":"))
    changed = edited(conversation, index, number, text)

    written = providers.write_list(changed)
    again = providers.read_list(written, estimate_tokens, name)

    assert [i for i in range(len(messages)) if written[i] is not messages[i]] == [index]
    assert before == messages
    assert text == again.messages[index].parts[number].text
    assert changed.tokens == again.tokens
    told = [part._replace(native=None, edited=False) for part in changed.messages[index].parts]
    assert told == [part._replace(native=None) for part in again.messages[index].parts]
    json.dumps(written[index], default=providers.plain)


@settings(max_examples=LISTS_PER_LAW)
@given(LISTS | BROKEN_LISTS)
def test_whole_messages_can_be_kept_as_json(case: tuple[FormatName, list[Any]]):
    """
    A message survives its way through the archive as a line of JSON.
    """
    _, messages = case

    assert messages == [json.loads(json.dumps(providers.plain(message))) for message in messages]


@given(st.sampled_from(FORMATS), st.text(min_size=1))
def test_a_made_message_reads_as_it_was_made(format: FormatName, text: str):
    """
    Markers and summaries are messages like any other.
    """
    made = providers.from_user(text, estimate_tokens)

    (again,) = providers.read_list([providers.PROVIDERS[format].write_message(made)], estimate_tokens, format).messages

    assert (made.role, made.tokens, text) == (again.role, again.tokens, again.parts[0].text)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("count", [1, 2, 3, 49, 500])
def test_long_conversation_is_as_long_as_asked_and_valid(format: FormatName, count: int):
    """
    What is measured is a list that a provider would accept, of exactly so many messages.
    """
    messages = long_conversation(format, messages=count)

    assert count == len(messages)
    assert providers.find_problems(providers.read_list(messages, estimate_tokens, format)) == ()
