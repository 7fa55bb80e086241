"""What a summariser is asked, and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

SUMMARY_HEADINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Task": "what the user wants, with every constraint and later change of mind, in the user's own words",
        "Rules": "what must or must never be done, to the letter",
        "Decisions": "what was decided and why, what the user confirmed, what was tried and given up",
        "Facts": "ids, names, numbers and findings that later steps need, to the letter",
        "Files": "each file that was read or changed, by its path, and what state it is in now",
        "Commands": "what was run and how it ended, as far as it still matters",
        "Open errors": "what still fails, with the exact message, and what was already tried against it",
        "State": "what is done, what is half done, and what waits for whom",
        "Next step": "what was being done when this was written, and what comes next",
    }
)
"""The headings of a summary, and what stands under each; `ContextWindow(headings=...)` takes others."""

NO_TOOLS: Final = (
    "Do not call a tool, and write nothing in the form of a tool call: the answer is used as it is, and one that holds "
    "a tool call is thrown away."
)
"""Stands at both ends of what is asked: models that have just read fifty calls go on with a fifty-first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What a summariser is given. With any model, `prompt` is all it needs: `ask_model(request.prompt)`."""

    instructions: str
    """What to write, and what to keep; forbids tool calls. May stand beside the transcript, as a system prompt."""

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
        """Transcript and instructions as one message for any model."""
        return f"{NO_TOOLS}\n\n{self.transcript}\n\n{self.instructions}"


Summary: TypeAlias = str | Sequence[object]
"""A text, or the provider's own messages where it compacts by itself."""

Summarize: TypeAlias = Callable[[SummaryRequest], Summary | Awaitable[Summary]]
"""Writes a summary, at once or awaited."""

Answer: TypeAlias = Summary | Exception
"""What came of asking."""
