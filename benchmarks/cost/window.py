"""
What the context window costs: a long list at first, and where nothing or little has changed since the last turn.

The list is of an agent at work (`packages/context/tests/conversations.py`): 1,000 messages below the trigger. Each
fifth result is a failure, so that the error pass has replaced more than a hundred of them, all kept in a folder with
bounds.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from typing import TYPE_CHECKING, Final

from benchmarks.cost.measure import SPAN, Row, make_span, scaled, take_turns
from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact_context.memory.archive import FolderArchive, MemoryArchive
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.conversations import FORMATS, long_conversation

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact_context.messages import FormatName

MESSAGES: Final = 1_000
GOAL_MS: Final = 1.5
LONG: Final = 10_000
GOAL_OF_DUMPS: Final = 4.0
SPANS: Final = 20
"""Bare spans in one call, so that it takes about as long as the others."""


def measure(rounds: int) -> list[Row]:
    """Return what compacting a list takes at first and again, for each format."""
    again = [row for name in FORMATS for row in _measure_format(name, rounds)]
    return again + [_measure_first(name, max(1, rounds // 50)) for name in FORMATS]


def _measure_first(name: FormatName, rounds: int) -> Row:
    messages = long_conversation(name, messages=LONG)
    turns = {"first": make_first(name), "dumps": lambda: json.dumps(messages)}
    took = take_turns(turns, rounds=rounds, calls=1)
    label = f"compact() of {LONG:,} messages, over json.dumps ({name})"
    return Row(name=label, value=took["first"] / took["dumps"], unit="times", goal=GOAL_OF_DUMPS)


def _measure_format(name: FormatName, rounds: int) -> list[Row]:
    span = make_span()

    def make_spans() -> None:
        for _ in range(SPANS):
            span()

    variants = {
        "unchanged": make_turn(name),
        "in a new list": make_turn(name, is_copied=True),
        "with three more": make_turn(name, more=3),
        "as it was sent": make_turn(name, is_sent=True),
    }
    took = take_turns({SPAN: make_spans, **variants}, rounds=rounds, calls=1)
    return [
        Row(
            name=f"compact() of {MESSAGES:,} messages again, {variant} ({name})",
            value=scaled(took[variant], took[SPAN] / SPANS) / 1_000,
            unit="ms",
            goal=GOAL_MS,
        )
        for variant in variants
    ]


STANDING: Final = 1_800_000_000.0
"""A time in seconds since the epoch."""


def make_turn(
    name: FormatName = "anthropic", *, is_copied: bool = False, more: int = 0, is_sent: bool = False
) -> Callable[[], object]:
    """
    Return what an agent's loop does at each turn with a list that was compacted before.

    Args:
        name: The provider's format.
        is_copied: Whether the messages come in a new list each time.
        more: How many messages are added in each turn; the list is begun again when it has grown by a tenth.
        is_sent: Whether it is the compacted list itself that is compacted again, and not the one it was made of.
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    window = ContextWindow(
        ContextOptions(),
        # The clock stands: a kept text is marked as used once a minute, and a slow machine would meet that minute.
        archive=FolderArchive(folder, max_bytes=1_000_000_000, max_days=30, clock=lambda: STANDING),
        count_tokens=estimate_mixed_tokens,
        observers=(),
    )
    every = long_conversation(name, messages=MESSAGES + MESSAGES // 10)
    messages = every[:MESSAGES]
    if is_sent:
        messages = window.compact(messages, format=name).messages

    def turn() -> object:
        nonlocal messages
        if more:
            if len(messages) + more > len(every):
                messages = every[:MESSAGES]
            messages += every[len(messages) : len(messages) + more]
        return window.compact(messages.copy() if is_copied else messages, format=name)

    for _ in range(3):  # a file is looked at twice before it is known to be whole
        turn()
    return turn


def make_first(name: FormatName = "anthropic") -> Callable[[], object]:
    """Return what compacts a long list as if for the first time: the middle of it goes."""
    messages = long_conversation(name, messages=LONG)

    def compact() -> object:
        window = ContextWindow(
            ContextOptions(), archive=MemoryArchive(), count_tokens=estimate_mixed_tokens, observers=()
        )
        return window.compact(messages, format=name)

    return compact


PATHS: Final = {"compact_again": make_turn, "compact_first": make_first}
