"""Which call has which result, and where a message list may be cut without separating what belongs together."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message, Part


NEARBY: Final = 64
"""Messages that are looked at first to tell where a list may be cut."""


class Spot(NamedTuple):
    """
    Where a part stands.
    """

    message: int
    part: int


class Pair(NamedTuple):
    """
    A call and its result.
    """

    call: Spot
    result: Spot | None
    """None where it was never answered, or not yet."""


class Pairs(NamedTuple):
    """
    All calls of a message list, in order, and the results that belong to none.
    """

    pairs: tuple[Pair, ...]
    orphans: tuple[Spot, ...]

    def by_result(self) -> dict[Spot, Spot]:
        """Return where the call of each result stands."""
        return {pair.result: pair.call for pair in self.pairs if pair.result is not None}

    def by_call(self) -> dict[Spot, Spot]:
        """Return where the result of each call stands that has one."""
        return {pair.call: pair.result for pair in self.pairs if pair.result is not None}


def pairs_of(messages: Sequence[Message]) -> Pairs:
    """
    Find the result of each call, in linear time.

    By id; where one of the two has none (Gemini, OpenAI's old functions), by tool and order within the turn. A call
    that is answered twice has the first answer, and of calls with the same id those of the newest turn are meant:
    what is left over is an orphan. Blocks that layers leave alone but that have an id (kind `other`: a screenshot and
    the call that asked for it) are paired as well.
    """
    calls: list[Spot] = []
    results: dict[Spot, Spot] = {}
    orphans: list[Spot] = []
    provider_calls: dict[str, Spot] = {}
    turn = _Turn({})
    role_before = ""
    for index, message in enumerate(messages):
        role = message.role
        if role == "assistant" != role_before:
            turn = _Turn(turn.by_id)
        role_before = role
        for number, part in enumerate(message.parts):
            kind = part.kind
            if kind == "text" or (kind == "other" and not part.call_id):
                continue
            spot = Spot(index, number)
            if kind == "call":
                turn.call(part, spot)
                calls.append(spot)
                continue
            call = turn.answer(part) if kind == "result" else provider_calls.pop(part.call_id, None)
            if call is not None:
                results[call] = spot
            elif kind == "result":
                orphans.append(spot)
            else:
                provider_calls[part.call_id] = spot
                calls.append(spot)
    return Pairs(tuple([Pair(call, results.get(call)) for call in calls]), tuple(orphans))


def cut_points(messages: Sequence[Message], pairs: Pairs | None = None) -> list[int]:
    """
    Return the indices, in order, at which a list may be cut: what stands before each, and what begins at it.

    Before a cut every call has its result, so that a tail from there is complete, and so is a head up to there. A
    run of assistant messages that thinks is not cut either: Anthropic wants thinking with the calls it led to,
    OpenAI's Responses want a reasoning item with the items that follow it. What begins at a cut may stand after a
    message of the user (a summary, a marker, the task) in every format; 0 is always among them, and the length of the
    list is unless calls at the end still wait for their results.

    Args:
        messages: The list.
        pairs: What `pairs_of` says of it, if it is known already.
    """
    found = pairs_of(messages) if pairs is None else pairs
    awaited_from = _last_turn(messages)
    ends = [0] * len(messages)
    """The last message that what stands in each belongs to."""
    for call, result in found.pairs:
        if result is not None:
            ends[call.message] = max(ends[call.message], result.message)
        elif call.message >= awaited_from:
            ends[call.message] = len(messages)
    points = [0]
    held, is_thinking = 0, False
    for after, message in enumerate(messages, 1):
        held = max(held, ends[after - 1])
        is_thinking = message.role == "assistant" and (is_thinking or _thinks(message))
        goes_on = is_thinking and after < len(messages) and messages[after].role == "assistant"
        if held < after and not goes_on:
            points.append(after)
    return points


def first_cut_from(messages: Sequence[Message], index: int) -> int | None:
    """
    Return the first of the `cut_points` from `index` on that lies before the end of the list; None if there is none.

    Whether a list can be cut at a place shows nearby, unless a call is answered late or its id is used again: so only
    the turns around `index` are looked at, and more of them as long as they do not tell.

    Args:
        messages: The list.
        index: Where to begin.
    """
    start = min(index, len(messages) - 1)
    while start > 0 and not (messages[start].role == "assistant" != messages[start - 1].role):
        start -= 1
    reach = NEARBY
    while True:
        near = messages[start : index + reach]
        pairs = pairs_of(near)
        if start and not _stands_alone(near, pairs):
            return next((point for point in cut_points(messages) if index <= point < len(messages)), None)
        is_all = index + reach >= len(messages)
        found = next((at for at in cut_points(near, pairs) if index - start <= at < len(near)), None)
        if is_all:
            return None if found is None else start + found
        waiting = min((call.message for call, result in pairs.pairs if result is None), default=len(near))
        if found is not None and found <= waiting:
            return start + found
        reach *= 4


def _stands_alone(messages: Sequence[Message], pairs: Pairs) -> bool:
    """Tell whether what is in the middle of a list has the same pairs there, and none with what is before it."""
    if pairs.orphans or any(part.kind == "other" and part.call_id for message in messages for part in message.parts):
        return False
    # A result that found no call with its id has taken one without; before these messages there may be its own.
    return all(
        messages[call.message].parts[call.part].call_id or not messages[result.message].parts[result.part].call_id
        for call, result in pairs.pairs
        if result is not None
    )


def _thinks(message: Message) -> bool:
    return any(part.kind == "other" for part in message.parts)


def _last_turn(messages: Sequence[Message]) -> int:
    """
    Return where the turn begins whose calls may still be answered: what the model said last, if only results follow.
    """
    index = len(messages)
    while index and messages[index - 1].parts and all(part.kind == "result" for part in messages[index - 1].parts):
        index -= 1
    while index and messages[index - 1].role == "assistant":
        index -= 1
    return index


class _Turn:
    """
    The calls of one answer of the model, which wait for their results.
    """

    __slots__ = ("_by_tool", "_new", "by_id")

    def __init__(self, by_id: dict[str, tuple[_Turn, deque[Spot]]]) -> None:
        self.by_id = by_id
        """Calls with an id that wait, of this turn or an earlier one."""
        self._new: list[tuple[Spot, Part]] = []
        self._by_tool: dict[tuple[str, bool], deque[tuple[Spot, str]]] = {}
        """The calls of this turn by tool, those with an id apart; sorted only when a result has none."""

    def call(self, part: Part, spot: Spot) -> None:
        """Remember a call."""
        self._new.append((spot, part))
        call_id = part.call_id
        if not call_id:
            return
        waiting = self.by_id.get(call_id)
        if waiting is not None and waiting[0] is self:
            waiting[1].append(spot)
        else:
            self.by_id[call_id] = (self, deque((spot,)))

    def answer(self, part: Part) -> Spot | None:
        """Take the call that a result answers."""
        call_id = part.call_id
        if not call_id:
            return self._next(part.tool, has_id=False) or self._next(part.tool, has_id=True)
        waiting = self.by_id.get(call_id)
        if waiting is None:
            return self._next(part.tool, has_id=False)
        spot = waiting[1].popleft()
        if not waiting[1]:
            del self.by_id[call_id]
        return spot

    def _next(self, tool: str, *, has_id: bool) -> Spot | None:
        for spot, part in self._new:
            self._by_tool.setdefault((part.tool, bool(part.call_id)), deque()).append((spot, part.call_id))
        self._new.clear()
        waiting = self._by_tool.get((tool, has_id))
        while waiting:
            spot, call_id = waiting.popleft()
            if not has_id or self._is_taken(spot, call_id):
                return spot
        return None

    def _is_taken(self, spot: Spot, call_id: str) -> bool:
        """Take a call out by its id, unless it has been answered by that."""
        waiting = self.by_id.get(call_id)
        if waiting is None or spot not in waiting[1]:
            return False
        waiting[1].remove(spot)
        if not waiting[1]:
            del self.by_id[call_id]
        return True
