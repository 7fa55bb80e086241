"""What takes the place of messages that are taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact_context import providers
from otel_errcompact_context.memory.markers import marker
from otel_errcompact_context.notes import Cut
from otel_errcompact_context.window.layers.carrying.actions import find_actions
from otel_errcompact_context.window.layers.carrying.files import find_files, restore_files
from otel_errcompact_context.window.layers.carrying.index import render_index
from otel_errcompact_context.window.layers.carrying.survey import survey_messages
from otel_errcompact_context.window.layers.carrying.words import (
    SHARE_OF_ROOM,
    Words,
    find_request,
    find_share,
    keep_words,
    read_words,
)
from otel_errcompact_context.window.pairs import describe_followers, followers_of, is_gap, pair_calls
from otel_errcompact_context.window.transcript import json_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Conversation, Message
    from otel_errcompact_context.notes import LayerName
    from otel_errcompact_context.window.layers.workspace import Workspace

_CARRIED_SHARE: Final = 0.5
"""What part of the target is left at the most to what takes the place of messages; the newest turns have the rest."""

_SHARE_OF_INDEX: Final = 4
"""One part in so many of the target that is left to the index."""

_LEAST_INDEX: Final = 350
"""Tokens of the index however low the target is: they hold nine in ten names that are used again ..."""

_AMPLE_SHARE_OF_INDEX: Final = 12
"""... or one part in so many of what the conversation may cost: more costs a small window its prompt cache."""

_INDEX_SHARE: Final = 0.5
"""What part of the tokens that words leave may go to the index; the rest is for files."""

_MARKER_TOKENS: Final = 64
"""What a marker costs at most, without its place and with the count of what follows it."""

_MANY: Final = 999
"""How many followers the marker has room to count."""


class Gone(NamedTuple):
    """The messages that are taken out."""

    start: int
    end: int
    place: str
    """Where they are kept."""

    said: Words
    """What was said in them."""


def estimate_count(count_tokens: TokenCounter) -> int:
    """
    Return the tokens in which a marker says how many messages follow it.

    A budget of `replace_messages` includes them. A target is no hard bound: whoever aims at one adds them to the
    budget, so that they do not displace a message.
    """
    return count_tokens(describe_followers(_MANY))


def carried_tokens(messages: Sequence[Message], workspace: Workspace) -> int:
    """Return what to leave room for."""
    options, target = workspace.options, workspace.target_tokens
    words = sum(message.tokens for message in messages if message.role in ("user", "system"))
    words = min(words, int(options.words_share * workspace.window))
    index = min(options.index_tokens, target // _SHARE_OF_INDEX)
    return min(int(target * _CARRIED_SHARE), words + index + _estimate_files(messages, workspace))


def find_tail(messages: Sequence[Message], start: int, points: Sequence[int], costs: Sequence[int], room: int) -> int:
    """
    Return where the newest turns begin that fit.

    They fit beside the user's newest request, and the last turn stays in any case.

    Args:
        messages: The whole list.
        start: The first message that may go.
        points: Where the list may be cut, in order.
        costs: What the messages before each place cost.
        room: What may stay of them.
    """
    ends = [point for point in points if start < point < len(messages)]
    request = find_request(messages, start)
    kept = messages[request].tokens if request >= 0 else 0
    fitting = (point for point in ends if costs[-1] - costs[point] + (kept if request < point else 0) <= room)
    return next(fitting, ends[-1] if ends else start)


def _estimate_files(messages: Sequence[Message], workspace: Workspace) -> int:
    options = workspace.options
    if not options.restore_files:
        return 0
    actions = {spot: find_actions(call) for spot, call in pair_calls(messages).items()}
    files = find_files(messages, 0, len(messages), actions, frozenset(), workspace.archive)
    costs = (min(file.tokens, options.restore_file_tokens) for file in files[: options.restore_files])
    return min(sum(costs), options.restore_tokens)


def replace_messages(
    conversation: Conversation, gone: Gone, layer: LayerName, budget: int, workspace: Workspace, text: str = ""
) -> tuple[Message, ...]:
    """
    Return what takes the place of messages.

    The first is the marker; below it stand what users said and were answered, the index, and a summary. The files that
    were read last follow, then to the letter what the system said and what waits for an answer.

    Args:
        conversation: The whole list.
        gone: What is taken out.
        layer: Who takes it out.
        budget: Tokens that all of it may cost; a marker alone is made of any.
        workspace: Archive, counter and options.
        text: A summary of them.
    """
    options, count_tokens = workspace.options, workspace.count_tokens
    messages = conversation.messages[gone.start : gone.end]
    tokens = sum(message.tokens for message in messages)
    what = f"{len(messages):,} {'messages' if len(messages) > 1 else 'message'}, {tokens:,} tokens"
    shown = "\n".join(filter(None, (marker(layer, what, gone.place), text)))
    left = budget - providers.from_user(shown, count_tokens).tokens
    counting = estimate_count(count_tokens)
    share = min(left - counting, find_share(gone.said, workspace))
    words, for_block = keep_words(gone.said, share, left - counting, count_tokens)
    spent = sum(message.tokens for message in words)
    block = render_index(gone.said.sections, for_block, count_tokens)
    left -= spent + (count_tokens(block) + 1 if block else 0)
    wanted = left > 0 and bool(options.index_tokens or options.restore_files)
    found = survey_messages(conversation, gone.start, gone.end, workspace) if wanted else None
    index, files = "", list["Message"]()
    if found is not None:
        for_files = min(left - counting - int(left * _INDEX_SHARE), options.restore_tokens)
        files = restore_files(found.files, layer, for_files, workspace)
        left -= sum(message.tokens for message in files) + (counting if words or files else 0)
        index = render_index(found.sections, min(left, options.index_tokens), count_tokens, f"{block}\n{text}")
    # What waits stands last: before the work on it, if that stays.
    followers = (*files, *words)
    parts = [marker(layer, f"{what}{describe_followers(len(followers))}", gone.place), block, index, text]
    return (providers.from_user("\n".join(filter(None, parts)), count_tokens), *followers)


def take_out(
    conversation: Conversation,
    start: int,
    end: int,
    layer: LayerName,
    share: int,
    workspace: Workspace,
    most: int | None = None,
) -> tuple[tuple[Message, ...], Cut] | None:
    """
    Keep messages, and return what takes their place if smaller.

    Args:
        conversation: The whole list.
        start: The first message that goes.
        end: The first one after it that stays.
        layer: Who takes them out.
        share: What takes their place may cost one part in so many of theirs, and the user's newest request beside it.
        workspace: Archive, counter and options.
        most: Tokens that it must not cost more than, if any, beside what the user's words cost.

    Raises:
        OSError: They could not be kept.
    """
    gone = conversation.messages[start:end]
    tokens = sum(message.tokens for message in gone)
    place = workspace.archive.keep(json_lines(gone, conversation.format))
    said = read_words(conversation, start, end, workspace.count_tokens)
    request = said.request_tokens
    # Half of the words is not worth the other half's tokens.
    words = min(said.tokens - request, find_share(said, workspace))
    asked = request * 4 // 3 + _MARKER_TOKENS + workspace.count_tokens(place)
    budget = max(request + words + (tokens - request - words) // share, asked if request else 0)
    if most is not None:
        words += asked
        ample = workspace.ample_tokens - conversation.tokens + tokens
        budget = min(budget, max(most, _find_floor(words, ample, workspace)))
    made = replace_messages(conversation, Gone(start, end, place, said), layer, budget, workspace)
    after = sum(message.tokens for message in made)
    cut = Cut(message=start, messages=end - start, tokens_before=tokens, tokens_after=after, place=place)
    return (made, cut) if after < tokens else None


def _find_floor(words: int, ample: int, workspace: Workspace) -> int:
    # Words have a part of the room, and an index what is left of the tokens that the list may have.
    index = max(_LEAST_INDEX, workspace.ample_tokens // _AMPLE_SHARE_OF_INDEX)
    index = min(index, workspace.options.index_tokens)
    return max(min(words + index, ample), min(words, workspace.room // SHARE_OF_ROOM))


def is_carried(messages: Sequence[Message]) -> bool:
    """Tell whether messages are nothing but what others have left."""
    return not any(True for _ in fresh_messages(messages))


def fresh_messages(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages that are not left of others."""
    followers = 0
    for message in messages:
        if followers:
            followers -= 1
        elif is_gap(message):
            followers = followers_of(message)
        else:
            yield message
