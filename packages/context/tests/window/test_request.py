"""What the user wants is never absent: the task and the newest request, in every list that comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.conversations import FORMATS, LISTS_PER_LAW, Call, Step, Turn, told

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

TASK = "Keep the shop alive. "
REQUEST = "Move the orders to the new table. "


def text_of(tokens: float, beginning: str) -> str:
    """A text of so many tokens, that begins so."""
    rows = (f"Row {number} of the list goes to shelf {number % 13}." for number in range(int(tokens / 12)))
    return " ".join([beginning, *rows])


def step(number: int, tokens: float) -> Step:
    """A call whose result costs so many tokens."""
    return Step(calls=(Call("read", {"path": f"f{number}.py"}, text_of(tokens, f"File {number}.")),))


def conversation(format: FormatName, task: float, request: float, turn: float, before: int, after: int) -> list[Any]:
    """A task, steps, an answer, a request, and further steps, each of so many tokens."""
    done = Step(text="The shelves are counted.")
    first = Turn(text_of(task, TASK), (*(step(number, turn) for number in range(before)), done))
    second = Turn(text_of(request, REQUEST), tuple(step(1_000 + number, turn) for number in range(after)))
    return told(format, (first, second))


def compact(messages: list[Any], size: int, reason: Any, summarize: Any = None, **more: Any) -> Any:
    window = ContextWindow(
        ContextOptions(window_tokens=size),
        archive=MemoryArchive(),
        count_tokens=estimate_tokens,
        summarize=summarize,
        observers=(),
    )
    return window.compact(messages, reason=reason, **more)


@settings(max_examples=4 * LISTS_PER_LAW, deadline=None)
@given(
    format=st.sampled_from(FORMATS),
    size=st.sampled_from([4_000, 8_000, 32_000, 200_000, 1_000_000]),
    task=st.floats(0, 0.5),
    request=st.floats(0, 0.7),
    turn=st.floats(0.01, 0.1),
    steps=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    reason=st.sampled_from(["over_trigger", "overflow", "asked"]),
    summary=st.sampled_from([None, "The shop: shelves were counted, and orders move to the new table."]),
)
def test_task_and_newest_request_are_never_absent(format, size, task, request, turn, steps, reason, summary) -> None:
    """Shortened where there is no room, with their beginning; again where the list that came back has grown."""
    costs, (before, after) = (size * task, size * request, size * turn), steps
    messages = conversation(format, *costs, before, after)
    more = conversation(format, *costs, before, after + 6)[len(messages) :]
    for _ in range(2):
        compaction = compact(messages, size, reason, summary and (lambda _: summary), format=format)
        assert compaction.fits
        assert compaction.problems == ()
        text = json.dumps(compaction.messages)
        assert TASK.strip() in text
        assert REQUEST.strip() in text
        messages = [*compaction.messages, *more]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("reason", ["over_trigger", "overflow", "asked"])
def test_a_request_stays_whole_while_there_is_room(format: FormatName, reason: Any) -> None:
    """It costs a sixth of the window, more than the share of all the user's words; it was dropped whole before."""
    messages = conversation(format, 20, 2_000, 500, 20, 2)
    compaction = compact(messages, 12_000, reason, format=format)
    assert compaction.tokens_after < compaction.tokens_before
    assert text_of(2_000, REQUEST) in json.dumps(compaction.messages)


def test_small_windows_keep_a_prompt_s_prefix_for_many_turns() -> None:
    """Of 200 calls 20 lose it; 115 did where lines of old results filled the list up to the trigger."""
    window = ContextWindow(
        ContextOptions(window_tokens=8_000, reserve_tokens=1_000),
        archive=MemoryArchive(),
        count_tokens=estimate_tokens,
        observers=(),
    )
    task, *turns = told("openai-chat", (Turn("Count the shelves.", tuple(step(number, 480) for number in range(200))),))
    messages = [task]
    lost = 0
    for number in range(0, 400, 2):
        before = messages
        messages = window.compact([*messages, *turns[number : number + 2]]).messages
        lost += messages[: len(before)] != before
    assert lost <= 20
