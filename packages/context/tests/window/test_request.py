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


@pytest.mark.parametrize("size", [2_000, 4_000, 16_000, 200_000])
def test_a_request_between_a_marker_and_a_large_result_stays(size: int) -> None:
    """So little goes beside it that half of that is no room for a marker."""
    marker = "[errcompact reactive: 4 messages, 900 tokens; whole: memory:00000001]\ncalls: a 1\nnames: b_1"
    messages = [
        {"role": "user", "content": TASK},
        {"role": "user", "content": marker},
        *told("openai-chat", (Turn(REQUEST, (step(1, 1_700),)),)),
    ]
    for reason in ("overflow", "over_trigger", "asked"):
        assert REQUEST.strip() in json.dumps(compact(messages, size, reason, format="openai-chat").messages)


def test_a_task_that_fills_the_window_does_not_cut_each_turn() -> None:
    """No cut reaches the target then: turns go where the list does not fit, as they did."""
    window = ContextWindow(
        ContextOptions(window_tokens=8_000), archive=MemoryArchive(), count_tokens=estimate_tokens, observers=()
    )
    task, *turns = told("openai-chat", (Turn(text_of(6_500, TASK), tuple(step(number, 60) for number in range(60))),))
    messages, cuts = [task], 0
    for number in range(0, 120, 2):
        compaction = window.compact([*messages, *turns[number : number + 2]])
        messages = compaction.messages
        cuts += any(note.cuts for note in compaction.notes)
    assert cuts <= 20


def test_what_a_user_has_answered_a_tool_stays() -> None:
    """Old results become a line each, but for the user's own words."""
    answer = "Only the shelves of hall 3, and never those with glass: my brother counts them on Monday. " * 3
    asked = Step(calls=(Call("ask_user", {"question": "Which shelves?"}, answer),))
    messages = told("openai-chat", (Turn(TASK, (asked, *(step(number, 1_200) for number in range(30)))),))
    compaction = compact(messages, 32_000, "over_trigger")
    assert any(note.layer == "micro" and note.cuts for note in compaction.notes)
    assert answer in json.dumps(compaction.messages)


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


@pytest.mark.parametrize("format", FORMATS)
def test_a_small_window_knows_rules_and_what_was_settled_after_dozens_of_compactions(format: FormatName) -> None:
    """Beside a hundred questions: each rule in the user's words, each deletion with its outcome, no assent alone."""
    turns: list[Turn] = [Turn(TASK, (Step(text="I do."),))]
    known: list[tuple[int, str]] = []
    for number in range(120):
        if number % 12 == 1:
            turns.append(Turn(f"Crate {number} belongs to hall {number}, whatever others say.", (Step(text="Noted."),)))
            known.append((len(turns), f"Crate {number} belongs to hall {number}, whatever others say."))
        elif number % 12 == 4:
            turns.append(Turn(f"Delete the record of dealer {number}.", (Step(text="This is final. Shall I?"),)))
            gone = Step(calls=(Call("delete", {"dealer": number}, "ok"),))
            turns.append(Turn("Yes, go ahead.", (gone, Step(text=f"The record of dealer {number} is deleted."))))
            known.append((len(turns), f"The record of dealer {number} is deleted."))
        else:
            turns.append(Turn(f"What is in list {number}?", (step(number, 300), Step(text=f"It has {number} rows."))))
    whole = told(format, tuple(turns))
    messages: list[Any] = []
    read, cuts = 0, 0
    for count in range(1, len(turns) + 1):
        end = len(told(format, tuple(turns[:count])))
        compaction = compact([*messages, *whole[read:end]], 8_000, "over_trigger", format=format)
        messages, read = compaction.messages, end
        cuts += any(note.cuts for note in compaction.notes)
        text = json.dumps(messages)
        assert [said for at, said in known if at <= count and said not in text] == []
        # Only in a turn that stays whole.
        assert text.count('"Yes, go ahead."') == text.count('is deleted."')
    assert cuts >= 6
