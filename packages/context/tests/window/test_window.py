"""The context window runs the layers in order, and whatever they do, nothing is lost and nothing is broken."""

from __future__ import annotations

import asyncio
import copy
import gc
import itertools
import stat
import sys
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest import DigestOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.guard import Guard
from otel_errcompact_context import providers
from otel_errcompact_context.exceptions import ConversationError
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import FolderArchive, MemoryArchive
from otel_errcompact_context.messages import Conversation, FormatName
from otel_errcompact_context.notes import Compaction
from otel_errcompact_context.window import window as window_module
from otel_errcompact_context.window.layers import Edited
from otel_errcompact_context.window.layers import results as results_module
from otel_errcompact_context.window.window import ContextWindow
from otel_errcompact_lab.transcripts import RecordedRun, find, read
from packages.context.tests.compactions import NOTHING_CARRIED
from packages.context.tests.conversations import (
    FORMATS,
    LISTS_PER_LAW,
    broken_conversations,
    conversations,
    long_conversation,
)
from packages.context.tests.window.rebuilding import as_read, rebuilt
from tests.clock import costs_little

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from otel_errcompact_context.window.layers import Workspace
    from otel_errcompact_context.window.layers.requests import SummaryRequest

SMALL = ContextOptions(
    **NOTHING_CARRIED,
    window_tokens=1_500,
    reserve_tokens=300,
    result_budget_tokens=400,
    preview_tokens=60,
    snip_messages=12,
    head_messages=2,
    keep_results=1,
)
"""A room of 1,200 tokens: the trigger at 1,080, the target at 720."""


def window(options: ContextOptions = SMALL, **more: Any) -> ContextWindow:
    return ContextWindow(options, **{"archive": MemoryArchive(), "count_tokens": estimate_tokens, **more})


def said(number: int, size: int = 400) -> Any:
    """104 tokens, unless another size is named."""
    return {"role": "assistant" if number % 2 else "user", "content": f"{number} ".ljust(size, ".")}


def same_objects(ours: list[Any], theirs: list[Any]) -> bool:
    return len(ours) == len(theirs) and all(one is other for one, other in zip(ours, theirs, strict=True))


def test_the_garbage_collector_pauses_for_a_long_list_and_goes_on(monkeypatch: pytest.MonkeyPatch):
    """Also if reading fails; for a short list it never stops, and who has switched it off finds it off."""
    monkeypatch.setattr(window_module, "LONG", 3)
    seen: list[bool] = []

    def watching(text: str) -> int:
        seen.append(gc.isenabled())
        return len(text)

    one = window(ContextOptions(), count_tokens=watching)
    for count, expected in ((2, True), (3, False)):
        seen.clear()
        one.compact([said(number) for number in range(count)], format="openai-chat")
        assert set(seen) == {expected}
        assert gc.isenabled()
    with pytest.raises(ConversationError):
        one.compact([said(0), said(1), {"role": "nobody"}], format="openai-chat")
    assert gc.isenabled()
    gc.disable()
    try:
        one.compact([said(number) for number in range(3)], format="openai-chat")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_garbage_collector_does_not_wait_for_a_summariser(monkeypatch: pytest.MonkeyPatch):
    """A model takes seconds, and others work in the meantime."""
    monkeypatch.setattr(window_module, "LONG", 3)
    seen: list[bool] = []

    def summarize(request: Any) -> str:
        seen.append(gc.isenabled())
        return "short"

    window(summarize=summarize).compact([said(number) for number in range(12)], format="openai-chat")
    assert seen == [True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            {"window_tokens": 8_000, "reserve_tokens": 20_000},
            "reserve_tokens (20000) leaves nothing of window_tokens (8000): make the reserve smaller than the model's "
            "window",
            id="reserve",
        ),
        pytest.param(
            {"target_share": 0.95},
            "target_share (0.95) is above trigger_share (0.9): compaction stops at the target, so that it must not lie "
            "above where it begins",
            id="target",
        ),
        pytest.param(
            {"preview_tokens": 30_000},
            "preview_tokens (30000) is above result_budget_tokens (25000): a preview must cost less than all results "
            "may",
            id="preview",
        ),
        pytest.param(
            {"head_messages": 400, "snip_messages": 400},
            "head_messages (400) is not below snip_messages (400): there is no middle that could be taken out",
            id="head",
        ),
    ],
)
def test_options_that_contradict_one_another_are_refused(options, message):
    """At once, with the values and what to do."""
    with pytest.raises(ConfigurationError) as caught:
        ContextWindow(ContextOptions(**options))
    assert str(caught.value) == message


def test_by_default_files_keep_what_is_cut(in_tmp, monkeypatch):
    """In a folder of the user's, and not where the agent works."""
    monkeypatch.setenv("XDG_STATE_HOME", str(in_tmp / "state"))
    monkeypatch.chdir(in_tmp.parent)
    one = ContextWindow(ContextOptions(window_tokens=1_500, reserve_tokens=300))
    assert isinstance(one.archive, FolderArchive)
    one.compact([said(number, 2_400) for number in range(20)])
    folder = in_tmp / "state" / "otel-errcompact" / "context"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert max(len(file.read_text(encoding="utf-8").splitlines()) for file in folder.iterdir()) > 10


def test_an_empty_list_stays_empty():
    """And whoever observes is told."""
    told: list[Compaction] = []
    compaction = window(observers=[told.append]).compact([], session="s")
    assert compaction == Compaction(
        messages=[], session="s", notes=(), tokens_before=0, tokens_after=0, room_tokens=1_200
    )
    assert told == [compaction]


def test_below_the_trigger_nothing_changes():
    """Every message is the caller's own object, so that the prompt cache holds; the list is a new one."""
    messages = [said(number) for number in range(10)]
    compaction = window().compact(messages)
    assert same_objects(compaction.messages, messages)
    assert compaction.messages is not messages
    assert (compaction.tokens_before, compaction.tokens_after, compaction.fits) == (1_040, 1_040, True)
    assert [(note.layer, note.reason, note.invalidated_tokens) for note in compaction.notes] == [
        ("results", "always", 0),
        ("errors", "always", 0),
        ("repeats", "always", 0),
    ]


def test_over_the_trigger_layers_run_until_the_target():
    """Appending goes on without a change for a while afterwards."""
    one = window()
    messages = [said(number) for number in range(11)]
    compaction = one.compact(messages)
    assert [note.layer for note in compaction.notes] == ["results", "snip", "errors", "micro", "repeats", "reactive"]
    assert compaction.notes[-1].reason == "over_trigger"
    assert compaction.tokens_after <= 720
    messages = compaction.messages
    for number in range(11, 16):
        messages = [*messages, said(number)]
        assert same_objects(one.compact(messages).messages, messages)


def test_what_is_sent_beside_the_list_takes_room():
    """The system prompt and the schemas of tools."""
    messages = [said(number) for number in range(10)]
    compaction = window().compact(messages, beside_tokens=400)
    assert compaction.room_tokens == 800
    assert compaction.tokens_after <= 480
    with pytest.raises(ConfigurationError, match="beside_tokens is -1; pass what the system prompt"):
        window().compact(messages, beside_tokens=-1)


def test_what_does_not_fit_is_said():
    """A system prompt larger than the room stays, and a note says by how much."""
    compaction = window().compact([{"role": "system", "content": "x" * 8_000}, said(0)])
    assert not compaction.fits
    assert compaction.notes[-1].problem == "2070 tokens do not fit into 1200, and nothing that is left can be shortened"
    crowded = window().compact([said(0)], beside_tokens=5_000)
    assert (crowded.room_tokens, crowded.fits) == (0, False)


def test_what_a_provider_refused_becomes_smaller():
    """However small the estimate is: by half, and each time again."""
    one = window()
    messages = [said(number) for number in range(8)]
    first = one.compact(messages, reason="overflow")
    assert (first.tokens_before, first.tokens_after) == (832, 334)
    assert [(note.layer, note.reason) for note in first.notes][1:] == [
        ("snip", "overflow"),
        ("errors", "always"),
        ("micro", "overflow"),
        ("repeats", "always"),
        ("reactive", "overflow"),
    ]
    assert one.compact(first.messages, reason="overflow").tokens_after <= 334 // 2


def test_whoever_asks_gets_the_target():
    """Below the trigger too, by the layers that cut to it."""
    messages = [message for number in range(5) for message in call(number, 700)]
    compaction = window().compact([said(0, 40), *messages], reason="asked")
    assert (compaction.tokens_before, compaction.tokens_after) == (1_034, 720)
    assert [note.reason for note in compaction.notes] == ["always", "asked", "always", "asked", "always"]


def call(number: int, size: int) -> list[Any]:
    asked = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number} ".ljust(size, ".")},
    ]


def test_a_note_says_what_a_layer_did(monkeypatch):
    """When, how long, and what a prompt cache has to read anew: all from the first changed message on."""
    ticks = iter(range(100))
    use_for_results(monkeypatch, without_message(2))
    one = window(clock=lambda: 1_000 + next(ticks), timer=lambda: next(ticks))
    compaction = one.compact([said(number) for number in range(4)])
    note = compaction.notes[0]
    assert (note.layer, note.tokens_before, note.tokens_after, note.invalidated_tokens) == ("results", 416, 312, 208)
    assert (note.start_ns, note.duration_ns) == (1_000, 1)


def use_for_results(monkeypatch: pytest.MonkeyPatch, edit: Any) -> None:
    """Have windows that are made from now on run another layer in the place of the first."""
    monkeypatch.setattr(results_module, "LAYER", replace(results_module.LAYER, edit=edit))


def without_message(index: int) -> Any:
    def layer(conversation: Conversation, _: Any) -> Edited:
        messages = conversation.messages
        return Edited(Conversation(format=conversation.format, messages=(*messages[:index], *messages[index + 1 :])))

    return layer


def test_a_layer_that_makes_it_grow_is_discarded(monkeypatch):
    """The list stays as it was before that layer, and the note says why."""

    def twice(conversation: Conversation, _: Any) -> Edited:
        return Edited(Conversation(format=conversation.format, messages=conversation.messages * 2))

    use_for_results(monkeypatch, twice)
    messages = [said(number) for number in range(3)]
    compaction = window().compact(messages)
    assert same_objects(compaction.messages, messages)
    assert compaction.notes[0].problem == "discarded: the estimate grew from 312 to 624 tokens"


def test_a_layer_that_raises_is_left_out(monkeypatch):
    """The agent goes on with what it had."""

    def failing(conversation: Conversation, _: Any) -> Edited:
        raise KeyError("x")

    use_for_results(monkeypatch, failing)
    monkeypatch.setattr(Guard, "strict", False)
    one = window()
    compaction = one.compact([said(0)])
    assert compaction.notes[0].problem == "the layer failed: KeyError: 'x'"
    assert one.guard.failures == {"context.results": 1}


def test_a_layer_that_breaks_the_rules_is_taken_back(monkeypatch):
    """A list that the provider accepted is never sent as one that it refuses."""
    use_for_results(monkeypatch, without_message(1))
    monkeypatch.setattr(Guard, "strict", False)
    one = window()
    messages = [said(0), *call(1, 40), said(1)]
    compaction = one.compact(messages)
    assert same_objects(compaction.messages, messages)
    assert compaction.problems == ()
    assert compaction.notes[0].problem.startswith("discarded: it broke the provider's rules: message ")
    assert (compaction.notes[0].tokens_after, compaction.notes[0].cuts) == (compaction.tokens_before, ())
    assert compaction.tokens_after == compaction.tokens_before
    assert one.guard.failures == {"context.results": 1}


def test_what_is_wrong_already_is_said_and_left():
    """An orphan is no fault of the layers, and nothing of it is lost."""
    messages = [said(0), call(1, 40)[1], said(1)]
    compaction = window().compact(messages)
    assert same_objects(compaction.messages, messages)
    assert len(compaction.problems) == 1


def test_an_observer_that_fails_is_kept_away(monkeypatch):
    """The others are told all the same."""
    told: list[Compaction] = []

    def failing(_: Compaction) -> None:
        raise ValueError("no telemetry")

    monkeypatch.setattr(Guard, "strict", False)
    one = window(observers=[failing, told.append])
    assert told == [one.compact([said(0)])]
    assert one.guard.failures == {"context.observer": 1}


async def test_the_asynchronous_form_does_the_same():
    """But for what it waits for."""
    messages = [said(number) for number in range(20)]
    assert (await window().acompact(messages)).messages == window().compact(messages).messages


@pytest.mark.parametrize("messages", [pytest.param("text", id="a text"), pytest.param([1], id="a number")])
def test_what_is_no_message_list_is_refused(messages):
    """With what to hand in."""
    with pytest.raises(ConversationError):
        window().compact(messages)


@pytest.mark.cost
def test_a_message_of_100_mb_fits_afterwards():
    """In linear time, and whole in the archive."""
    archive = MemoryArchive(max_characters=200_000_000)
    text = "a line of output\n" * 6_000_000
    messages = [said(0), {**call(1, 0)[0]}, {**call(1, 0)[1], "content": text}]
    compactions = []
    assert costs_little(lambda: compactions.append(window(archive=archive).compact(messages)), times=3)
    (compaction,) = compactions
    assert compaction.fits
    assert archive.read(compaction.notes[0].cuts[0].place) == text


def test_a_window_without_options_is_as_the_environment_says(monkeypatch: pytest.MonkeyPatch):
    """As everything that `install()` sets up."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_CONTEXT_WINDOW_TOKENS", "50000")
    assert ContextWindow().options == ContextOptions(window_tokens=50_000)
    assert ContextWindow(ContextOptions()).options == ContextOptions()


def test_a_summariser_that_keeps_failing_is_left_alone_for_a_while():
    """Each attempt is a call of a model; the other layers go on, and another conversation has attempts of its own."""
    asked: list[str] = []

    def summarize(request: SummaryRequest) -> str:
        asked.append(request.session)
        raise ConnectionError("no network")

    options = SMALL.model_copy(update={"breaker_failures": 3, "keep_results": 100})
    one = window(options, summarize=summarize, observers=())
    messages = [said(number) for number in range(12)]
    problems = [
        note.problem
        for session in ["a"] * 5 + ["b"]
        for note in one.compact(messages, session=session, format="anthropic").notes
        if note.layer == "summary"
    ]
    failed = "the summariser failed: ConnectionError: no network"
    left_alone = "nobody was asked, for summaries have failed 3 times in a row; again after 60 s"
    assert problems == [failed, failed, failed, left_alone, left_alone, failed]
    assert asked == ["a", "a", "a", "b"]


def gemini(role: str, **part: Any) -> Any:
    return {"role": role, "parts": [part]}


GEMINI_CALL = gemini("model", functionCall={"name": "read_file", "args": {}})
GEMINI_RESULT = gemini("user", functionResponse={"name": "read_file", "response": {"output": "done"}})
TIGHT = ContextOptions(
    **NOTHING_CARRIED,
    window_tokens=1_300,
    reserve_tokens=100,
    trigger_share=0.45,
    target_share=0.45,
    result_budget_tokens=20,
    preview_tokens=20,
    snip_messages=18,
    head_messages=2,
    keep_results=1,
)


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [
                *(GEMINI_CALL, GEMINI_RESULT),
                # Nobody answers this call, and the last result has no call: side by side they look like a pair.
                GEMINI_CALL,
                gemini("user", text="Read them all."),
                *([GEMINI_CALL, GEMINI_RESULT] * 3),
                gemini("model", text="x" * 3_200),
                gemini("user", text="Go on."),
                *(GEMINI_CALL, GEMINI_RESULT),
                GEMINI_RESULT,
            ],
            id="a call and a result that belong to different turns",
        ),
        pytest.param(
            # The list has lost its task, and the marker of the summary is none.
            [GEMINI_RESULT, *([gemini("model", text="x" * 2_400)] * 2)],
            id="a list without a task",
        ),
    ],
)
def test_a_summary_of_a_broken_list_is_not_summarised_at_once(messages: list[Any]):
    """What is summarised once is left alone until there is more of it."""
    one = window(TIGHT, summarize=lambda _: "All files were read.")
    first = one.compact(messages, format="gemini")
    assert {note.layer for note in first.notes if note.cuts} == {"summary"}
    second = one.compact(first.messages, format="gemini")
    assert [note for note in second.notes if note.cuts] == []
    assert same_objects(second.messages, first.messages)


LONG_TEXT = "x" * 2_000
OPENINGS: list[Any] = [
    pytest.param(
        "openai-responses",
        [
            {"type": "function_call_output", "call_id": "kept", "output": LONG_TEXT},
            {"type": "function_call_output", "call_id": "kept too", "output": "done"},
        ],
        [
            {"role": "user", "content": "Go on."},
            *[{"role": role, "content": LONG_TEXT} for _ in range(8) for role in ("assistant", "user")],
        ],
        id="outputs after previous_response_id",
    ),
    pytest.param(
        "openai-responses",
        [{"type": "compaction", "id": "cmp", "encrypted_content": "gAAAA"}],
        [{"role": role, "content": LONG_TEXT} for _ in range(8) for role in ("assistant", "user")],
        id="a compaction of OpenAI",
    ),
    pytest.param(
        "anthropic",
        [{"role": "assistant", "content": [{"type": "compaction", "content": "It began."}]}],
        [{"role": role, "content": LONG_TEXT} for _ in range(8) for role in ("user", "assistant")],
        id="a compaction of Anthropic",
    ),
    pytest.param(
        "anthropic",
        [{"role": "assistant", "content": [{"type": "compaction", "content": "It began."}]}],
        [],
        id="and nothing else",
    ),
]
"""How lists begin that go on from what the provider keeps."""


@pytest.mark.parametrize(("format", "opening", "rest"), OPENINGS)
@pytest.mark.parametrize("more", [{}, {"summarize": lambda _: "All is well."}], ids=["no model", "summary"])
@pytest.mark.parametrize("snip_messages", [400, 12])
def test_what_the_provider_goes_on_from_is_never_taken_out(
    format: FormatName, opening: list[Any], rest: list[Any], more: Any, snip_messages: int
) -> None:
    """It would refuse the list, or have lost the beginning."""
    one = window(SMALL.model_copy(update={"snip_messages": snip_messages, "window_tokens": 3_000}), **more)
    compaction = one.compact([*opening, *rest], reason="overflow", format=format)
    assert compaction.problems == ()
    kept = compaction.messages[: len(opening)]
    assert [(message.get("type"), message.get("call_id")) for message in kept] == [  # type: ignore[attr-defined]
        (message.get("type"), message.get("call_id")) for message in opening
    ]
    assert len(compaction.messages) < len(opening) + len(rest) or not rest


def test_errors_of_verbatim_tools_stay_whole():
    """Exact text matters there; the options of digests say of which tools."""
    text = "".join(f"row {number}: KeyError: 'sku'\n" for number in range(400))
    call = {"type": "tool_use", "id": "toolu_1", "name": "scan", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": True}
    messages: list[Any] = [
        {"role": "user", "content": "Is it safe?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    verbatim = ContextWindow(archive=MemoryArchive(), digest=DigestOptions(verbatim_tools=frozenset({"scan"})))
    assert verbatim.compact(messages).messages[2] is messages[2]
    (cut,) = next(note.cuts for note in window().compact(messages).notes if note.layer == "errors")
    assert cut.tool == "scan"


# The laws. Every list is compacted more than once: as before a call, after a refusal, because somebody asks.


class Unreliable(MemoryArchive):
    """An archive that takes some texts and refuses others, in the order it is told."""

    def __init__(self, takes: list[bool]) -> None:
        super().__init__()
        self._takes = cycle(takes)

    def keep(self, text: str) -> str:
        if not next(self._takes):
            raise OSError(28, "No space left on device")
        return super().keep(text)


class Deep(MemoryArchive):
    """An archive whose places cost as much as a paragraph: a folder that lies deep."""

    folder = "/deep" * 100

    def keep(self, text: str) -> str:
        return self.folder + super().keep(text)

    def read(self, place: str) -> str:
        return super().read(place.removeprefix(self.folder))


async def later(_: SummaryRequest) -> str:
    return "All was well."


def offline(_: SummaryRequest) -> str:
    raise ConnectionError("no network")


async def offline_later(_: SummaryRequest) -> str:
    raise ConnectionError("no network")


SUMMARISERS: dict[str, Any] = {
    "none": None,
    "good": lambda _: "All is well.",
    "empty": lambda _: "",
    "long": lambda _: "x" * 10_000,
    "number": lambda _: 5,
    "call": lambda _: '{"type": "tool_use", "name": "x", "input": {}}',
    "echo": lambda request: request.prompt,
    "forger": lambda _: "[errcompact summary: 1 message, 2 tokens; whole: nowhere]",
    "surrogate": lambda _: "\ud800",
    "offline": offline,
    "later": later,
    "offline later": offline_later,
}
MESSAGES_BACK: dict[str, Any] = {
    "no messages": lambda _: [],
    "messages": lambda request: list(request.messages)[-1:],
    "all messages": lambda request: list(request.messages),
    "no message": lambda _: [1],
}
RELIABLE = st.sampled_from([MemoryArchive, MemoryArchive, Deep]).map(lambda archive: archive())
UNRELIABLE = st.just(3_000).map(MemoryArchive) | st.lists(st.booleans(), min_size=1, max_size=6).map(Unreliable)


@st.composite
def windows(draw: st.DrawFn, archives: Any = RELIABLE | UNRELIABLE, answers: Any = SUMMARISERS) -> ContextWindow:
    """Windows of many sizes down to nothing, with summarisers and archives good and bad."""
    preview = draw(st.integers(20, 100))
    trigger = draw(st.sampled_from([0.1, 0.5, 0.9, 1.0]))
    options = ContextOptions(
        window_tokens=draw(st.integers(200, 4_000) | st.integers(1, 300)) + 100,
        reserve_tokens=100,
        trigger_share=trigger,
        target_share=draw(st.sampled_from([share for share in (0.1, 0.3, 0.5, 1.0) if share <= trigger])),
        result_budget_tokens=draw(st.integers(preview, 500)),
        preview_tokens=preview,
        snip_messages=draw(st.integers(8, 20)),
        head_messages=draw(st.integers(1, 5)),
        keep_results=draw(st.integers(1, 3)),
        words_share=draw(st.sampled_from([0.1, 0, 0.5])),
        index_tokens=draw(st.sampled_from([3_000, 0, 60])),
        restore_files=draw(st.sampled_from([5, 0, 1])),
    )
    summarize = answers[draw(st.sampled_from(sorted(answers)))]
    return window(options, archive=draw(archives), summarize=summarize, observers=(), guard=Guard())


def compacted(one: ContextWindow, messages: list[Any], **more: Any) -> Compaction:
    """In the form that works with any summariser."""
    return asyncio.run(one.acompact(messages, **more))


FORMAT = pytest.mark.parametrize("format", FORMATS)
OCCASIONS = st.permutations(["over_trigger", "overflow", "asked"])


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_valid_lists_stay_valid(format: FormatName, data: st.DataObject):
    """By the provider's rules, each call with its result; never larger; and the caller's list is as it was."""
    one = data.draw(windows(answers=SUMMARISERS | MESSAGES_BACK))
    messages = data.draw(conversations(format))
    before = copy.deepcopy(messages)
    for reason in data.draw(OCCASIONS):
        compaction = compacted(one, messages, reason=reason, format=format)
        read_again = providers.read_list(compaction.messages, estimate_tokens, format)
        assert compaction.problems == providers.find_problems(read_again) == ()
        assert read_again.tokens == compaction.tokens_after <= compaction.tokens_before
        assert all(note.tokens_after <= note.tokens_before for note in compaction.notes)
        assert all("discarded" not in note.problem for note in compaction.notes)
        if any(note.cuts for note in compaction.notes):
            assert len(compaction.messages) <= len(messages)
    assert messages == before


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_a_second_run_changes_nothing(format: FormatName, data: st.DataObject):
    """What is compacted stays as it is, the very objects, until something new comes; of broken lists too."""
    one = data.draw(windows(archives=RELIABLE, answers=SUMMARISERS | MESSAGES_BACK))
    messages = data.draw(conversations(format) | broken_conversations(format))
    first = compacted(one, messages, format=format)
    second = compacted(one, first.messages, format=format)
    assert [note for note in second.notes if note.cuts] == []
    assert same_objects(second.messages, first.messages)


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_a_refused_summary_leaves_the_list_alone(format: FormatName, data: st.DataObject):
    """What the other layers have made of it stays, though a summary is asked for once more."""
    one = data.draw(windows(archives=RELIABLE, answers={"nothing": lambda _: ""}))
    messages = data.draw(conversations(format) | broken_conversations(format))
    first = compacted(one, messages, format=format)
    second = compacted(one, first.messages, format=format)
    assert [note for note in second.notes if note.cuts] == []
    assert same_objects(second.messages, first.messages)


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_the_list_can_be_rebuilt(format: FormatName, data: st.DataObject):
    """From the compacted list and the archive alone, to the character, however often and whatever was cut."""
    one = data.draw(windows(answers=SUMMARISERS | MESSAGES_BACK))
    messages = data.draw(conversations(format) | broken_conversations(format))
    made = messages
    for reason in data.draw(OCCASIONS):
        made = compacted(one, made, reason=reason, format=format).messages
    assert as_read(rebuilt(made, one.archive, format), format) == as_read(messages, format)


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_broken_lists_become_no_worse(format: FormatName, data: st.DataObject):
    """Orphans, ids twice, calls that nobody answered: as many problems at most, and nothing raises."""
    one = data.draw(windows(answers=SUMMARISERS | MESSAGES_BACK))
    messages = data.draw(broken_conversations(format))
    before = copy.deepcopy(messages)
    wrong = len(providers.find_problems(providers.read_list(messages, estimate_tokens, format)))
    for reason in data.draw(OCCASIONS):
        compaction = compacted(one, messages, reason=reason, format=format)
        assert len(compaction.problems) <= wrong
        assert compaction.tokens_after <= compaction.tokens_before
    assert messages == before


@FORMAT
@settings(max_examples=LISTS_PER_LAW)
@given(data=st.data())
def test_the_prefix_stays_up_to_the_first_cut(format: FormatName, data: st.DataObject):
    """
    Turn by turn: all before the first cut is sent again as the same objects, and each note says what follows it.

    Where nothing is cut that is the whole list, and below the trigger nothing is cut but new results and errors.
    """
    one = data.draw(windows())
    sent: list[Any] = []
    for message in data.draw(conversations(format)):
        given_ = [*sent, message]
        compaction = compacted(one, given_, format=format)
        read = providers.read_list(given_, estimate_tokens, format).messages
        same = len(given_)
        for note in compaction.notes:
            first = min((cut.message for cut in note.cuts), default=len(given_))
            assert note.cuts or note.invalidated_tokens == 0
            if first < same:
                same = first
                prefix = sum(message.tokens for message in read[:same])
                assert note.invalidated_tokens == note.tokens_before - prefix
        assert same_objects(compaction.messages[:same], given_[:same])
        assert same < len(given_) or same_objects(compaction.messages, given_)
        if compaction.tokens_before <= int(compaction.room_tokens * one.options.trigger_share):
            assert {note.layer for note in compaction.notes} == {"errors", "results", "repeats"}
        sent = compaction.messages


ROOMS = pytest.mark.parametrize(
    "room", [pytest.param(30_000, id="most is cut"), pytest.param(10_000_000, id="below the trigger")]
)
LENGTHS = itertools.count(400)
AT_MOST = 4.3
"""How much more may be done for four times the messages: what is done once for all is little at these sizes."""


@pytest.mark.cost
@FORMAT
@ROOMS
def test_the_cost_is_linear(format: FormatName, room: int):
    """Four times the messages take four times the calls of functions, whatever a busy machine adds to the time."""
    assert growth(format, room) <= AT_MOST


@pytest.mark.cost
@ROOMS
def test_a_quadratic_pass_would_be_seen(monkeypatch: pytest.MonkeyPatch, room: int):
    """A pass that looks at all that stands before each message, ten times cheaper than what is done besides."""

    def quadratic(conversation: Conversation, workspace: Workspace) -> Edited:
        for index in range(0, len(conversation.messages), 10):
            sum(message.tokens for message in conversation.messages[:index])
        return Edited(conversation)

    use_for_results(monkeypatch, quadratic)
    assert growth("openai-chat", room, index_tokens=0, restore_files=0) > AT_MOST


def growth(format: FormatName, room: int, **options: Any) -> float:
    """Return how many more calls of functions four times the messages take."""
    long = long_conversation(format, messages=4_000, result_characters=next(LENGTHS))
    calls_of(long, format, room, **options)  # formats are loaded once
    # Results of a length that no test had yet, so that nothing is remembered from one to the other.
    fewer = long_conversation(format, messages=1_000, result_characters=next(LENGTHS))
    more = long_conversation(format, messages=4_000, result_characters=next(LENGTHS))
    return calls_of(more, format, room, **options) / calls_of(fewer, format, room, **options)


def calls_of(messages: list[Any], format: FormatName, room: int, **options: Any) -> int:
    """Return how many functions are called, and generators gone on with, while a list is compacted."""
    one = window(ContextOptions(window_tokens=room, **options), observers=())
    calls = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        compaction = one.compact(messages, format=format)
    finally:
        sys.setprofile(before)
    assert compaction.fits
    return calls


def recorded_runs(folder: Path) -> Iterator[RecordedRun]:
    for file in find([folder]):
        runs = read(file, on_problem=lambda _: None)
        yield from (run for run in runs if isinstance(run, RecordedRun))


def scaled(size: int) -> ContextOptions:
    """The defaults, for a window of this size."""
    share = size / ContextOptions().window_tokens
    preview = max(20, int(500 * share))
    return ContextOptions(
        window_tokens=size,
        reserve_tokens=int(20_000 * share),
        result_budget_tokens=max(preview, int(25_000 * share)),
        preview_tokens=preview,
    )


def messages_of(run: RecordedRun) -> list[Any]:
    """A recorded run as a list of OpenAI chat."""
    made: list[Any] = [{"role": "user", "content": f"Solve {run.run_id}."}]
    for number, recorded in enumerate(run.calls):
        asked = {"name": recorded.tool, "arguments": recorded.arguments or "{}"}
        calls = [{"id": f"c{number}", "type": "function", "function": asked}]
        made.append({"role": "assistant", "content": None, "tool_calls": calls})
        made.append({"role": "tool", "tool_call_id": f"c{number}", "content": recorded.result})
    return made


LEAST_ROOM = 28
"""What the shortest task and a marker cost: less has room for no list."""


@pytest.fixture(scope="module")
def quarters(shared_data: Path) -> list[tuple[str, list[Any], int]]:
    """The recorded runs, each with a quarter of its size, if that has room for any list."""
    lists = [(run.run_id, messages_of(run)) for run in recorded_runs(shared_data / "transcripts")]
    sized = [(run, messages, providers.read_list(messages, estimate_tokens).tokens // 4) for run, messages in lists]
    return [(*run, size) for *run, size in sized if size * 0.9 >= LEAST_ROOM]


def test_real_runs_never_overflow(quarters):
    """Each recorded run, replayed message by message in a window of a quarter of its size, fits at every call."""
    replayed = 0
    for run, messages, size in quarters:
        replayed += 1
        one = window(scaled(size), observers=())
        sent: list[Any] = []
        for message in messages:
            sent.append(message)
            if message["role"] == "assistant":
                continue
            compaction = one.compact(sent, session=run)
            assert compaction.fits
            assert compaction.problems == ()
            sent = compaction.messages
    assert replayed > 150


class Provider:
    """Counts 30 % more than we do, and refuses what is too long for it in Anthropic's words."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.refusals = 0

    def __call__(self, messages: list[Any]) -> str:
        tokens = int(providers.read_list(messages, estimate_tokens).tokens * 1.3)
        if tokens > self.limit:
            self.refusals += 1
            raise RefusedError(tokens, self.limit)
        return "fine"


class RefusedError(Exception):
    """As Anthropic's SDK raises it."""

    def __init__(self, tokens: int, limit: int) -> None:
        message = f"prompt is too long: {tokens} tokens > {limit} maximum"
        self.status_code = 400
        self.body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        super().__init__(f"Error code: 400 - {self.body}")


def test_real_runs_survive_a_provider_that_counts_more(quarters):
    """Its refusals are recovered from within the allowed retries, and after one the window is known: no second."""
    refused = 0
    for run, messages, size in quarters:
        options = scaled(size)
        if (size - options.reserve_tokens) / 1.3 < LEAST_ROOM * 1.1:
            continue
        guard = OverflowGuard(window(options, observers=()), on_overflow=lambda *_: None)
        provider = Provider(size)
        sent: list[Any] = []
        for message in messages:
            sent.append(message)
            if message["role"] != "assistant":
                before = provider.refusals
                sent = guard.call(provider, sent, session=run).messages
                assert provider.refusals - before <= options.retries
        refused += provider.refusals
        assert provider.refusals <= 1
    assert refused > 10
