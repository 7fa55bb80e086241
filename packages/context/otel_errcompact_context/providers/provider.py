"""One provider's message lists, and the table of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import FormatName, Message


class TurnRules(Protocol):
    """Finds where a growing list breaks its provider's order of turns."""

    def read_on(self, messages: Iterable[Message], start: int) -> None:
        """Read the next messages, of which the first has the index `start`."""
        ...

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong if the list ends here, with the index of the message."""
        ...


class ToolDefinition(NamedTuple):
    """A tool for the model, before a provider's form of it."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        schema = {"type": "object", "properties": {name: dict(what) for name, what in self.properties.items()}}
        return {**schema, "required": ["place"]} if self.properties else schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """All that is known of one provider's message lists."""

    name: FormatName
    roles: frozenset[str]
    """The roles of messages with a `content`."""

    blocks: frozenset[str]
    """Types of blocks that stand in a content; a type that no provider names may be new, of any."""

    read_message: Callable[[object, int, TokenCounter], Message]
    """
    Reads one message, of an index; what is not understood becomes a part of the kind `other`, written back as it came.

    Raises a `ConversationError` for a message of another format, or of none.
    """

    write_message: Callable[[Message], object]
    """Returns the provider's message of one that was edited or made; the caller's own is never changed."""

    make_rules: Callable[[], TurnRules]
    """Finds where a list breaks its order of turns."""

    repair_messages: Callable[[Sequence[Message]], list[object]]
    """Returns an interrupted list as one that the provider takes."""

    define_tools: Callable[[Sequence[ToolDefinition]], list[dict[str, Any]]]
    """Returns definitions of tools as the provider takes them."""

    count_opening: Callable[[Sequence[Message]], int] = lambda _: 0
    """Returns how many messages continue what the provider keeps."""

    settle_messages: Callable[[list[Message]], list[Message]] = lambda messages: messages
    """Returns a whole list with what only other messages tell of each."""


PROVIDERS: Final[dict[FormatName, Provider]] = {}
"""All providers, by the name of their format."""


def register_provider(provider: Provider) -> Provider:
    """Add a provider to the table."""
    PROVIDERS[provider.name] = provider
    return provider


UNKNOWN_OUTCOME: Final = (
    "[errcompact repair: no result of this call was recorded, since the run was interrupted. Whether it was carried "
    "out is unknown: check before you repeat it.]"
)
LOST_TURN: Final = "[errcompact repair: what was said here before is lost.]"
_LOST_CALL: Final = "[errcompact repair: the result of a call{tool} that is not in this conversation any more]"


def describe_orphan(tool: str, text: str) -> str:
    """Return a result without its call as a text."""
    line = _LOST_CALL.format(tool=f" of {tool}" if tool else "")
    return f"{line}\n{text}" if text else line
