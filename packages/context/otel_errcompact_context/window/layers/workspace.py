"""What every layer is given and gives back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from otel_errcompact.digest import DigestOptions
from otel_errcompact.runtime.roots import ANYWHERE, CodeRoots
from otel_errcompact_context.breaker import CircuitBreaker
from otel_errcompact_context.window.layers.requests import SUMMARY_HEADINGS, Answer, SummaryRequest
from otel_errcompact_context.window.schedule import BATCH_TOKENS, Schedule

if TYPE_CHECKING:
    from otel_errcompact.config import ContextOptions
    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.messages import Conversation
    from otel_errcompact_context.notes import Cut, LayerName, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """What a layer works with."""

    archive: Archive
    """Where the whole of a thing is kept before it is cut."""

    options: ContextOptions
    count_tokens: TokenCounter
    target_tokens: int
    """How small the conversation should become; a layer stops cutting when it is."""

    ample_tokens: int = 0
    """To what the messages that stay are shortened where they do not fit, if that is more than the target."""

    window_tokens: int | None = None
    """The model's window; as the options say if None."""

    room_tokens: int | None = None
    """What the conversation must not cost more than; the target if None."""

    session: str = ""
    summaries: CircuitBreaker = field(default_factory=CircuitBreaker)
    """Leaves conversations alone whose summaries keep failing."""

    digest: DigestOptions = field(default_factory=DigestOptions)
    hidden_failures: bool = True
    """Whether a result counts that only states a failure."""

    headings: Mapping[str, str] = field(default_factory=lambda: SUMMARY_HEADINGS)
    """The headings of a summary, and what stands under each."""

    summarises_compacted: bool = False
    """Whether the summariser reads what the provider has compacted, which for any other has to stay as it is."""

    roots: CodeRoots = ANYWHERE
    """The folders of the user's own code."""

    least_gain_tokens: int = 0
    """What editing old messages must gain at once, since a prompt cache then reads anew what follows."""

    batch_tokens: int = BATCH_TOKENS
    """The same for old errors."""

    states: dict[str, object] = field(default_factory=dict[str, object])
    """What was remembered of the conversation, for its next compaction."""

    @property
    def room(self) -> int:
        """What the conversation must not cost more than, in tokens."""
        return self.target_tokens if self.room_tokens is None else self.room_tokens

    @property
    def window(self) -> int:
        """The model's window, in tokens."""
        return self.options.window_tokens if self.window_tokens is None else self.window_tokens


class Edited(NamedTuple):
    """What a layer made of a conversation."""

    conversation: Conversation
    """The very object that was given if nothing was cut."""

    cuts: tuple[Cut, ...] = ()
    problem: str = ""
    """Why something that should have been cut was not: the archive could not keep it."""


Steps: TypeAlias = Generator[SummaryRequest, Answer, Edited]
"""The work of a layer that asks the caller's summariser: each request is answered before the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """
    One layer: never makes the estimate grow, never separates a call from its result, never raises for a full disk.
    """

    name: LayerName
    due: Callable[[Schedule, int], Reason | None]
    """When the layer runs, by what the conversation costs; a method of `Schedule`."""

    edit: Callable[[Conversation, Workspace], Edited | Steps]
    """Return the conversation with what the layer cuts taken out."""

    forgets: bool = True
    """Whether what it cuts is out of the agent's sight; not so where what matters of it stays to be seen."""

    asks: bool = False
    """Whether it needs the caller's summariser."""
