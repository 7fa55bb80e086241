"""What is known of providers: lists, refusals, usage, windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.exceptions import ConversationError
from otel_errcompact_context.messages import Conversation, Message
from otel_errcompact_context.providers import anthropic, gemini, openai_chat, openai_responses
from otel_errcompact_context.providers.costs import make_message, text_part
from otel_errcompact_context.providers.native import is_compaction, plain
from otel_errcompact_context.providers.provider import PROVIDERS
from otel_errcompact_context.providers.telling import decide_format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import FormatName

__all__ = [
    "PROVIDERS",
    "anthropic",
    "count_opening",
    "decide_format",
    "find_compacted",
    "find_problems",
    "from_user",
    "gemini",
    "openai_chat",
    "openai_responses",
    "plain",
    "read_list",
    "repair",
    "write_list",
]


def read_list(messages: Sequence[object], count_tokens: TokenCounter, format: FormatName | None = None) -> Conversation:  # noqa: A002 - the word for it
    """
    Read a provider's list, of a format that is told apart by content if none is named.

    Args:
        messages: Dicts or the objects of the provider's SDK, mixed as they come; they are never changed.
        count_tokens: How tokens are counted.
        format: The provider's name for it; a list that says nothing (empty, or of texts alone) is taken for OpenAI
            chat.

    Raises:
        ConversationError: A message is of no known format, or of another one than those before it.
    """
    if isinstance(messages, (str, bytes)):
        raise ConversationError("a text is no list of messages: hand in the list, a text as its first message")
    provider = PROVIDERS[format or decide_format(messages)[0]]
    read = [provider.read_message(native, index, count_tokens) for index, native in enumerate(messages)]
    return Conversation(format=provider.name, messages=tuple(provider.settle_messages(read)))


def write_list(conversation: Conversation) -> list[object]:
    """Return the provider's list: a new list with the caller's own objects, new dicts for what was edited or made."""
    write_message = PROVIDERS[conversation.format].write_message
    return [
        write_message(message) if message.edited or message.native is None else message.native
        for message in conversation.messages
    ]


def count_opening(conversation: Conversation) -> int:
    """Return how many messages continue what the provider keeps."""
    return PROVIDERS[conversation.format].count_opening(conversation.messages)


def find_compacted(messages: Sequence[Message]) -> int:
    """
    Return where the provider's newest compaction stands, or -1.

    Only the provider can read it. If it is removed, what it summarises is lost to the model.
    """
    for index in range(len(messages) - 1, -1, -1):
        for part in messages[index].parts:
            if part.kind == "other" and is_compaction(part.native):
                return index
    return -1


def from_user(text: str, count_tokens: TokenCounter) -> Message:
    """Return a new message of the user, which all providers take."""
    return make_message("user", (text_part(text, None, count_tokens),), None)


def find_problems(conversation: Conversation) -> tuple[str, ...]:
    """Say what is wrong with a list by its provider's own rules, with the index of the message; empty if nothing is."""
    rules = PROVIDERS[conversation.format].make_rules()
    rules.read_on(conversation.messages, 0)
    return rules.problems()


def repair(messages: Sequence[object], format: FormatName | None = None) -> list[object]:  # noqa: A002 - the word for it
    """
    Return an interrupted history as a list that the provider takes.

    A run that was stopped leaves calls without results, results without calls, and beginnings that are lost. A call
    without a result gets one which says that its outcome is unknown, since it may have run. A result without its call
    becomes a text of the user, and so does a beginning that is lost. Reasoning that led to nothing goes, since no
    provider takes it. All other messages are the caller's own objects, and a valid list comes back as it is. What this
    leaves broken, such as two calls with one id, `find_problems` names.

    Args:
        messages: A provider's list; neither it nor anything in it is changed.
        format: The provider's format; told apart by content if none is named.

    Raises:
        ConversationError: A message is of no known format.
    """
    conversation = read_list(messages, estimate_tokens, format)
    if not find_problems(conversation):
        return list(messages)
    return PROVIDERS[conversation.format].repair_messages(conversation.messages)
