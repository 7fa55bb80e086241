"""The calls of a list with their results, as the pairing of the window finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from otel_errcompact_context.window.pairs import Spot, pair_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.messages import Message


class Pair(NamedTuple):
    """A call, and its result if there is one."""

    call: Spot
    result: Spot | None


class Pairs(NamedTuple):
    """All calls in order, and the results that belong to none."""

    pairs: tuple[Pair, ...]
    orphans: tuple[Spot, ...]


def pairs_of(messages: Sequence[Message]) -> Pairs:
    """Pair a whole list."""
    found = pair_list(messages)
    return Pairs(tuple(Pair(*pair) for pair in found.pairs()), tuple(found.orphans))
