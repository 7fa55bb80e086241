"""Which call has which result, and where a message list may be cut without separating what belongs together."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.messages import Part, is_beginning, new_tuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_context.memory.markers import Marker
    from otel_errcompact_context.messages import Conversation, Message, PartKind


_OF_MESSAGES: Final = lazy_pattern(r"[0-9,]{1,20} messages?, ")
"""How markers begin that stand in the place of whole messages."""

_FOLLOWED: Final = lazy_pattern(r"; the next ([0-9,]{1,20}) (?:is|are) from them\Z")
"""How they end where some of those messages stay behind them."""


_NEWEST_TURNS: Final = 5
"""Turns by whose cost that of the next ones is estimated."""


class Spot(NamedTuple):
    """Where a part stands."""

    message: int
    part: int


class Pairing:
    """
    Pairs the calls of a growing list with their results, in linear time.

    By id; where one of the two has none (Gemini, OpenAI's old functions), by tool and order within the turn, or by
    order alone where the result names no tool. A call
    that is answered twice has the first answer, and of calls with the same id those of the newest turn are meant:
    what is left over is an orphan. Blocks that layers leave alone but that have an id (kind `other`: a screenshot and
    the call that asked for it) are paired as well.
    """

    def __init__(self) -> None:
        self.by_result: Final[dict[Spot, Spot]] = {}
        """Where the call of each result stands."""
        self._messages: Sequence[Message] = ()
        self._calls: list[Spot] = []
        self._results: dict[Spot, Spot] = {}
        self.orphans: Final[list[Spot]] = []
        """The results that belong to no call."""
        self._provider_calls: dict[str, Spot] = {}
        self._turn = _Turn({})
        self._role = ""

    def read_on(self, messages: Sequence[Message]) -> None:
        """Read the messages of a list that were not read yet."""
        calls, results, by_result, provider_calls = self._calls, self._results, self.by_result, self._provider_calls
        turn, role_before = self._turn, self._role
        for index, message in enumerate(islice(messages, len(self._messages), None), len(self._messages)):
            role, parts = message[0], message[1]
            if role == "assistant" != role_before:
                turn = _Turn(turn.by_id)
            elif role == "user" and is_gap(message):
                # A list is cut between pairs only: a result behind the gap never answered a call before it, though
                # without the turns between them (a call that was lost, another with the same id) it looks as if it did.
                turn = _Turn({})
                provider_calls.clear()
            role_before = role
            for number, part in enumerate(parts):
                kind = part[0]
                if kind == "text" or (kind == "other" and not part[4]):
                    continue
                spot = new_tuple(Spot, (index, number))
                if kind == "call":
                    turn.add_call(part, spot)
                    calls.append(spot)
                    continue
                call = turn.take_answered(part) if kind == "result" else provider_calls.pop(part.call_id, None)
                if call is None and (own := find_own_call(message, number)) is not None:
                    call = new_tuple(Spot, (index, own))  # a further result of the provider's own call
                if call is not None:
                    results[call] = spot
                    by_result[spot] = call
                elif kind == "result":
                    self.orphans.append(spot)
                else:
                    provider_calls[part.call_id] = spot
                    calls.append(spot)
        self._messages, self._turn, self._role = messages, turn, role_before

    def is_of(self, messages: Sequence[Message]) -> bool:
        """Tell whether a list begins with what was read."""
        return is_beginning(self._messages, messages)

    def pairs(self) -> Iterator[tuple[Spot, Spot | None]]:
        """Yield each call with its result, if it has one."""
        results = self._results
        for call in self._calls:
            yield call, results.get(call)


def pair_list(messages: Sequence[Message]) -> Pairing:
    """Return the pairing of a whole list."""
    pairing = Pairing()
    pairing.read_on(messages)
    return pairing


def part_at(messages: Sequence[Message], spot: Spot) -> Part:
    """Return the part that stands at a spot."""
    return messages[spot.message].parts[spot.part]


def find_own_call(message: Message, number: int) -> int | None:
    """Return which part is the provider's own call of a result."""
    part = message.parts[number]
    if part.kind != "other" or not part.call_id or message.role != "assistant":
        return None
    before = enumerate(message.parts[:number])
    return next((index for index, other in before if (other.kind, other.call_id) == ("other", part.call_id)), None)


def count_turn_tokens(messages: Sequence[Message]) -> int:
    """
    Return what the newest turns of a list cost on average.

    A turn is an answer of the model and all until the next one. Older ones may be compacted, and say nothing of what
    the next ones will cost.
    """
    tokens, turns, read, after = 0, 0, 0, ""
    for message in reversed(messages):
        if message.role != "assistant" == after:
            turns, tokens = turns + 1, read
            if turns == _NEWEST_TURNS:
                break
        read, after = read + message.tokens, message.role
    return tokens // max(turns, 1)


def pairing_of(conversation: Conversation) -> Pairing:
    """Return the pairing of a whole list, each message read once."""
    found = conversation.computed.get("pairing")
    if not isinstance(found, Pairing) or not found.is_of(conversation.messages):
        found = conversation.computed["pairing"] = Pairing()
    found.read_on(conversation.messages)
    return found


def cut_points(messages: Sequence[Message], pairing: Pairing | None = None) -> list[int]:
    """
    Return the indices, in order, at which a list may be cut: what stands before each, and what begins at it.

    Before a cut every call has its result, so that a tail from there is complete, and so is a head up to there. A
    run of assistant messages that thinks is not cut either: Anthropic wants thinking with the calls it led to,
    OpenAI's Responses want a reasoning item with the items that follow it; nor is what the model says beside a call cut
    from the call, which is an item of its own there. What begins at a cut may stand after a
    message of the user (a summary, a marker, the task) in every format. A marker stays with the messages
    that it says are its own. 0 is always among the points, and the length of the list is unless calls at the end still
    wait for their results.
    """
    pairing = pairing or pair_list(messages)
    awaited_from = _find_last_turn(messages)
    ends = [0] * len(messages)
    """The last message that what stands in each belongs to."""
    for (call, _), result in pairing.pairs():
        if result is not None:
            ends[call] = max(ends[call], result[0])
        elif call >= awaited_from:
            ends[call] = len(messages)
    points = [0]
    held, is_thinking, last = 0, False, len(messages)
    for after, message in enumerate(messages, 1):
        role = message[0]
        held = max(held, ends[after - 1])
        if role == "user" and (followers := followers_of(message)):
            held = min(max(held, after - 1 + followers), last - 1)
        is_thinking = role == "assistant" and (is_thinking or _holds(message, "other"))
        if held >= after:
            continue
        is_inside = after < last and role == "assistant" == messages[after].role
        if not is_inside or not (is_thinking or _holds(messages[after], "call")):
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


def _holds(message: Message, kind: PartKind) -> bool:
    for part in message.parts:  # noqa: SIM110 - a generator would take twice as long, a hundred thousand times
        if part.kind == kind:
            return True
    return False


def _find_last_turn(messages: Sequence[Message]) -> int:
    # Return where the turn begins whose calls may still be answered: what the model said last, if only results
    # follow.
    index = len(messages)
    while index and messages[index - 1].parts and all(part.kind == "result" for part in messages[index - 1].parts):
        index -= 1
    while index and messages[index - 1].role == "assistant":
        index -= 1
    return index


def is_gap(message: Message) -> bool:
    """Tell whether a message of the user is the marker of messages that a layer has taken out."""
    return _find_gap(message) is not None


def followers_of(message: Message) -> int:
    """Return how many messages behind a marker are its own."""
    found = _find_gap(message)
    followers = _FOLLOWED.search(found.what) if found is not None else None
    return int(followers[1].replace(",", "")) if followers else 0


def _find_gap(message: Message) -> Marker | None:
    parts = message.parts
    if not parts or parts[0].kind != "text":
        return None
    text = parts[0].text
    found = marker_of(text) if "[errcompact " in text else None
    return found if found is not None and _OF_MESSAGES.match(found.what) else None


def describe_followers(count: int) -> str:
    """Return how a marker counts the messages behind it; or nothing."""
    return f"; the next {count:,} {'is' if count == 1 else 'are'} from them" if count else ""


class _Turn:
    """The calls of one answer of the model, which wait for their results."""

    __slots__ = ("_answered", "_by_tool", "_new", "by_id")

    def __init__(self, by_id: dict[str, tuple[_Turn, list[Spot]]]) -> None:
        self.by_id = by_id
        """Calls with an id that wait, of this turn or an earlier one."""
        self._new: list[tuple[Spot, Part]] = []
        self._by_tool: dict[tuple[str, bool], deque[tuple[Spot, str]]] | None = None
        """The calls of this turn by tool and all together, those with an id apart; sorted when a result has none."""
        self._answered: set[Spot] = set()

    def add_call(self, part: Part, spot: Spot) -> None:
        """Remember a call."""
        self._new.append((spot, part))
        call_id = part[4]
        if not call_id:
            return
        waiting = self.by_id.get(call_id)
        if waiting is None or waiting[0] is not self:
            self.by_id[call_id] = (self, [spot])
        else:
            waiting[1].append(spot)

    def take_answered(self, part: Part) -> Spot | None:
        """Take the call that a result answers."""
        call_id = part[4]
        if not call_id:
            return self._take_next(part.tool, has_id=False) or self._take_next(part.tool, has_id=True)
        waiting = self.by_id.get(call_id)
        if waiting is None:
            return self._take_next(part.tool, has_id=False)
        spots = waiting[1]
        if len(spots) == 1:
            del self.by_id[call_id]
            return spots[0]
        return spots.pop(0)

    def _take_next(self, tool: str, *, has_id: bool) -> Spot | None:
        if self._by_tool is None:
            self._by_tool = {}
        for spot, part in self._new:
            for name in {part.tool, ""}:
                self._by_tool.setdefault((name, bool(part.call_id)), deque()).append((spot, part.call_id))
        self._new.clear()
        waiting = self._by_tool.get((tool, has_id))
        while waiting:
            spot, call_id = waiting.popleft()
            if spot not in self._answered and (not has_id or self._take_by_id(spot, call_id)):
                self._answered.add(spot)
                return spot
        return None

    def _take_by_id(self, spot: Spot, call_id: str) -> bool:
        waiting = self.by_id.get(call_id)
        if waiting is None or spot not in waiting[1]:
            return False
        waiting[1].remove(spot)
        if not waiting[1]:
            del self.by_id[call_id]
        return True


_NO_CALL: Final = Part("call", "", 0)


def pair_calls(messages: Sequence[Message], start: int = 0, pairing: Pairing | None = None) -> dict[Spot, Part]:
    """
    Return the call of each result, in the order of the results.

    Where there is none, it is one without arguments.
    """
    pairing = pairing or pair_list(messages)
    found: dict[Spot, Part] = {}
    for result, call in pairing.by_result.items():
        if result[0] >= start and (part := part_at(messages, call)).kind == "call":
            found[result] = part
    for spot in pairing.orphans:
        if spot.message >= start:
            found[spot] = _NO_CALL._replace(tool=part_at(messages, spot).tool)
    return dict(sorted(found.items()))
