"""Which call each result answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context.messages import Part
from otel_errcompact.context.pairs import Spot, pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message

_NO_CALL: Final = Part("call", "", 0)


def pair_calls(messages: Sequence[Message]) -> dict[Spot, Part]:
    """
    Return the call of each result, in the order of the results.

    Where there is none, it is one without arguments.
    """
    pairs = pairs_of(messages)
    found = {
        pair.result: messages[pair.call.message].parts[pair.call.part]
        for pair in pairs.pairs
        if pair.result is not None and messages[pair.call.message].parts[pair.call.part].kind == "call"
    }
    for spot in pairs.orphans:
        found[spot] = _NO_CALL._replace(tool=messages[spot.message].parts[spot.part].tool)
    return dict(sorted(found.items()))
