"""The reactive layer: whatever it takes, once the list does not fit or a provider has refused it."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.context import formats
from otel_errcompact.context.layers.summary import is_summary, task_of
from otel_errcompact.context.layers.workspace import Edited
from otel_errcompact.context.markers import marker
from otel_errcompact.context.messages import Conversation, with_text
from otel_errcompact.context.notes import Cut
from otel_errcompact.context.pairs import cut_points
from otel_errcompact.context.shortening import shortened, shortened_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from otel_errcompact.context.layers.workspace import Workspace
    from otel_errcompact.context.messages import Message, Part

_SMALL: Final = 64
"""Tokens of a part that is not worth shortening: its marker costs nearly as much."""

_SUMMARY_SHARE: Final = 4
"""An earlier summary says more than turns do, and stays if it costs less than one part in four of the target."""

_WORTH_SHOWING: Final = 16
"""Tokens of a part below which its marker stands alone."""

_MARK: Final = "errcompact"
"""The argument of a shortened call that holds the marker."""


def reactive(conversation: Conversation, workspace: Workspace, *, room_tokens: int | None = None) -> Edited:
    """
    Take out all turns between the task and the newest ones that fit, then shorten what is left until it fits.

    Results are shortened first, then inputs, then texts: down to the target. If that is more than `room_tokens`, the
    task's text is shortened too, and if need be the last turn is taken out.

    Args:
        conversation: The list.
        workspace: Archive and target.
        room_tokens: What the list must not cost more than, whatever it takes; the target by default.
    """
    draft = _Draft(conversation, workspace)
    room = workspace.target_tokens if room_tokens is None else room_tokens
    try:
        _reach_target(draft)
        if draft.tokens > room:
            _reach_room(draft, room)
    except OSError as error:
        return draft.edited(problem=f"what could not be kept was not cut: {error}")
    return draft.edited()


def _reach_target(draft: _Draft) -> None:
    target = draft.workspace.target_tokens
    if draft.tokens > target:
        _drop_old_turns(draft, target)
    for wanted in (_is_result, _is_input, _is_other_text):
        if draft.tokens > target:
            draft.shorten(draft.parts(wanted), target)


def _reach_room(draft: _Draft, room: int) -> None:
    task = draft.task
    beside = draft.tokens - (task.tokens if task else 0)
    if beside + _SMALL > room:
        draft.take_out(draft.head, len(draft.kept), keep_summary=False)
    if draft.tokens > room:
        draft.shorten(draft.parts(_is_task_text), room)
    if draft.tokens > room:
        draft.replace_task(room)


def _drop_old_turns(draft: _Draft, target: int) -> None:
    """Take out all turns but the newest that fit beside the head, and the last one in any case."""
    messages = [kept.message for kept in draft.kept]
    costs = [0, *accumulate(message.tokens for message in messages)]
    ends = [point for point in cut_points(messages) if draft.head < point < len(messages)]
    room = target - costs[draft.head] - _SMALL
    fitting = (point for point in ends if costs[-1] - costs[point] <= room)
    draft.take_out(draft.head, next(fitting, ends[-1] if ends else draft.head), keep_summary=True)


class _Kept(NamedTuple):
    index: int
    """Where it, or the first of what it replaces, stood in the list that was given."""

    message: Message
    is_task: bool = False


class _Draft:
    """
    A conversation on its way to being shorter.

    Args:
        conversation: The list.
        workspace: Archive and counter.
    """

    def __init__(self, conversation: Conversation, workspace: Workspace) -> None:
        task = task_of(conversation.messages)
        self.workspace = workspace
        self.kept = [_Kept(index, message, index == task) for index, message in enumerate(conversation.messages)]
        self.tokens = conversation.tokens
        self.head = _head_end(conversation.messages, task)
        self._given = conversation
        self._format = formats.format_of(conversation.format)
        self._cuts: list[Cut] = []

    @property
    def task(self) -> Message | None:
        """The first message of the user."""
        return next((kept.message for kept in self.kept[: self.head] if kept.is_task), None)

    def edited(self, problem: str = "") -> Edited:
        """Return what has become of the list."""
        if not self._cuts:
            return Edited(self._given, problem=problem)
        messages = tuple(kept.message for kept in self.kept)
        return Edited(Conversation(format=self._given.format, messages=messages), tuple(self._cuts), problem)

    def parts(self, wanted: Callable[[_Kept, Part], bool]) -> list[tuple[int, int]]:
        """Return where the parts stand that are wanted and are not small."""
        return [
            (place, number)
            for place, kept in enumerate(self.kept)
            for number, part in enumerate(kept.message.parts)
            if part.tokens > _SMALL and wanted(kept, part)
        ]

    def take_out(self, start: int, end: int, *, keep_summary: bool) -> None:
        """Replace messages by one that says where they are; an earlier summary among them may stay."""
        budget = self.workspace.target_tokens // _SUMMARY_SHARE if keep_summary else -1
        gone = self.kept[start:end]
        stays = [kept for kept in gone if is_summary(kept.message) and kept.message.tokens <= budget][-1:]
        gone = [kept for kept in gone if kept not in stays]
        tokens = sum(kept.message.tokens for kept in gone)
        if tokens <= _SMALL:
            return
        place = self.workspace.archive.keep(formats.transcript(kept.message for kept in gone))
        line = marker("reactive", f"{len(gone):,} messages, {tokens:,} tokens", place)
        made = self._format.make("user", line, self.workspace.count_tokens)
        if made.tokens >= tokens:
            return
        self.kept[start:end] = [*stays, _Kept(gone[0].index, made)]
        self.tokens += made.tokens - tokens
        self._cuts.append(
            Cut(
                message=gone[0].index,
                messages=len(gone),
                tokens_before=tokens,
                tokens_after=made.tokens,
                place=place,
            )
        )

    def shorten(self, parts: Sequence[tuple[int, int]], total: int) -> None:
        """Shorten the largest of some parts to one size, so that the list costs `total` if that is possible."""
        costs = [self.kept[place].message.parts[number].tokens for place, number in parts]
        size = max(_SMALL, level(costs, total - self.tokens + sum(costs)))
        for (place, number), cost in zip(parts, costs, strict=True):
            if cost > size:
                self._shorten(place, number, size)

    def _shorten(self, place: int, number: int, size: int) -> None:
        kept = self.kept[place]
        part = kept.message.parts[number]
        where = self.workspace.archive.keep(part.text)
        line = marker("reactive", f"{part.tokens:,} tokens of {part.tool or kept.message.role} {part.kind}", where)
        shorten = _shorter_arguments if part.kind == "call" else _shorter_text
        text = shorten(part.text, line, size, self.workspace)
        self._put(place, with_text(kept.message, number, text, self.workspace.count_tokens), part, where)

    def replace_task(self, room: int) -> None:
        """Put a text in the place of the task's message, with all that is in it and cannot be shortened."""
        place = next((place for place, kept in enumerate(self.kept) if kept.is_task), None)
        if place is None:
            return
        message = self.kept[place].message
        where = self.workspace.archive.keep(formats.transcript([message]))
        line = marker("reactive", f"{message.tokens:,} tokens of the task", where)
        text = "\n".join(part.text for part in message.parts if part.kind == "text")
        size = room - self.tokens + message.tokens - _SMALL // 4
        made = self._format.make("user", _shorter_text(text, line, size, self.workspace), self.workspace.count_tokens)
        self._put(place, made, None, where)

    def _put(self, place: int, message: Message, part: Part | None, where: str) -> None:
        kept = self.kept[place]
        saved = kept.message.tokens - message.tokens
        if saved <= 0:
            return
        self.kept[place] = kept._replace(message=message)
        self.tokens -= saved
        before = part.tokens if part else kept.message.tokens
        self._cuts.append(
            Cut(
                message=kept.index,
                tool=part.tool if part else "",
                call_id=part.call_id if part else "",
                tokens_before=before,
                tokens_after=before - saved,
                place=where,
            )
        )


def _head_end(messages: Sequence[Message], task: int) -> int:
    """Return where the head ends: after the task; where there is none, after what the system says first."""
    points = cut_points(messages)
    if task >= 0:
        return next((point for point in points if point > task), 0)
    spoken = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return max((point for point in points if point <= spoken), default=0)


def level(costs: Iterable[int], total: int) -> int:
    """Return the size to which the larger of some things must be cut so that all of them cost `total` at most."""
    rising = sorted(costs)
    for index, cost in enumerate(rising):
        share = total // (len(rising) - index)
        if cost > share:
            return max(0, share)
        total -= cost
    return rising[-1] if rising else 0


def _is_result(_: _Kept, part: Part) -> bool:
    return part.kind == "result"


def _is_input(_: _Kept, part: Part) -> bool:
    return part.kind == "call"


def _is_other_text(kept: _Kept, part: Part) -> bool:
    return part.kind == "text" and not kept.is_task and kept.message.role != "system"


def _is_task_text(kept: _Kept, part: Part) -> bool:
    return part.kind == "text" and kept.is_task


def _shorter_text(text: str, line: str, size: int, workspace: Workspace) -> str:
    left = size - workspace.count_tokens(line) - 1
    return f"{line}\n{shortened(text, left, workspace.count_tokens)}" if left >= _WORTH_SHOWING else line


def _shorter_arguments(arguments: str, line: str, size: int, workspace: Workspace) -> str:
    """Return arguments as an object that holds the marker, and as much of the arguments as is allowed."""
    marked = json.dumps({_MARK: line}, ensure_ascii=False)
    left = size - workspace.count_tokens(marked)
    short = shortened_arguments(arguments, left, workspace.count_tokens) if left >= _WORTH_SHOWING else ""
    fields = short.strip().removeprefix("{").removesuffix("}").strip()
    whole = f"{marked[:-1]}, {fields}}}"
    return whole if fields and workspace.count_tokens(whole) <= size else marked
