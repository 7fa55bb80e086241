"""The neutral model of a message list: what the layers read and change, whichever provider's list it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter

T = TypeVar("T")

FormatName = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Role = Literal["system", "user", "assistant", "tool"]
PartKind = Literal["text", "call", "result", "other"]


# A conversation has a hundred thousand of these, and a tuple is made three times as fast as a frozen dataclass.


class Part(NamedTuple):
    """One block of a message."""

    kind: PartKind
    """`other` is whatever the layers leave alone: an image, thinking, a block of a type that is not known."""

    text: str
    """What the model reads: the text, a call's arguments as JSON, all text of a result; empty for `other`."""

    tokens: int
    """What the whole block costs, images and the like included."""

    tool: str = ""
    """The tool's name; of a result only where the provider repeats it."""

    call_id: str = ""
    """The provider's id of the call; empty if it has none."""

    failed: bool | None = None
    """What the provider's own flag says of a result: failed, did not fail, or (`None`) nothing."""

    native: object = None
    """The provider's own block, never changed; None where the text stands in the message itself."""

    edited: bool = False
    """Whether `text` takes the place of all that `native` holds."""


class Message(NamedTuple):
    """One message, or one item of a list of items."""

    role: Role
    parts: tuple[Part, ...]
    tokens: int
    """What the message costs: its parts and its own frame."""

    native: object = None
    """The caller's own message, never changed; None for one that a layer has made."""

    edited: bool = False
    """Whether a part was edited; if not, the caller's own message is handed back, the very object."""


class _NewTuple(Protocol):
    def __call__(self, kind: type[T], items: tuple[object, ...], /) -> T: ...


new_tuple: Final = cast("_NewTuple", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]
"""Make a named tuple of all its fields, three times as fast as by name."""

new_part: Final = partial(new_tuple, Part)
"""Make a part of all its fields in a tuple."""

new_message: Final = partial(new_tuple, Message)
"""Make a message of all its fields in a tuple."""

_TOKENS_OF: Final = itemgetter(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A message list of one provider."""

    format: FormatName
    messages: tuple[Message, ...]
    computed: dict[str, object] = field(default_factory=dict[str, object], init=False, compare=False, repr=False)
    """What was computed of the messages, so that it is computed once."""

    @property
    def tokens(self) -> int:
        """What all messages cost."""
        return sum(map(_TOKENS_OF, self.messages))


def is_beginning(known: Sequence[object], now: Sequence[object]) -> bool:
    """Tell whether a list begins with the very objects of another."""
    return len(known) <= len(now) and all(map(is_, known, now))


def with_text(message: Message, index: int, text: str, count_tokens: TokenCounter) -> Message:
    """Return `message` with the whole of one part replaced by `text`."""
    return with_parts(message, {index: with_new_text(message.parts[index], text, count_tokens(text))})


def with_new_text(part: Part, text: str, tokens: int) -> Part:
    """Return `part` with the whole of it replaced by `text`."""
    return Part(part.kind, text, tokens, part.tool, part.call_id, part.failed, part.native, edited=True)


def with_parts(message: Message, edits: Mapping[int, Part]) -> Message:
    """Return `message` with some of its parts replaced, each by its index."""
    parts = list(message.parts)
    tokens = message.tokens
    for index, part in edits.items():
        tokens += part.tokens - parts[index].tokens
        parts[index] = part
    return Message(message.role, tuple(parts), tokens, message.native, edited=True)
