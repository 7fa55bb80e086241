"""What the context package raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.exceptions import ErrcompactError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.notes import Compaction, Overflow


class ConversationError(ErrcompactError, ValueError):
    """
    A message list cannot be read.

    Args:
        problem: What is wrong, and what to do.
        message: Which message, counted from 0; None where the list as a whole is meant.
    """

    def __init__(self, problem: str, message: int | None = None) -> None:
        super().__init__(problem if message is None else f"message {message}: {problem}")
        self.problem = problem
        self.message = message


class LaneError(ErrcompactError, RuntimeError):
    """Waiting for the compaction of a conversation would never end, or block an event loop."""


class ContextOverflowError(ErrcompactError, RuntimeError):
    """
    A provider has refused a context as too long, and compacting it did not help; its own error is the `__cause__`.

    Args:
        session: Whose conversation it is.
        overflow: What the provider said.
        problem: Why no further attempt was made.
        compactions: What was tried, in order.
        reply: What came without an exception: a reply that was cut off at the end of the window; else None.
    """

    def __init__(
        self, session: str, overflow: Overflow, problem: str, compactions: Sequence[Compaction], reply: object = None
    ) -> None:
        whose = f" of session {session!r}" if session else ""
        super().__init__(f"the context{whose} is too long: {problem}; the provider said: {overflow.message}")
        self.session = session
        self.overflow = overflow
        self.problem = problem
        self.compactions = tuple(compactions)
        self.reply = reply

    @property
    def tokens_before(self) -> int:
        """What the list was estimated to cost as it came; 0 if nothing was compacted."""
        return self.compactions[0].tokens_before if self.compactions else 0

    @property
    def tokens_after(self) -> int:
        """What it was estimated to cost in the end."""
        return self.compactions[-1].tokens_after if self.compactions else 0

    @property
    def room_tokens(self) -> int:
        """What it might have cost."""
        return self.compactions[-1].room_tokens if self.compactions else 0

    @property
    def tried(self) -> tuple[str, ...]:
        """The layers that have cut something, in order."""
        return tuple(note.layer for compaction in self.compactions for note in compaction.notes if note.cuts)
