"""The reactive layer: whatever it takes, once the list does not fit or a provider has refused it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact_context import providers
from otel_errcompact_context.memory.markers import marker, marker_of
from otel_errcompact_context.messages import Conversation, Part, PartKind, with_text
from otel_errcompact_context.providers.native import fields_of
from otel_errcompact_context.window.layers.carrying.files import is_restored
from otel_errcompact_context.window.layers.carrying.replacement import (
    carried_tokens,
    estimate_count,
    find_tail,
    is_carried,
    take_out,
)
from otel_errcompact_context.window.layers.carrying.words import find_request
from otel_errcompact_context.window.layers.editing import make_cut
from otel_errcompact_context.window.layers.keeping import Keeper, is_picture
from otel_errcompact_context.window.layers.summary import is_summary, task_of
from otel_errcompact_context.window.layers.workspace import Edited, Layer
from otel_errcompact_context.window.pairs import (
    cut_points,
    describe_followers,
    find_own_call,
    followers_of,
    is_gap,
    ranges_beside,
)
from otel_errcompact_context.window.schedule import Schedule
from otel_errcompact_context.window.shortening import shorten, shorten_arguments
from otel_errcompact_context.window.transcript import json_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from otel_errcompact_context.memory.markers import Marker
    from otel_errcompact_context.messages import Message
    from otel_errcompact_context.notes import Cut
    from otel_errcompact_context.window.layers.workspace import Workspace

_SMALL: Final = 64
"""Tokens of a part that is not worth shortening: its marker costs nearly as much."""

_SUMMARY_SHARE: Final = 4
"""An earlier summary says more than turns do, and stays if it costs less than one part in four of the target."""

_SAID_SHARE: Final = 4
"""To one part in so many of the room task and newest request are shortened before the last turn is taken out."""

_SHORTENED: Final[tuple[PartKind, ...]] = ("result", "call", "text")
"""Results are shortened first, then inputs, then texts."""

_WORTH_TAKING: Final = 2
"""What takes the place of messages may cost one part in so many of theirs."""

_WORTH_SHOWING: Final = 16
"""Tokens of a part below which its marker stands alone."""

_MARK: Final = "errcompact"
"""The argument of a shortened call that holds the marker."""

_MARKED_CALL: Final = f'{{"{_MARK}":'


def reactive(conversation: Conversation, workspace: Workspace) -> Edited:
    """
    Take out all turns between the task and the newest ones that fit, then shorten what is left until it fits.

    Results are shortened first, then inputs, then texts, and last the task and the newest request; if need be the last
    turn is taken out, unless its calls still wait.
    """
    draft = _Draft(conversation, workspace)
    room = workspace.room
    try:
        _reach_target(draft)
        if draft.tokens > room:
            _reach_room(draft, room)
    except OSError as error:
        return draft.make_edited(problem=f"messages stay, since they could not be kept: {error}")
    fits = draft.tokens <= room
    return draft.make_edited(
        "" if fits else f"{draft.tokens} tokens do not fit into {room}, and nothing that is left can be shortened"
    )


LAYER: Final = Layer(name="reactive", due=Schedule.to_room, edit=reactive)


def _reach_target(draft: _Draft) -> None:
    target = draft.workspace.target_tokens
    # What a head leaves no room for would be taken out again with each new turn.
    is_reachable = sum(message.tokens for message in draft.messages[: draft.head]) < target
    if draft.tokens > target and (is_reachable or draft.tokens > draft.workspace.room):
        draft.drop_old_turns(target)
    if draft.tokens <= draft.workspace.room:
        return
    ample = max(target, draft.workspace.ample_tokens)
    words = draft.find_words()
    for kind in _SHORTENED:
        if draft.tokens > ample:
            parts = draft.find_parts(kind)
            draft.shorten_parts([spot for spot in parts if kind != "text" or spot[0] not in words], ample)


def _reach_room(draft: _Draft, room: int) -> None:
    said = sum(draft.messages[place].tokens for place in draft.find_words())
    is_too_large = draft.tokens - said + min(said, room // _SAID_SHARE) > room
    for goes in (is_too_large, True):
        if goes and draft.tokens > room:
            draft.take_out(draft.head, cut_points(draft.messages)[-1], room, is_last=True)
        if draft.tokens > room:
            words = draft.find_words()
            draft.shorten_parts([spot for spot in draft.find_parts("text") if spot[0] in words], room)
        if draft.tokens > room and draft.has_pictures_in_task():
            draft.replace_task(room)
    if draft.tokens > room and draft.task >= 0:
        draft.replace_task(room)


class _Draft:
    """A conversation on its way to being shorter."""

    def __init__(self, conversation: Conversation, workspace: Workspace) -> None:
        self.workspace = workspace
        self.keeper = Keeper(workspace)
        self.messages = list(conversation.messages)
        self.tokens = conversation.tokens
        self._given = conversation
        self._origins = list(range(len(self.messages)))
        """Where each, or the first of what it replaces, stood in the list that was given."""
        self._points = cut_points(self.messages)
        self.task = task_of(self.messages)
        """Where the task stands; -1 if there is none."""
        self.head = self._end_of_head(providers.count_opening(conversation))
        """How many messages at the beginning are never taken out."""
        self._cuts: list[Cut] = []

    def _end_of_head(self, opening: int) -> int:
        # After the task; where there is none, after what the system says first. What the provider keeps is never cut.
        least = opening
        if self.task >= 0:
            least = max(next((point for point in self._points if point > self.task), 0), opening)
        elif not opening:
            said = (index for index, message in enumerate(self.messages) if message.role != "system")
            spoken = next(said, len(self.messages))
            return max(point for point in self._points if point <= spoken)
        return next((point for point in self._points if point >= least), len(self.messages))

    def make_edited(self, problem: str = "") -> Edited:
        """Return what has become of the list."""
        problem = "; ".join(filter(None, (self.keeper.problem, problem)))
        if not self._cuts:
            return Edited(self._given, problem=problem)
        conversation = Conversation(format=self._given.format, messages=tuple(self.messages))
        return Edited(conversation, tuple(self._cuts), problem)

    def find_parts(self, kind: PartKind) -> list[tuple[int, int]]:
        """Return where the parts of a kind stand that can be shortened."""
        return [
            (place, number)
            for place, message in enumerate(self.messages)
            for number, part in enumerate(message.parts)
            if part.kind == kind or (kind == "result" and find_own_call(message, number) is not None)
            if part.tokens > _SMALL and not _is_marked_alone(part)
            if kind != "text" or message.role != "system"
        ]

    def find_words(self) -> Collection[int]:
        """Return where the task and the user's newest request stand."""
        return {place for place in (self.task, find_request(self.messages)) if place >= 0}

    def drop_old_turns(self, target: int) -> None:
        """
        Take out all turns but the newest that fit beside the head, and the last one in any case; a summary may stay.
        """
        costs = [0, *accumulate([message.tokens for message in self.messages])]
        summary = self._find_summary(target // _SUMMARY_SHARE)
        room = target - costs[self.head] - max(_SMALL, carried_tokens(self.messages[self.head :], self.workspace))
        after = 0
        if summary is not None:
            after = summary + 1 + followers_of(self.messages[summary])
            room -= costs[after] - costs[summary]
        end = find_tail(self.messages, self.head, self._points, costs, room)
        if summary is None or summary >= end:
            self.take_out(self.head, end, target)
        else:
            self.take_out(after, end, target)
            self.take_out(self.head, summary, target)

    def _find_summary(self, budget: int) -> int | None:
        places = range(len(self.messages) - 1, self.head - 1, -1)
        found = next((place for place in places if is_summary(self.messages[place])), None)
        if found is None:
            return None
        group = self.messages[found : found + 1 + followers_of(self.messages[found])]
        return found if sum(message.tokens for message in group) <= budget else None

    def take_out(self, start: int, end: int, total: int, *, is_last: bool = False) -> None:
        """
        Replace messages by a marker, and what must stay within a total.

        What the provider has compacted stays.
        What an earlier compaction has left is taken out alone only as the last way.
        """
        kept = providers.find_compacted(self.messages)
        for first, last in reversed(ranges_beside(start, end, kept, self.messages)):
            self._take_out(first, last, total, is_last=is_last)

    def _take_out(self, start: int, end: int, total: int, *, is_last: bool) -> None:
        gone = self.messages[start:end]
        tokens = sum(message.tokens for message in gone)
        request = find_request(self.messages)
        is_short = all(_is_marker(message) or place == request for place, message in enumerate(gone, start))
        if is_short or (not is_last and (tokens <= _SMALL or is_carried(gone))):
            return
        given = Conversation(format=self._given.format, messages=tuple(self.messages))
        most = total - self.tokens + tokens
        if not is_last:
            most += estimate_count(self.workspace.count_tokens)
        taken = take_out(given, start, end, "reactive", _WORTH_TAKING, self.workspace, most)
        if taken is not None:
            made, cut = taken
            self.tokens -= cut.tokens_before - cut.tokens_after
            self._cuts.append(replace(cut, message=self._origins[start]))
            self.messages[start:end] = made
            self._origins[start:end] = [self._origins[start]] * len(made)
            if self.task >= start:
                # With no place to cut behind it, the task goes with what it belongs to, or moves forward.
                self.task = max(start, self.task - len(gone) + len(made))

    def shorten_parts(self, parts: Sequence[tuple[int, int]], total: int) -> None:
        """Shorten the largest of some parts to one size, so that the list costs `total` if that is possible."""
        costs = [self.messages[place].parts[number].tokens for place, number in parts]
        size = max(_SMALL, level_costs(costs, total - self.tokens + sum(costs)))
        calls: dict[int, set[int]] = {}
        for (place, number), cost in zip(parts, costs, strict=True):
            if cost > size and self._shorten_part(place, number, size):
                call = find_own_call(self.messages[place], number)
                calls.setdefault(place, set()).update(() if call is None else (call,))
        for place, gone in calls.items():
            made = _without_calls(self.messages[place], gone)
            self.tokens -= self.messages[place].tokens - made.tokens
            self.messages[place] = made

    def _shorten_part(self, place: int, number: int, size: int) -> bool:
        message = self.messages[place]
        part = message.parts[number]
        call = find_own_call(message, number)
        line, text = "", part.text
        if is_restored(message):
            # It remains a file that was put back, or the next pass would take it for the user's words ...
            line, _, text = text.partition("\n")
            where = cast("Marker", marker_of(line)).place
        elif is_gap(message):
            # ... and a marker goes on to stand for what was taken out.
            followed = describe_followers(followers_of(message))
            where, what = self._keep_messages([message]), f"1 message, {message.tokens:,} tokens{followed}"
        elif kept := self.keeper.keep(part):
            tool, kind = (part.tool, part.kind) if call is None else (message.parts[call].tool, "result")
            where, what = kept.place, f"{part.tokens:,} tokens of {tool or message.role} {kind}"
        else:
            return False
        line = line or marker("reactive", what, where)
        if part.kind == "result" and is_picture(part, self.workspace):
            # The budget of results let it pass for its picture, which is gone now; of its text it leaves as much.
            size = min(size, self.workspace.count_tokens(line) + 1 + self.workspace.options.preview_tokens)
        shorter = _shorten_arguments if part.kind == "call" else _shorten_text
        text = shorter(text, line, size, self.workspace)
        made = with_text(message, number, text, self.workspace.count_tokens)
        if made.tokens >= message.tokens:
            return False
        self._note_cut(place, part, made.parts[number].tokens, where)
        self.messages[place] = made
        return True

    def has_pictures_in_task(self) -> bool:
        """Tell whether the task holds more than texts."""
        return self.task >= 0 and any(part.kind != "text" for part in self.messages[self.task].parts)

    def replace_task(self, room: int) -> None:
        """Put a text in the place of the task's message, with all that is in it and cannot be shortened."""
        message = self.messages[self.task]
        if _is_marker(message):
            return
        where = self._keep_messages([message])
        line = marker("reactive", f"{message.tokens:,} tokens of the task", where)
        text = "\n".join(part.text for part in message.parts if part.kind == "text")
        count = self.workspace.count_tokens
        frame = providers.from_user(line, count).tokens - count(line)
        # Its beginning stays, however little room there is.
        size = max(room - self.tokens + message.tokens - frame, count(line) + _SMALL)
        made = providers.from_user(_shorten_text(text, line, size, self.workspace), count)
        if made.tokens < message.tokens:
            self._note_cut(self.task, Part("other", "", message.tokens), made.tokens, where)
            self.messages[self.task] = made

    def _keep_messages(self, messages: Sequence[Message]) -> str:
        return self.workspace.archive.keep(json_lines(messages, self._given.format))

    def _note_cut(self, start: int, gone: Part, tokens_after: int, place: str) -> None:
        self.tokens -= gone.tokens - tokens_after
        self._cuts.append(make_cut(self._origins[start], gone, tokens_after, place))


def level_costs(costs: Iterable[int], total: int) -> int:
    """Return the size to which the larger of some things must be cut so that all of them cost `total` at most."""
    rising = sorted(costs)
    for index, cost in enumerate(rising):
        share = total // (len(rising) - index)
        if cost > share:
            return max(0, share)
        total -= cost
    return rising[-1] if rising else 0


def _without_calls(message: Message, calls: Collection[int]) -> Message:
    # A text that cites what is gone would be refused: it stays without its citations. A call with a result left stays.
    whole = (number for number, part in enumerate(message.parts) if not part.edited)
    calls = set(calls).difference(find_own_call(message, number) for number in whole)
    parts = [
        part._replace(native=None, edited=True) if fields_of(part.native).get("citations") else part
        for number, part in enumerate(message.parts)
        if number not in calls
    ]
    return message._replace(
        parts=tuple(parts), tokens=message.tokens - sum(message.parts[call].tokens for call in calls)
    )


def _is_marker(message: Message) -> bool:
    # Tell whether a message is a marker and nothing else: no shorter form is left.
    return len(message.parts) == 1 and message.parts[0].kind == "text" and _is_marked_alone(message.parts[0])


def _is_marked_alone(part: Part) -> bool:
    if part.kind == "call":
        mark, rest = _split_mark(part.text)
        return bool(mark) and rest == "{}"
    return "\n" not in part.text and marker_of(part.text) is not None


def _split_mark(arguments: str) -> tuple[str, str]:
    if arguments.startswith(_MARKED_CALL):
        try:
            mark, end = json.JSONDecoder().raw_decode(arguments, len(_MARKED_CALL))
        except ValueError:
            mark, end = None, 0
        if isinstance(mark, str) and marker_of(mark):
            return mark, f"{{{arguments[end:].removeprefix(',')}"
    return "", arguments


def _shorten_text(text: str, line: str, size: int, workspace: Workspace) -> str:
    left = size - workspace.count_tokens(line) - 1
    return f"{line}\n{shorten(text, left, workspace.count_tokens)}" if text and left >= _WORTH_SHOWING else line


def _shorten_arguments(arguments: str, line: str, size: int, workspace: Workspace) -> str:
    marked = f"{_MARKED_CALL}{json.dumps(line, ensure_ascii=False)}}}"
    left = size - workspace.count_tokens(marked)
    short = shorten_arguments(_split_mark(arguments)[1], left, workspace.count_tokens) if left >= _WORTH_SHOWING else ""
    fields = short.strip().removeprefix("{").removesuffix("}").strip()
    # As tight as providers' objects are read, so that what it costs does not change on the way.
    whole = f"{marked[:-1]},{fields}}}"
    return whole if fields and workspace.count_tokens(whole) <= size else marked
