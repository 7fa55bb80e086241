"""Whole histories, as frameworks hand them over at each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from otel_errcompact.boundary import current_run
from otel_errcompact_context.guard.guard import OverflowGuard, Sent, guard_of
from otel_errcompact_context.memory.beginnings import Beginnings, Resumed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from otel_errcompact_context.messages import FormatName
    from otel_errcompact_context.window.window import ContextWindow

T = TypeVar("T")

ORIGIN: Final = "errcompact_origin"
"""The field of a converted message, or block, that says which of the framework's own it is."""


class HistoryGuard:
    """
    Sends histories through an `OverflowGuard`, and remembers what their beginnings became.

    Args:
        window: Compacts; made of the environment's options if None. A guard is used as it is.
        format_name: The format that histories are converted to.
    """

    def __init__(self, window: ContextWindow | OverflowGuard | None, format_name: FormatName) -> None:
        self.guard: Final = guard_of(window)
        self._beginnings = Beginnings()
        self._format: FormatName = format_name

    def call(
        self, send: Callable[[list[Any]], T], history: Sequence[object], session: str = "", beside: object = None
    ) -> T:
        """
        Send a history as far as it fits, and return the reply.

        Raises:
            ContextOverflowError: The provider refused it, and compacting it did not help.
        """
        resumed = self._beginnings.resume(history, session)
        name = session or _name_session(resumed)
        sent = self.guard.call(send, resumed.messages, session=name, beside=beside, format=self._format)
        return self._end_call(resumed, sent)

    async def acall(
        self,
        send: Callable[[list[Any]], Awaitable[T] | T],
        history: Sequence[object],
        session: str = "",
        beside: object = None,
    ) -> T:
        """Send a history in asynchronous code."""
        resumed = self._beginnings.resume(history, session)
        name = session or _name_session(resumed)
        sent: Sent[T] = await self.guard.acall(send, resumed.messages, session=name, beside=beside, format=self._format)
        return self._end_call(resumed, sent)

    async def acompact(self, history: Sequence[object], session: str = "", beside: object = None) -> list[Any]:
        """Return a history as far as it fits."""
        return await self.acall(lambda messages: messages, history, session, beside)

    def _end_call(self, resumed: Resumed, sent: Sent[T]) -> T:
        self._beginnings.keep(resumed, sent.messages)
        run = current_run()
        if run is not None and any(compaction.forgets for compaction in sent.compactions):
            run.forget_shown()
        return sent.reply


def _name_session(resumed: Resumed) -> str:
    # Conversations that begin alike share a place in the line of compactions, and nothing else.
    return resumed.digests[0].hex() if resumed.digests else ""
