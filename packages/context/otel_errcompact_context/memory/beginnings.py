"""Lists known by their content: what their beginnings became."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact_context.providers.native import json_of

if TYPE_CHECKING:
    from collections.abc import Sequence

HISTORIES: Final = 1_000
"""Of how many histories it is remembered what they became."""

_DIGEST_BYTES: Final = 16

_ENDS: Final = 4
"""
At how many of its last messages a history is remembered.

Frameworks add messages for one call alone, and take failed ones back: what stands before those is the same again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A history whose beginning is replaced by what it became before."""

    messages: list[object]
    """What to compact and to send: messages that were never cut are those that were handed in, the very objects."""

    given: tuple[object, ...]
    """The history as it was handed in."""

    digests: tuple[bytes, ...]
    """A digest for each message of it, which says all before it as well."""


class Beginnings:
    """
    Remembers what histories were compacted to.

    For frameworks that hand over the whole history at each call:

        resumed = beginnings.resume(history, session)
        compaction = window.compact(resumed.messages, session=session)
        beginnings.keep(resumed, compaction.messages)

    A history is known by its content, so that two never mix and one that was edited or wound back begins anew. What is
    remembered is what layers have made, and of all else the place: no message of the caller's is held.
    """

    def __init__(self) -> None:
        self._became: BoundedTable[bytes, tuple[object, ...]] = BoundedTable(HISTORIES * _ENDS)
        """By the digest of the last message: indices into the history, and what layers have made."""

    def resume(self, messages: Sequence[object], session: str = "") -> Resumed:
        """
        Return a history with its longest known beginning replaced.

        Args:
            messages: The whole history; it is not changed.
            session: Whose it is; what another session's became is never taken.

        Raises:
            ConversationError: A message holds what no JSON can.
        """
        given = tuple(messages)
        digests = chain_digests(given, session)
        for length in range(len(given), 0, -1):
            became = self._became.get(digests[length - 1])
            if became is not None:
                known = [given[entry] if isinstance(entry, int) else entry for entry in became]
                return Resumed(messages=[*known, *given[length:]], given=given, digests=digests)
        return Resumed(messages=list(given), given=given, digests=digests)

    def keep(self, resumed: Resumed, messages: Sequence[object]) -> None:
        """
        Remember what a history became.

        Args:
            resumed: What `resume` has returned for it.
            messages: What was sent.
        """
        places = {id(message): place for place, message in enumerate(resumed.given)}
        became = tuple(places.get(id(message), message) for message in messages)
        if became == tuple(range(len(resumed.given))):
            return
        ends = {resumed.digests[-1]: became}
        for at in range(len(became) - 1, -1, -1):
            entry, beginning = became[at], became[: at + 1]
            if len(ends) == _ENDS or beginning == tuple(range(at + 1)):
                break
            if isinstance(entry, int):
                ends.setdefault(resumed.digests[entry], beginning)
        for digest, beginning in ends.items():
            self._became.pop(digest)  # so that it counts as the newest
            self._became.put(digest, beginning)


def chain_digests(messages: Sequence[object], session: str) -> tuple[bytes, ...]:
    """Return a digest for each message of a list, which says all before it as well."""
    digest = session.encode(errors="surrogatepass")
    digests: list[bytes] = []
    for index, message in enumerate(messages):
        said = json_of(message, index).encode(errors="surrogatepass")
        digest = blake2b(digest + b"\n" + said, digest_size=_DIGEST_BYTES).digest()
        digests.append(digest)
    return tuple(digests)
