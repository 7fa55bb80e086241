"""Which call has which result, and where a message list may be cut without separating what belongs together."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.context.markers import marker_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.context.messages import Message, Part


_OF_MESSAGES: Final = lazy_pattern(r"[0-9,]{1,20} messages?, ")
"""How markers begin that stand in the place of whole messages."""

_FOLLOWED: Final = lazy_pattern(r"; the next ([0-9,]{1,20}) (?:is|are) from them\Z")
"""How they end where some of those messages stay behind them."""


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
        elif role == "user" and is_gap(message):
            # A list is cut between pairs only: a result behind the gap never answered a call before it, though without
            # the turns between them (a call that was lost, another with the same id) it looks as if it did.
            turn, provider_calls = _Turn({}), {}
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


def cut_points(messages: Sequence[Message]) -> list[int]:
    """
    Return the indices, in order, at which a list may be cut: what stands before each, and what begins at it.

    Before a cut every call has its result, so that a tail from there is complete, and so is a head up to there. A
    run of assistant messages that thinks is not cut either: Anthropic wants thinking with the calls it led to,
    OpenAI's Responses want a reasoning item with the items that follow it. What begins at a cut may stand after a
    message of the user (a summary, a marker, the task) in every format. A marker stays with the messages
    that it says are its own. 0 is always among the points, and the length of the list is unless calls at the end still
    wait for their results.
    """
    awaited_from = _find_last_turn(messages)
    ends = [0] * len(messages)
    """The last message that what stands in each belongs to."""
    for call, result in pairs_of(messages).pairs:
        if result is not None:
            ends[call.message] = max(ends[call.message], result.message)
        elif call.message >= awaited_from:
            ends[call.message] = len(messages)
    points = [0]
    held, is_thinking = 0, False
    for after, message in enumerate(messages, 1):
        held = max(held, ends[after - 1])
        if message.role == "user" and (followers := followers_of(message)):
            held = min(max(held, after - 1 + followers), len(messages) - 1)
        is_thinking = message.role == "assistant" and (is_thinking or _thinks(message))
        goes_on = is_thinking and after < len(messages) and messages[after].role == "assistant"
        if held < after and not goes_on:
            points.append(after)
    return points


def ranges_beside(start: int, end: int, place: int, messages: Sequence[Message]) -> list[tuple[int, int]]:
    """
    Return what is left of a range around one message.

    What belongs to the message is left out with it: its pair, its turn, its marker.

    Args:
        start: Where the range begins, at a place to cut.
        end: The first message after it.
        place: The message that stays; the range as it is if it lies outside.
        messages: The whole list.
    """
    if not start <= place < end:
        return [(start, end)]
    points = cut_points(messages)
    before = max((point for point in points if start <= point <= place), default=start)
    behind = min((point for point in points if place < point <= end), default=end)
    return [(first, last) for first, last in ((start, before), (behind, end)) if first < last]


def _thinks(message: Message) -> bool:
    return any(part.kind == "other" for part in message.parts)


def _find_last_turn(messages: Sequence[Message]) -> int:
    """
    Return where the turn begins whose calls may still be answered: what the model said last, if only results follow.
    """
    index = len(messages)
    while index and messages[index - 1].parts and all(part.kind == "result" for part in messages[index - 1].parts):
        index -= 1
    while index and messages[index - 1].role == "assistant":
        index -= 1
    return index


def is_gap(message: Message) -> bool:
    """Tell whether a message of the user is the marker of messages that a layer has taken out."""
    found = marker_of(message.parts[0].text) if message.parts and message.parts[0].kind == "text" else None
    return found is not None and _OF_MESSAGES.match(found.what) is not None


def followers_of(message: Message) -> int:
    """Return how many messages behind a marker are its own."""
    found = marker_of(message.parts[0].text) if message.parts and message.parts[0].kind == "text" else None
    told = _FOLLOWED.search(found.what) if found is not None and _OF_MESSAGES.match(found.what) else None
    return int(told[1].replace(",", "")) if told else 0


def describe_followers(count: int) -> str:
    """Return how a marker counts the messages behind it; or nothing."""
    return f"; the next {count:,} {'is' if count == 1 else 'are'} from them" if count else ""


class _Turn:
    """The calls of one answer of the model, which wait for their results."""

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
            return self._take_next(part.tool, has_id=False) or self._take_next(part.tool, has_id=True)
        waiting = self.by_id.get(call_id)
        if waiting is None:
            return self._take_next(part.tool, has_id=False)
        spot = waiting[1].popleft()
        if not waiting[1]:
            del self.by_id[call_id]
        return spot

    def _take_next(self, tool: str, *, has_id: bool) -> Spot | None:
        for spot, part in self._new:
            self._by_tool.setdefault((part.tool, bool(part.call_id)), deque()).append((spot, part.call_id))
        self._new.clear()
        waiting = self._by_tool.get((tool, has_id))
        while waiting:
            spot, call_id = waiting.popleft()
            if not has_id or self._take_by_id(spot, call_id):
                return spot
        return None

    def _take_by_id(self, spot: Spot, call_id: str) -> bool:
        """Take a call out by its id, unless it has been answered by that."""
        waiting = self.by_id.get(call_id)
        if waiting is None or spot not in waiting[1]:
            return False
        waiting[1].remove(spot)
        if not waiting[1]:
            del self.by_id[call_id]
        return True
