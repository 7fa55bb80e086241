"""What a provider compacts or clears by itself: its summaries stay, and what it did not read was not cut."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.providers.usage import overflow_in_usage, read_usage
from otel_errcompact_context.window.endpoints import (
    anthropic_context_editing,
    openai_compaction,
    openai_context_management,
)
from otel_errcompact_context.window.pairs import ranges_beside
from otel_errcompact_context.window.window import ContextWindow

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName
    from otel_errcompact_context.notes import Compaction

ITEM = {"type": "compaction", "id": "cmp_1", "encrypted_content": "opaque"}
NEWER = {"type": "compaction", "id": "cmp_2", "encrypted_content": "opaque, too"}
BLOCK = {"role": "assistant", "content": [{"type": "compaction", "content": "in short", "signature": "s"}]}
TASK: dict[str, Any] = {"role": "user", "content": "Find the slowest module."}


def items(first: int, last: int, characters: int = 800) -> list[Any]:
    """Turns of Responses items: a call and its output, some 200 tokens each."""
    made: list[Any] = []
    for turn in range(first, last):
        call = {"type": "function_call", "call_id": f"c{turn}", "name": "profile", "arguments": "{}"}
        text = f"{turn} " + "cold " * (characters // 5)
        output = {"type": "function_call_output", "call_id": f"c{turn}", "output": text}
        made += [call, output]
    return made


def blocks(first: int, last: int, characters: int = 800) -> list[Any]:
    """Turns of Anthropic's messages, as large."""
    made: list[Any] = []
    for turn in range(first, last):
        call = {"type": "tool_use", "id": f"c{turn}", "name": "profile", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"{turn} ".ljust(characters, "x")}
        made += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return made


OPTIONS = ContextOptions(window_tokens=4_000, reserve_tokens=400, result_budget_tokens=100_000, snip_messages=20)


def compact(messages: list[Any], format: FormatName, summarize: Any = None, **more: Any) -> Compaction:
    options = OPTIONS.model_copy(update=more.pop("options", {}))
    window = ContextWindow(options, archive=MemoryArchive(), summarize=summarize, observers=())
    compaction = window.compact(messages, format=format, **more)
    assert compaction.problems == ()
    assert compaction.fits
    return compaction


# A compaction of the provider stays.


@pytest.mark.parametrize("reason", ["over_trigger", "overflow", "asked"])
@pytest.mark.parametrize("before", [0, 2, 12, 30])
@pytest.mark.parametrize("summarize", [None, lambda _: "The slowest module is not found yet."], ids=["", "summary"])
@pytest.mark.parametrize(
    ("format", "turns", "compacted"), [("openai-responses", items, ITEM), ("anthropic", blocks, BLOCK)]
)
def test_no_layer_takes_it_out(
    format: FormatName, turns: Any, compacted: Any, summarize: Any, before: int, reason: Any
) -> None:
    """Wherever it stands: nothing else says what the provider remembers."""
    messages = [TASK, *turns(0, before), compacted, *turns(before, 40)]
    compaction = compact(messages, format, summarize, reason=reason)
    assert compaction.tokens_after < compaction.tokens_before
    assert [message for message in compaction.messages if message is compacted] == [compacted]
    assert compaction.opaque


def test_of_many_the_newest_stays() -> None:
    """It stands for the older ones."""
    messages = [TASK, *items(0, 10), ITEM, *items(10, 20), NEWER, *items(20, 40)]
    compaction = compact(messages, "openai-responses")
    assert NEWER in compaction.messages
    assert ITEM not in compaction.messages


def test_a_list_without_one_is_not_opaque() -> None:
    """Any provider can go on with it."""
    assert not compact([TASK, *items(0, 40)], "openai-responses").opaque


def test_the_provider_s_summary_takes_the_place_of_its_last_one() -> None:
    """The marker counts it, so that the whole can be put back; the provider reads what it has written before."""
    asked: list[Any] = []

    def answer(**request: Any) -> Any:
        asked.append(request["input"])
        return SimpleNamespace(output=[ITEM] if len(asked) == 1 else [NEWER])

    summarize = openai_compaction(SimpleNamespace(responses=SimpleNamespace(compact=answer)), "gpt")
    first = compact([TASK, *items(0, 20)], "openai-responses", summarize)
    place = first.messages.index(ITEM)
    marked: Any = first.messages[place - 1]
    assert marked["content"].endswith("; the next 1 is from them; whole: memory:00000001]")
    again = compact([*first.messages, *items(20, 40)], "openai-responses", summarize)
    assert ITEM in asked[1]
    assert ITEM not in again.messages
    assert again.messages[place] is NEWER


def test_another_summariser_leaves_it_alone() -> None:
    """It could not read it; what comes after it is summarised, and what comes before it is cut."""
    messages = [TASK, *items(0, 10), ITEM, *items(10, 40)]
    compaction = compact(messages, "openai-responses", lambda _: "The slowest module is not found yet.")
    place = compaction.messages.index(ITEM)
    markers = [str(message) for message in compaction.messages if "[errcompact " in str(message)]
    assert ["[errcompact snip: " in markers[0], "[errcompact summary: " in markers[1]] == [True, True]
    assert "[errcompact summary: " not in str(compaction.messages[:place])


def test_both_sides_of_it_are_snipped_at_once() -> None:
    """A second pass has nothing to do."""
    window = ContextWindow(OPTIONS, archive=MemoryArchive(), observers=())
    first = window.compact([TASK, *items(0, 20, 40), ITEM, *items(20, 60, 240)])
    (note,) = (note for note in first.notes if note.layer == "snip")
    assert [cut.messages > 1 for cut in note.cuts] == [True, True]
    assert note.cuts[0].message < note.cuts[1].message
    again = window.compact(first.messages)
    assert [note for note in again.notes if note.cuts] == []


@pytest.mark.parametrize(
    ("start", "end", "place", "ranges"),
    [
        pytest.param(1, 9, 12, [(1, 9)], id="outside"),
        pytest.param(1, 9, -1, [(1, 9)], id="none"),
        pytest.param(1, 9, 4, [(1, 3), (5, 9)], id="the result of a pair"),
        pytest.param(1, 9, 1, [(3, 9)], id="at the beginning"),
        pytest.param(1, 9, 8, [(1, 7)], id="at the end"),
        pytest.param(3, 5, 3, [], id="nothing else"),
    ],
)
def test_ranges_beside(start: int, end: int, place: int, ranges: list[tuple[int, int]]) -> None:
    """With the pair that it belongs to."""
    messages = providers.read_list([TASK, *items(0, 6)], estimate_tokens).messages
    assert ranges_beside(start, end, place, messages) == ranges


# What a reply says that the provider has cleared.


def cleared(read: int, tokens: int) -> dict[str, Any]:
    edits = [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 9, "cleared_input_tokens": tokens}]
    return {"usage": {"input_tokens": read, "output_tokens": 9}, "context_management": {"applied_edits": edits}}


def test_what_was_cleared_is_no_cut_prompt() -> None:
    """The request has asked for it."""
    usage = read_usage(cleared(3_000, 27_000))
    assert usage is not None
    assert (usage.prompt_tokens, usage.cleared_tokens) == (3_000, 27_000)
    assert overflow_in_usage(cleared(3_000, 27_000), 200_000, 30_000) is None
    assert overflow_in_usage(cleared(3_000, 1_000), 200_000, 30_000) is not None


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"usage": {"input_tokens": 900, "output_tokens": 9}, "output": [ITEM]}, id="openai"),
        pytest.param({"usage": {"input_tokens": 900, "output_tokens": 9}, **BLOCK}, id="anthropic"),
    ],
)
def test_a_prompt_that_was_compacted_was_not_cut(reply: object) -> None:
    """What was read says nothing then of what was sent."""
    usage = read_usage(reply)
    assert usage is not None
    assert usage.compacted
    assert overflow_in_usage(reply, 200_000, 30_000) is None


class Server:
    """Clears so many tokens of each prompt, and reads the rest."""

    def __init__(self, guard: OverflowGuard, tokens: int) -> None:
        self.guard = guard
        self.tokens = tokens
        self.calls = 0

    def __call__(self, messages: list[object]) -> Any:
        self.calls += 1
        sent = providers.read_list(messages, estimate_tokens, "anthropic").tokens
        return cleared(sent - self.tokens, self.tokens)


def guarded(**more: Any) -> OverflowGuard:
    options = OPTIONS.model_copy(update={"window_tokens": 20_000, "snip_messages": 1_000, **more})
    window = ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_tokens, observers=())
    return OverflowGuard(window)


def test_a_window_is_wider_by_what_the_provider_clears() -> None:
    """The list stays whole as long as what is read of it fits."""
    guard = guarded()
    server = Server(guard, 0)
    messages = [TASK, *blocks(0, 60)]
    assert guard.call(server, messages, session="s", format="anthropic").compactions[0].notes[-1].cuts == ()
    server.tokens = 10_000
    guard.call(server, messages, session="s", format="anthropic")
    assert guard.widened_window("s") == 30_000
    assert guard.lowered_window("s") == 20_000
    longer = [TASK, *blocks(0, 90)]
    sent = guard.call(server, longer, session="s", format="anthropic")
    assert sent.messages == longer
    assert server.calls == 3
    other = guard.call(server, longer, session="another", format="anthropic")
    assert other.messages != longer


def test_what_the_window_cuts_the_provider_clears_no_more() -> None:
    """Nor what it has not cleared last time."""
    guard = guarded()
    guard.call(Server(guard, 10_000), [TASK, *blocks(0, 60)], session="s", format="anthropic")
    guard.call(Server(guard, 0), [TASK, *blocks(0, 200)], session="s", format="anthropic")
    assert guard.widened_window("s") == 20_000
    guard.note_cleared("s", 5_000)
    assert guard.widened_window("s") == 25_000
    guard.forget("s")
    assert guard.widened_window("s") == 20_000


def test_a_refusal_is_answered_by_the_window_alone() -> None:
    """What the provider may clear is no help where it has refused."""
    guard = guarded()
    guard.note_cleared("", 10_000)
    said = {"type": "invalid_request_error", "message": "prompt is too long: 21000 tokens > 20000 maximum"}
    error = {"type": "error", "error": said}
    replies: list[Any] = [error, {"content": "fine"}]
    sent = guard.call(lambda _: replies.pop(0), [TASK, *blocks(0, 100)], format="anthropic")
    assert sent.compactions[0].room_tokens == 29_600
    assert sent.compactions[1].room_tokens < 20_000


def test_a_list_with_a_compaction_in_it_is_not_measured_by_what_was_read() -> None:
    """What stands before it may not have been read."""
    guard = guarded()
    messages = [TASK, *items(0, 60), ITEM, *items(60, 62)]
    sent = guard.call(
        lambda _: {"usage": {"input_tokens": 600, "output_tokens": 9}}, messages, format="openai-responses"
    )
    assert len(sent.compactions) == 1
    assert guard.lowered_window() == 20_000


# What a request asks for.


def test_the_provider_begins_at_the_target() -> None:
    """Of a room of 15,000 tokens, and clears no less than a quarter of the way from there to the trigger."""
    window = ContextWindow(ContextOptions(window_tokens=20_000), archive=MemoryArchive(), observers=())
    options = window.options
    target = int(15_000 * options.target_share)
    assert openai_context_management(window) == {
        "context_management": [{"type": "compaction", "compact_threshold": target}]
    }
    edit = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": target},
        "keep": {"type": "tool_uses", "value": 5},
        "clear_at_least": {"type": "input_tokens", "value": (int(15_000 * options.trigger_share) - target) // 4},
    }
    betas = ["context-management-2025-06-27"]
    assert anthropic_context_editing(window) == {"betas": betas, "context_management": {"edits": [edit]}}
    assert anthropic_context_editing(window, exclude_tools=["recall"]) == {
        "betas": betas,
        "context_management": {"edits": [edit | {"exclude_tools": ["recall"]}]},
    }
