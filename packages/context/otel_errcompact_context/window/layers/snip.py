"""A conversation far too long: head and tail stay, the middle is taken out in one batch."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact_context.providers import count_opening, find_compacted
from otel_errcompact_context.window.layers.carrying.replacement import is_carried, take_out
from otel_errcompact_context.window.layers.workspace import Edited, Layer
from otel_errcompact_context.window.pairs import cut_points, pairing_of, ranges_beside
from otel_errcompact_context.window.schedule import Schedule

if TYPE_CHECKING:
    from otel_errcompact_context.messages import Conversation
    from otel_errcompact_context.notes import Cut
    from otel_errcompact_context.window.layers.workspace import Workspace


_FAR: Final = 2
_MANY: Final = 1_000
"""A conversation that costs so many times the room is cut at once if it has more messages than these."""

BUDGET_SHARE: Final = 4
"""What takes the place of messages may cost one part in so many of theirs, so that taking them out is worth it."""


def snip(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Take the middle out of a conversation that is far too long.

    Of one of more than `snip_messages` half as many remain; of a very long one that costs twice the room, as many as
    the target has room for: to look at each old result of it would take many times as long. The first `head_messages`
    and the newest ones stay, no call is separated from its result, and one message of the user says what was taken out
    and where it lies, as JSON lines. Half at once, so that a prompt cache loses its prefix once in many turns and not
    in each. What the provider has compacted stays.
    """
    messages = conversation.messages
    limit, most = workspace.options.snip_messages, None
    if limit is not None and len(messages) > limit:
        tail = max(1, limit // 2 - workspace.options.head_messages - 1)
    elif len(messages) > _MANY and conversation.tokens // _FAR > workspace.room:
        most = workspace.target_tokens // BUDGET_SHARE
        costs = accumulate(message.tokens for message in reversed(messages))
        tail = sum(1 for _ in takewhile(lambda cost: cost <= workspace.target_tokens - most, costs))
    else:
        return Edited(conversation)
    least = max(workspace.options.head_messages, count_opening(conversation))
    start, end = _find_middle(conversation, least, len(messages) - tail)
    cuts: list[Cut] = []
    edited = conversation
    for first, last in reversed(ranges_beside(start, end, find_compacted(messages), messages)):
        is_left = is_carried(edited.messages[first:last])
        try:
            taken = None if is_left else take_out(edited, first, last, "snip", BUDGET_SHARE, workspace, most)
        except OSError as error:
            problem = f"{last - first:,} messages could not be kept and stay: {error}"
            return Edited(edited, tuple(cuts), problem)
        if taken is not None:
            made, cut = taken
            cuts.insert(0, cut)
            edited = replace(edited, messages=(*edited.messages[:first], *made, *edited.messages[last:]))
    return Edited(edited, tuple(cuts))


LAYER: Final = Layer(name="snip", due=Schedule.to_target, edit=snip)


def _find_middle(conversation: Conversation, least: int, latest: int) -> tuple[int, int]:
    messages = conversation.messages
    points = [point for point in cut_points(messages, pairing_of(conversation)) if point < len(messages)]
    start = next((point for point in points if point >= least), None)
    if start is None:
        return 0, 0
    return start, next((point for point in points if point >= max(start, latest)), points[-1])
