"""What the window promises of requests that were settled, and of the newest turn, in every format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.window.pairs import is_gap
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.conversations import FORMATS, LISTS_PER_LAW, Call, Step, Turn, told

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName, Message

SIZE = 8_000
REASONS = ("over_trigger", "overflow", "asked")
DROP = "Drop the staging database now and rebuild it from the dump."
DONE = "Done: staging was dropped and rebuilt."
ASK_BACK = "Really drop the old customers table?"
YES = "Yes, go ahead."
GONE = "The old customers table is gone."


def result_of(number: int, characters: int) -> str:
    return f"Shelf {number}.\n" + f"row {number} is full of blue crates\n" * (characters // 30)


def windowed(size: int = SIZE) -> ContextWindow:
    return ContextWindow(
        ContextOptions(window_tokens=size), archive=MemoryArchive(), count_tokens=estimate_tokens, observers=()
    )


def work(number: int, characters: int) -> Step:
    return Step(calls=(Call("count", {"shelf": number}, result_of(number, characters)),))


def read(messages: list[Any], format: FormatName) -> tuple[Message, ...]:
    return providers.read_list(messages, estimate_tokens, format).messages


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if part.kind == "text")


def open_words(messages: list[Any], format: FormatName) -> list[str]:
    """What the user says in turns that no word of the model follows."""
    waiting: list[str] = []
    for message in read(messages, format):
        if message.role == "assistant" and text_of(message).strip():
            waiting.clear()
        elif message.role == "user" and not is_gap(message) and text_of(message).strip():
            waiting.append(text_of(message))
    return waiting


@settings(max_examples=2 * LISTS_PER_LAW, deadline=None)
@given(
    format=st.sampled_from(FORMATS),
    size=st.sampled_from([3_000, 8_000, 32_000]),
    turn=st.floats(0.02, 0.2),
    before=st.integers(0, 4),
    after=st.integers(1, 12),
    rounds=st.integers(1, 4),
    reason=st.sampled_from(REASONS),
)
def test_what_was_settled_never_stands_as_an_open_turn(format, size, turn, before, after, rounds, reason) -> None:
    """Carried out or assented to, however often the list is cut; where its block names it, its answer follows."""
    characters = int(size * turn * 3)
    turns = [
        Turn("Look after the shop's servers.", (*(work(number, characters) for number in range(before)), Step("Yes."))),
        Turn(DROP, (work(100, 60), Step(DONE))),
        Turn("Remove what is not used.", (Step(ASK_BACK),)),
        Turn(YES, (work(101, 60), Step(GONE))),
    ]
    window = windowed(size)
    messages = told(format, tuple(turns))
    for cut in range(rounds):
        asked = Turn(f"What is on shelf {cut}?", tuple(work(10 * cut + number, characters) for number in range(after)))
        messages = window.compact([*messages, *told(format, (asked,))], reason=reason, format=format).messages
        waiting = open_words(messages, format)
        assert waiting[-1] == asked.user
        assert not [said for said in waiting if DROP[:20] in said or YES in said]
        for message in filter(is_gap, read(messages, format)):
            text = text_of(message)
            assert (f"{DROP} -> " in text) == (DROP in text)
        messages = [*messages, *told(format, (Turn("", (Step("It is full."),)),))[1:]]


@settings(max_examples=2 * LISTS_PER_LAW, deadline=None)
@given(
    format=st.sampled_from(FORMATS),
    large=st.integers(0, 2),
    times=st.floats(1.2, 20),
    steps=st.integers(0, 6),
    reason=st.sampled_from(REASONS),
)
def test_the_newest_turn_is_shortened_by_its_parts(format, large, times, steps, reason) -> None:
    """One of its results does not fit: the other two stay, and so does what the model said."""
    said = "I count three shelves at once."
    results = [f"shelf {number} has {number + 4} crates" for number in range(3)]
    results[large] = result_of(large, int(SIZE * times * 3))
    newest = Step(said, calls=tuple(Call("count", {"shelf": number}, results[number]) for number in range(3)))
    turn = Turn("How many crates are there?", (*(work(number, 900) for number in range(10, 10 + steps)), newest))
    compaction = windowed().compact(told(format, (turn,)), reason=reason, format=format)
    assert compaction.fits
    text = json.dumps(compaction.messages)
    assert said in text
    assert all(results[number] in text for number in range(3) if number != large)


@settings(max_examples=LISTS_PER_LAW, deadline=None)
@given(
    format=st.sampled_from(FORMATS),
    turn=st.floats(0.02, 3),
    steps=st.integers(1, 12),
    reason=st.sampled_from(REASONS),
)
def test_a_call_that_waits_for_its_answer_stays(format, turn, steps, reason) -> None:
    """However little room there is: the answer comes later, and belongs to it."""
    waits = Step(calls=(Call("ask_owner", {"about": "hall 9"}, "later"),))
    turns = (*(work(number, int(SIZE * turn * 3)) for number in range(steps)), waits)
    messages = told(format, (Turn("Count.", turns),))[:-1]
    compaction = windowed().compact(messages, reason=reason, format=format)
    assert compaction.fits
    assert compaction.messages[-1] == messages[-1]
