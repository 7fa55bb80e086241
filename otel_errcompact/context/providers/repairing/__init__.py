"""
Interrupted histories made valid, a module for each format.

A run that was stopped leaves calls without results, results without calls, and beginnings that are lost. Providers
refuse such lists. What is put in says what is not known; what the model could still need stays as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context import providers
from otel_errcompact.context.providers.repairing import anthropic, gemini, openai_chat, openai_responses
from otel_errcompact.digest.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from otel_errcompact.context.messages import FormatName, Message

_REPAIRS: Final[Mapping[FormatName, Callable[[Sequence[Message]], list[object]]]] = {
    "anthropic": anthropic.repair,
    "openai-chat": openai_chat.repair,
    "openai-responses": openai_responses.repair,
    "gemini": gemini.repair,
}


def repair(messages: Sequence[object], format: FormatName | None = None) -> list[object]:  # noqa: A002 - the word for it
    """
    Return an interrupted history as a list that the provider takes.

    A call without a result gets one which says that its outcome is unknown, since it may have run. A result without
    its call becomes a text of the user, and so does a beginning that is lost. Reasoning that led to nothing goes,
    since no provider takes it. All other messages are the caller's own objects, and a valid list comes back as it is.
    What this leaves broken, such as two calls with one id, `providers.problems` names.

    Args:
        messages: A provider's list; neither it nor anything in it is changed.
        format: The provider's format; told apart by content if none is named.

    Raises:
        ConversationError: A message is of no known format.
    """
    conversation = providers.read(messages, estimate_tokens, format)
    if not providers.problems(conversation):
        return list(messages)
    return _REPAIRS[conversation.format](conversation.messages)
