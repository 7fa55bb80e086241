"""The lists whose summary was refused: none is asked for again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context import providers
from otel_errcompact.context.exceptions import ConversationError
from otel_errcompact.context.memory.beginnings import chain_digests
from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from otel_errcompact.context.messages import Conversation

LISTS: Final = 10_000
"""How many lists are remembered; of one that is forgotten a summary is asked for once more."""


class RefusedLists:
    """
    Remembers which lists had a summary that was refused.

    A list is known by its content, so that one that was stored and loaded again is the same.
    """

    def __init__(self, lists: int = LISTS) -> None:
        self._digests: BoundedTable[bytes, bool] = BoundedTable(lists)

    def add(self, conversation: Conversation, session: str, target_tokens: int) -> None:
        """Remember a list, and how small it should have become."""
        digest = _digest_of(conversation, session, target_tokens)
        if digest is not None:
            self._digests.put(digest, value=True)

    def holds(self, conversation: Conversation, session: str, target_tokens: int) -> bool:
        """Tell whether a list was added, for the same target."""
        if not self._digests.entries:
            return False
        digest = _digest_of(conversation, session, target_tokens)
        return digest is not None and self._digests.get(digest) is not None


def _digest_of(conversation: Conversation, session: str, target_tokens: int) -> bytes | None:
    try:
        return chain_digests(providers.write_list(conversation), f"{session!r} {target_tokens}")[-1]
    except ConversationError:  # no JSON holds it
        return None
