"""What every layer is given and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from otel_errcompact.config import ContextOptions
    from otel_errcompact.context.archive import Archive
    from otel_errcompact.context.messages import Conversation
    from otel_errcompact.context.notes import Cut
    from otel_errcompact.digest.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """
    What a layer works with.
    """

    archive: Archive
    """Where the whole of a thing is kept before it is cut."""

    options: ContextOptions
    count_tokens: TokenCounter
    target_tokens: int
    """How small the conversation should become; a layer stops cutting when it is."""

    least_gain_tokens: int = 0
    """What editing old messages must gain at once, since a prompt cache then reads anew what follows."""


class Edited(NamedTuple):
    """
    What a layer made of a conversation.
    """

    conversation: Conversation
    """The very object that was given if nothing was cut."""

    cuts: tuple[Cut, ...] = ()
    problem: str = ""
    """Why something that should have been cut was not: the archive could not keep it."""


class Layer(Protocol):
    """
    One layer: never makes the estimate grow, never separates a call from its result, never raises for a full disk.
    """

    def __call__(self, conversation: Conversation, workspace: Workspace) -> Edited:
        """Return the conversation with what the layer cuts taken out."""
        ...
