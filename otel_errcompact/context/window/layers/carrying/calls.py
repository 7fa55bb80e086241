"""Which call each result answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.context.messages import Part
from otel_errcompact.context.window.pairs import Pairing, Spot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message

_NO_CALL: Final = Part("call", "", 0)


def pair_calls(messages: Sequence[Message], start: int = 0, pairing: Pairing | None = None) -> dict[Spot, Part]:
    """
    Return the call of each result, in the order of the results.

    Where there is none, it is one without arguments.
    """
    if pairing is None:
        pairing = Pairing()
        pairing.take(messages)
    found: dict[Spot, Part] = {}
    for result, call in pairing.by_result.items():
        if result[0] >= start and (part := messages[call.message].parts[call.part]).kind == "call":
            found[result] = part
    for spot in pairing.orphans:
        if spot.message >= start:
            found[spot] = _NO_CALL._replace(tool=messages[spot.message].parts[spot.part].tool)
    return dict(sorted(found.items()))
