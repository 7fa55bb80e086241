"""What a summariser is asked, and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from otel_errcompact.context.messages import FormatName


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """
    What a summariser is given. With any model, `prompt` is all it needs: `ask_model(request.prompt)`.
    """

    instructions: str
    """What to write, and what to keep; forbids tool calls."""

    messages: tuple[object, ...] = field(repr=False)
    """The provider's own messages from the first on, the caller's objects: the task, and all that is to be replaced."""

    transcript: str = field(repr=False)
    """The same as text, for a model of any provider, with no tool calls in it that would need their tools declared."""

    format: FormatName
    session: str
    place: str
    """Where the whole of what is replaced is kept already."""

    limit_tokens: int
    """What the answer may cost."""

    replaced_tokens: int
    """What it replaces."""

    tools: tuple[()] = ()
    """Hand on no tools: a summary is written and not worked out."""

    @property
    def prompt(self) -> str:
        """The transcript and the instructions, as one message for any model."""
        return f"{self.transcript}\n\n{self.instructions}"


Summary: TypeAlias = str | Sequence[object]
"""A text, or the provider's own messages where it compacts by itself."""

Summarize: TypeAlias = Callable[[SummaryRequest], Summary | Awaitable[Summary]]
"""Writes a summary, at once or awaited."""

Answer: TypeAlias = Summary | Exception
"""What came of asking."""
