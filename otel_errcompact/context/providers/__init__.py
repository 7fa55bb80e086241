"""The providers' message lists, an adapter each: read into the neutral model, written back without loss."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from otel_errcompact.context.exceptions import ConversationError
from otel_errcompact.context.messages import Conversation, Message, Part
from otel_errcompact.context.providers import anthropic, gemini, openai_chat, openai_responses
from otel_errcompact.context.providers.costs import FRAME_TOKENS
from otel_errcompact.context.providers.native import is_compaction, plain
from otel_errcompact.context.providers.telling import detect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from otel_errcompact.context.messages import FormatName
    from otel_errcompact.digest.tokens import TokenCounter

__all__ = [
    "FORMATS",
    "MessageFormat",
    "count_opening",
    "detect",
    "find_compacted",
    "from_user",
    "plain",
    "problems",
    "read",
    "write",
]


class TurnRules(Protocol):
    """Finds where a growing list breaks its provider's order of turns."""

    def take(self, messages: Iterable[Message], start: int) -> None:
        """Read the next messages, of which the first has the index `start`."""
        ...

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here, with the index of the message."""
        ...


class MessageFormat(Protocol):
    """
    What an adapter does. Mappings and the provider's own (pydantic) objects are read alike.
    """

    @property
    def name(self) -> FormatName:
        """The format's name."""
        ...

    def read(self, native: object, index: int, count_tokens: TokenCounter) -> Message:
        """
        Read one message; what is not understood becomes a part of the kind `other`, and is written back as it came.

        Raises:
            ConversationError: It is a message of another format, or of none; `index` says which.
        """
        ...

    def write(self, message: Message) -> object:
        """Return the provider's message of one that was edited or made; the caller's own is never changed."""
        ...

    @property
    def Rules(self) -> type[TurnRules]:  # noqa: N802 - a class
        """Finds where a list breaks its provider's order of turns."""
        ...


FORMATS: Final[Mapping[FormatName, MessageFormat]] = MappingProxyType(
    {
        "anthropic": anthropic,
        "openai-chat": openai_chat,
        "openai-responses": openai_responses,
        "gemini": gemini,
    }
)


_OPENINGS: Final[Mapping[FormatName, Callable[[Sequence[Message]], int]]] = MappingProxyType(
    {"anthropic": anthropic.count_opening, "openai-responses": openai_responses.count_opening}
)


def read(messages: Sequence[object], count_tokens: TokenCounter, format: FormatName | None = None) -> Conversation:  # noqa: A002 - the word for it
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
    if format is None:
        format = detect(messages)  # noqa: A001 - the word for it
    one = FORMATS[format].read
    made = [one(native, index, count_tokens) for index, native in enumerate(messages)]
    return Conversation(
        format=format, messages=tuple(openai_responses.settle(made) if format == "openai-responses" else made)
    )


def write(conversation: Conversation) -> list[object]:
    """Return the provider's list: a new list with the caller's own objects, new dicts for what was edited or made."""
    one = FORMATS[conversation.format].write
    return [
        one(message) if message.edited or message.native is None else message.native
        for message in conversation.messages
    ]


def count_opening(conversation: Conversation) -> int:
    """Return how many messages continue what the provider keeps."""
    count = _OPENINGS.get(conversation.format)
    return count(conversation.messages) if count is not None else 0


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
    """
    Return a new message of the user, the one kind that all providers take anywhere between turns.

    Args:
        text: What it says: a marker, or a summary.
        count_tokens: How tokens are counted.
    """
    tokens = count_tokens(text)
    return Message("user", (Part("text", text, tokens),), tokens + FRAME_TOKENS)


def problems(conversation: Conversation) -> tuple[str, ...]:
    """Say what is wrong with a list by its provider's own rules, with the index of the message; empty if nothing is."""
    rules = FORMATS[conversation.format].Rules()
    rules.take(conversation.messages, 0)
    return rules.problems()
