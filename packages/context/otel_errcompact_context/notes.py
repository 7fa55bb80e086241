"""What was cut, by which layer and why, and what a provider has refused."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress, count, islice
from operator import is_not
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from otel_errcompact_context.messages import Conversation

LayerName = Literal["results", "summary", "snip", "errors", "micro", "repeats", "reactive"]
"""
All layers in the order in which they run. Each is `LAYER` in `layers/<name>.py`.

The summary comes before whatever cuts, so that whoever writes it reads the list as it came. Errors come after what
takes things out: what is gone need not be classified, and no digest refers to it as seen before. Repeats
come after what cuts results, so that none refers to a result that is gone.
"""

Reason = Literal["always", "over_trigger", "over_window", "overflow", "asked", "cache_expired"]
"""
Why a layer ran: its own limit, the estimate, what still does not fit, a provider's refusal, the caller, the time.
"""

LAYERS: Final[tuple[LayerName, ...]] = get_args(LayerName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One thing that was taken out of the context."""

    message: int
    """The first message that was changed or taken out, as an index into the list that the layer was given."""

    messages: int = 0
    """How many whole messages were taken out; 0 if a part of one was replaced."""

    tool: str = ""
    call_id: str = ""
    tokens_before: int
    tokens_after: int
    place: str
    """Where the whole of it lies, for `Archive.read`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNote:
    """What one layer did."""

    layer: LayerName
    reason: Reason
    tokens_before: int
    tokens_after: int
    invalidated_tokens: int
    """Tokens of the old list from its first changed message on: what a provider's prompt cache has to read anew."""

    start_ns: int
    duration_ns: int
    cuts: tuple[Cut, ...] = ()
    problem: str = ""
    """Why the layer could not do its work, or not all of it; what it could not keep whole it has not cut."""

    forgets: bool = False
    """Whether what the layer cuts is out of the agent's sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What became of one message list."""

    messages: list[object]
    """The compacted list, for the provider; messages that were not touched are the caller's own objects."""

    session: str
    notes: tuple[LayerNote, ...]
    """One for each layer that ran, in order."""

    tokens_before: int
    tokens_after: int
    room_tokens: int
    """How many tokens the list may have: the window less the reserve and what is sent beside the list."""

    problems: tuple[str, ...] = ()
    """What is wrong with the list by the provider's own rules; the layers leave it as it came."""

    opaque: bool = False
    """
    Whether the list holds a compaction that only its provider can read.

    Another provider cannot continue such a list. The archive holds what our layers removed; it does not hold what the
    provider compacted by itself.
    """

    @property
    def forgets(self) -> bool:
        """
        Whether earlier messages, or old results, were taken out of the agent's sight: then call `run.forget_shown()`.

        Failures and the newest results are shortened without that, for what matters of them stays to be seen.
        """
        return any(note.cuts and note.forgets for note in self.notes)

    @property
    def fits(self) -> bool:
        """Whether the estimate is within the room."""
        return self.tokens_after <= self.room_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """A provider's refusal of a context that is too long, or its note that the window is full."""

    provider: str
    """The package of the SDK that raised it, `http`, `usage`, or `unknown`."""

    limit_tokens: int | None
    """The window, or the most that one request may hold, where the text names it."""

    sent_tokens: int | None
    """What the provider counted against the limit, the space asked for the answer included."""

    message: str
    """What was said, shortened."""


def invalidated_tokens(before: Conversation, after: Conversation) -> int:
    """
    Return the tokens of the old list from its first changed message on: what a provider's prompt cache reads anew.

    Messages that layers leave alone are the same objects; one that was only added at the end invalidates nothing.
    """
    old, new = before.messages, after.messages
    if old is new:
        return 0
    changed = next(compress(count(), map(is_not, old, new)), min(len(old), len(new)))
    return sum(message.tokens for message in islice(old, changed, None))
