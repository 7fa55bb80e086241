"""The providers' message lists, an adapter each: read into the neutral model, written back without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from otel_errcompact.context.messages import Conversation, FormatName, Message, Role
    from otel_errcompact.tokens import TokenCounter


class MessageFormat(Protocol):
    """
    What an adapter does. Mappings and the provider's own (pydantic) objects are read alike.
    """

    name: FormatName

    def detect(self, messages: Sequence[object]) -> bool:
        """Tell whether a list is of this format; no two formats claim the same list."""
        ...

    def read(self, messages: Sequence[object], count_tokens: TokenCounter) -> tuple[Message, ...]:
        """Read a list; what is not understood becomes a part of the kind `other`, and is written back as it came."""
        ...

    def write(self, message: Message) -> object:
        """Return the provider's message: the caller's own object unless it was edited, else a new one."""
        ...

    def make(self, role: Role, text: str, count_tokens: TokenCounter) -> Message:
        """Return a new message with a text, for markers and summaries."""
        ...

    def problems(self, messages: Sequence[Message]) -> Iterable[str]:
        """Say, with the index of the message, where a list breaks the provider's rules for the order of turns."""
        ...


def read(messages: Sequence[object], count_tokens: TokenCounter, format: FormatName | None = None) -> Conversation:  # noqa: A002 - the word for it
    """Read a provider's list, of a format that is told apart by content if none is named."""
    raise NotImplementedError


def write(conversation: Conversation) -> list[object]:
    """Return the provider's list."""
    raise NotImplementedError
