"""The summary layer: old turns to one message of what matters."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.digest import encodable
from otel_errcompact_context import providers
from otel_errcompact_context.exceptions import ConversationError
from otel_errcompact_context.memory.markers import marker, marker_of
from otel_errcompact_context.messages import Conversation
from otel_errcompact_context.notes import Cut
from otel_errcompact_context.providers.overflow import overflow_in_error
from otel_errcompact_context.providers.refusals import make_forms
from otel_errcompact_context.window.layers.carrying.replacement import (
    Gone,
    carried_tokens,
    estimate_count,
    find_tail,
    fresh_messages,
    replace_messages,
)
from otel_errcompact_context.window.layers.carrying.words import is_said_by_user, read_words
from otel_errcompact_context.window.layers.summarising.asking import Middle, make_request
from otel_errcompact_context.window.layers.summarising.checking import cut_analysis, find_problem
from otel_errcompact_context.window.layers.workspace import Edited, Layer
from otel_errcompact_context.window.pairs import cut_points, describe_followers, followers_of
from otel_errcompact_context.window.schedule import Schedule
from otel_errcompact_context.window.transcript import json_lines

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from otel_errcompact_context.messages import Message
    from otel_errcompact_context.window.layers.requests import Answer, SummaryRequest
    from otel_errcompact_context.window.layers.workspace import Steps, Workspace

MAX_SUMMARY_TOKENS: Final = 8_000
_SHARE_OF_TARGET: Final = 8
"""A summary costs at most one part in eight of what all messages may cost afterwards."""

_SHARE_OF_REPLACED: Final = 2
"""And half of what it replaces, or it is not worth the call."""

_LEAST_GAIN: Final = 10
"""One part in so many it must save; messages that a provider gives back as they are would save a few digits."""

_MIN_SUMMARY_TOKENS: Final = 64
"""Less says nothing; so little is not worth a call of a model."""

MAX_TRIES: Final = 3
"""How often a summary is asked for, with a shorter prompt each time that it was too long."""

_HEAD_SHARE: Final = 4
"""Of the messages at the beginning more than the task stays only if they cost less than a quarter of the target."""


def summarise(conversation: Conversation, workspace: Workspace) -> Steps:
    """Have the middle summarised, unless that has failed lately."""
    session, summaries, options = workspace.session, workspace.summaries, workspace.options
    if not summaries.allows(session):
        failures, seconds = options.breaker_failures, options.breaker_seconds
        problem = f"nobody was asked, for summaries have failed {failures} times in a row; again after {seconds:g} s"
        return Edited(conversation, problem=problem)
    middle = _find_middle(conversation, workspace)
    if middle is None:
        return Edited(conversation)
    edited = yield from _replace_middle(conversation, middle, workspace)
    if edited.problem:
        summaries.failed(session)
    elif edited.cuts:
        summaries.succeeded(session)
    return edited


LAYER: Final = Layer(name="summary", due=Schedule.to_target, edit=summarise, asks=True)
"""The turns between the task and the newest ones, as one text."""


def _replace_middle(conversation: Conversation, middle: Middle, workspace: Workspace) -> Steps:
    # The transcript is kept first. An answer that is no summary leaves the conversation as it was.
    try:
        place = workspace.archive.keep(
            json_lines(conversation.messages[middle.start : middle.end], conversation.format)
        )
    except OSError as error:
        return Edited(conversation, problem=f"nothing was summarised, for the transcript could not be kept: {error}")
    replacement = _Replacement(conversation, middle, place, workspace)
    answer = yield from replacement.ask_summariser()
    checked = replacement.check_answer(answer)
    if isinstance(checked, str):
        return Edited(conversation, problem=checked)
    messages = (*conversation.messages[: middle.start], *checked, *conversation.messages[middle.end :])
    cut = Cut(
        message=middle.start,
        messages=middle.end - middle.start,
        tokens_before=middle.tokens,
        tokens_after=sum(message.tokens for message in checked),
        place=place,
    )
    return Edited(Conversation(format=conversation.format, messages=messages), (cut,))


class _Replacement(NamedTuple):
    """A middle that a summary is to replace."""

    conversation: Conversation
    middle: Middle
    place: str
    workspace: Workspace

    def ask_summariser(self) -> Generator[SummaryRequest, Answer, Answer]:
        """Ask, with fewer old turns each time the prompt is too long."""
        # An earlier summary is always shown: the new one replaces it, and nothing else in the list has its contents.
        messages, end = self.conversation.messages, self.middle.end
        first = oldest = _end_of_summary(messages, self.middle)
        answer: Answer = ""
        forms = make_forms(self.workspace.options.refusals)
        for _ in range(MAX_TRIES):
            request, first = self._make_fitting_request(range(oldest, first))
            answer = yield request
            if not isinstance(answer, Exception) or overflow_in_error(answer, forms) is None:
                break
            half = sum(message.tokens for message in messages[first:end]) // 2
            further = _leave_out(messages, first, end, half)
            if further == first:
                break
            first = further
        return answer

    def _make_fitting_request(self, left_out: range) -> tuple[SummaryRequest, int]:
        messages, end = self.conversation.messages, self.middle.end
        room = self.workspace.window - self.middle.limit_tokens
        while True:
            first = left_out.stop
            request = make_request(self.conversation, self.middle, left_out, self.place, self.workspace)
            excess = self.workspace.count_tokens(request.prompt) - room
            shown = sum(message.tokens for message in messages[first:end])
            further = _leave_out(messages, first, end, shown - excess) if excess > 0 else first
            if further == first:
                return request, first
            left_out = range(left_out.start, further)

    def check_answer(self, answer: Answer) -> tuple[Message, ...] | str:
        """Return what takes the place of the middle, or a problem."""
        if isinstance(answer, Exception):
            return f"the summariser failed: {type(answer).__name__}: {answer}"
        if isinstance(answer, str):
            made = self._take_text(answer)
        elif isinstance(answer, list | tuple) and answer:
            made = self._take_messages(answer)
        else:
            return f"the summariser returned {type(answer).__name__}; return a text, or the provider's messages"
        if isinstance(made, str):
            return made
        tokens, replaced = sum(message.tokens for message in made), self.middle.tokens
        if tokens > replaced - replaced // _LEAST_GAIN:
            return f"the summary costs {tokens} tokens, not a tenth less than the {replaced} that it would replace"
        return made

    def _take_text(self, answer: str) -> tuple[Message, ...] | str:
        middle, workspace = self.middle, self.workspace
        # Half a character would keep the whole list from being sent.
        text = encodable(cut_analysis(answer))
        by_user = [message for message in self.conversation.messages[: middle.end] if is_said_by_user(message)]
        problem = find_problem(text, middle.limit_tokens, by_user, workspace.count_tokens)
        if problem:
            return problem
        gone = self.conversation.messages[middle.start : middle.end]
        said = read_words(self.conversation, middle.start, middle.end, workspace.count_tokens)
        least = middle.limit_tokens + carried_tokens(gone, workspace) + said.request_tokens
        budget = max(least, workspace.target_tokens - self.conversation.tokens + middle.tokens)
        budget += estimate_count(workspace.count_tokens)
        budget = min(budget, middle.tokens - middle.tokens // _LEAST_GAIN)
        place = Gone(middle.start, middle.end, self.place, said)
        return replace_messages(self.conversation, place, "summary", budget, workspace, text)

    def _take_messages(self, answer: Sequence[object]) -> tuple[Message, ...] | str:
        middle, count_tokens = self.middle, self.workspace.count_tokens
        try:
            read = providers.read_list(answer, count_tokens, self.conversation.format)
        except ConversationError as error:
            return f"the summariser returned messages that cannot be read: {error}"
        if any(part.kind in ("call", "result") for message in read.messages for part in message.parts):
            return "the summary calls a tool"
        what = f"{middle.end - middle.start:,} messages, {middle.tokens:,} tokens"
        head = marker("summary", f"{what}{describe_followers(len(read.messages))}", self.place)
        return (providers.from_user(head, count_tokens), *read.messages)


def _end_of_summary(messages: Sequence[Message], middle: Middle) -> int:
    first = messages[middle.start]
    return min(middle.start + 1 + followers_of(first), middle.end) if is_summary(first) else middle.start


def _leave_out(messages: Sequence[Message], first: int, end: int, allowed: int) -> int:
    # Whole turns only; at least the last one is shown.
    rest = sum(message.tokens for message in messages[first:end])
    start = first
    for point in cut_points(messages):
        if first < point < end:
            rest -= sum(message.tokens for message in messages[start:point])
            start = point
            if rest <= allowed:
                break
    return start


def _find_middle(conversation: Conversation, workspace: Workspace) -> Middle | None:
    messages = conversation.messages
    points = cut_points(messages)
    # What messages[:n] costs stands at n.
    costs = [0, *accumulate(message.tokens for message in messages)]
    least = providers.count_opening(conversation)
    if not workspace.summarises_compacted:
        least = max(least, providers.find_compacted(messages) + 1)
    points = [point for point in points if point >= least]
    start = _end_of_head(messages, points, costs, workspace)
    budget = min(MAX_SUMMARY_TOKENS, workspace.target_tokens // _SHARE_OF_TARGET)
    room = workspace.target_tokens - costs[start] - budget - carried_tokens(messages[start:], workspace)
    end = find_tail(messages, start, points, costs, room)
    tokens = costs[end] - costs[start]
    limit = min(budget, tokens // _SHARE_OF_REPLACED)
    news = sum(message.tokens for message in fresh_messages(messages[start:end]))
    if min(news // _SHARE_OF_REPLACED, limit) < _MIN_SUMMARY_TOKENS:
        return None
    return Middle(start, end, tokens, limit)


def _end_of_head(messages: Sequence[Message], points: Sequence[int], costs: Sequence[int], workspace: Workspace) -> int:
    # Return where the head ends: after the task, or later if it is short, and before an earlier summary.
    task = task_of(messages)
    summary = next((index for index, message in enumerate(messages) if is_summary(message)), len(messages))
    latest = min(max(task + 1, workspace.options.head_messages), summary)
    room = workspace.target_tokens // _HEAD_SHARE
    allowed = [point for point in points if task < point <= latest]
    first = allowed[0] if allowed else next(iter(points), len(messages))
    return next((point for point in reversed(allowed) if costs[point] <= room), first)


def task_of(messages: Sequence[Message]) -> int:
    """Return where the task stands, the user's first words; or -1."""
    # Where it is lost, a marker in its place would be kept as the task, and the list be cut from another start.
    return next((index for index, message in enumerate(messages) if is_said_by_user(message)), -1)


def is_summary(message: Message) -> bool:
    """Tell whether a message is a summary of this layer."""
    found = marker_of(message.parts[0].text) if message.role == "user" and message.parts else None
    return found is not None and found.layer == "summary"
