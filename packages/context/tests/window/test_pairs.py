"""Which call has which result, and where a list may be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.messages import Conversation, Message
from otel_errcompact_context.window.pairs import Spot, cut_points, pair_list
from packages.context.tests.conversations import (
    FORMATS,
    LISTS_PER_LAW,
    Call,
    Step,
    Turn,
    broken_conversations,
    conversations,
    of_any_format,
    told,
)
from packages.context.tests.window.pairing import Pair, pairs_of
from tests.clock import costs_little

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName, Message


def read(format: FormatName, messages: list[Any]) -> tuple[Message, ...]:
    return providers.read_list(messages, estimate_tokens, format).messages


def of_calls(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    """Each call's arguments with its result's text."""
    return [
        (messages[call.message].parts[call.part].text, messages[result.message].parts[result.part].text)
        for call, result in pairs_of(messages).pairs
        if result is not None
    ]


TWO_TURNS = (
    Turn("one", (Step(calls=(Call("a", {"n": 1}, "r1"), Call("b", {"n": 2}, "r2"))), Step("done"))),
    Turn("two", (Step("look", thinking="hm", calls=(Call("a", {"n": 3}, "r3"),)), Step("done"))),
)


@pytest.mark.parametrize("format", FORMATS)
def test_each_call_has_its_result(format: FormatName):
    """
    Parallel calls are paired with their own results, in every format.
    """
    found = of_calls(read(format, told(format, TWO_TURNS)))

    assert [(call, result.replace('{"output":"', "").replace('","exit_code":0}', "")) for call, result in found] == [
        ('{"n":1}', "r1"),
        ('{"n":2}', "r2"),
        ('{"n":3}', "r3"),
    ]


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        pytest.param("anthropic", [0, 1, 3, 4, 5, 7, 8], id="anthropic"),
        pytest.param("openai-chat", [0, 1, 4, 5, 6, 8, 9], id="openai-chat"),
        # user, fc, fc, out, out, message, user, reasoning, message, fc, out, message
        pytest.param("openai-responses", [0, 1, 5, 6, 7, 11, 12], id="openai-responses"),
        pytest.param("gemini", [0, 1, 3, 4, 5, 7, 8], id="gemini"),
    ],
)
def test_cuts_leave_pairs_and_thinking_together(format: FormatName, expected: list[int]):
    """
    A list may be cut before and after a call with all its results, and not within what thinking led to.
    """
    assert expected == cut_points(read(format, told(format, TWO_TURNS)))


@settings(max_examples=LISTS_PER_LAW)
@given(st.data(), of_any_format(conversations))
def test_any_cut_of_a_valid_list_is_valid(data: st.DataObject, case: tuple[FormatName, list[Any]]):
    """
    A head up to a cut, a message of the user and a tail from a later cut make a list that the provider accepts.
    """
    name, messages = case
    conversation = providers.read_list(messages, estimate_tokens, name)
    points = cut_points(conversation.messages)
    begin, end = sorted([data.draw(st.sampled_from(points)), data.draw(st.sampled_from(points))])
    marker = providers.from_user("the middle was cut", estimate_tokens)

    kept = (*conversation.messages[:begin], marker, *conversation.messages[end:])

    assert providers.find_problems(Conversation(format=name, messages=kept)) == ()


@settings(max_examples=LISTS_PER_LAW)
@given(of_any_format(broken_conversations))
def test_broken_lists_are_paired_as_far_as_they_go(case: tuple[FormatName, list[Any]]):
    """
    Each call and each result is named once, a result never stands before its call, and no cut goes through a pair.
    """
    name, messages = case
    read_messages = read(name, messages)
    found = pairs_of(read_messages)
    points = cut_points(read_messages)

    results = [pair.result for pair in found.pairs if pair.result is not None]
    named = sorted([pair.call for pair in found.pairs] + results + list(found.orphans))
    assert named == [
        Spot(index, number)
        for index, message in enumerate(read_messages)
        for number, part in enumerate(message.parts)
        if part.kind in {"call", "result"}
    ]
    assert all(pair.call < pair.result for pair in found.pairs if pair.result is not None)
    assert points == sorted(set(points))
    assert points[0] == 0
    for call, result in found.pairs:
        if result is not None:
            assert not any(call.message < point <= result.message for point in points)


def test_results_with_neither_id_nor_tool_are_taken_in_order():
    """Some servers send empty ids, and a result of chat completions names no tool."""
    names = ("read", "bash", "read")
    calls = [{"id": "", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in names]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": "", "content": str(number)} for number in range(3)]
    pairs = pairs_of(read("openai-chat", [{"role": "user", "content": "Go."}, asked, *results]))
    assert pairs.pairs == tuple((Spot(1, number), Spot(2 + number, 0)) for number in range(3))
    assert pairs.orphans == ()


def test_results_without_ids_are_taken_by_tool_and_order():
    """
    Gemini needs no ids: the second answer of a tool belongs to its second call, whatever stands between.
    """
    calls = [{"functionCall": {"name": name, "args": {"n": n}}} for n, name in enumerate(["a", "b", "a"])]
    answers = [
        {"functionResponse": {"name": name, "response": {"output": said}}}
        for name, said in [("b", "b1"), ("a", "a0"), ("a", "a2")]
    ]
    messages = [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": calls}]

    found = of_calls(read("gemini", [*messages, {"role": "user", "parts": answers}]))

    assert found == [('{"n":0}', "a0"), ('{"n":1}', "b1"), ('{"n":2}', "a2")]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        pytest.param({"id": "1"}, {}, id="the answer has none"),
        pytest.param({}, {"id": "1"}, id="the call has none"),
    ],
)
def test_an_id_on_one_side_alone_does_not_part_them(asked: dict[str, str], answered: dict[str, str]):
    """
    Frameworks strip Gemini's ids on one side: the pair is found by tool, and once.
    """
    contents = [
        {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}, **asked}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}, **answered}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}, **answered}}]},
    ]

    found = pairs_of(read("gemini", contents))

    assert (Pair(Spot(0, 0), Spot(1, 0)),) == found.pairs
    assert (Spot(2, 0),) == found.orphans


def chat_call(call_id: str) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def chat_result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


GAP = "[errcompact snip: 5 messages, 900 tokens; whole: memory:00000001]"
SHORTENED = "[errcompact reactive: 900 tokens of user text; whole: memory:00000001]\nGo on."


@pytest.mark.parametrize(
    ("messages", "pairs", "orphans"),
    [
        pytest.param([], [], [], id="an empty list"),
        pytest.param([chat_result("1")], [], [0], id="a result without a call"),
        pytest.param([chat_result("1"), chat_call("1")], [(1, None)], [0], id="a result before its call"),
        pytest.param([chat_call("1"), chat_result("1"), chat_result("1")], [(0, 1)], [2], id="two results"),
        pytest.param(
            [chat_call("1"), chat_result("1"), chat_call("1"), chat_result("1")], [(0, 1), (2, 3)], [], id="an id again"
        ),
        pytest.param(
            [chat_call("1"), {"role": "user", "content": "?"}, chat_call("1"), chat_result("1")],
            [(0, None), (2, 3)],
            [],
            id="an id again after a call that nobody answered",
        ),
        pytest.param([chat_call("1"), chat_result("2")], [(0, None)], [1], id="ids that do not match"),
        pytest.param(
            [chat_call("1"), {"role": "user", "content": GAP}, chat_result("1")],
            [(0, None)],
            [2],
            id="a call before a gap, and a result behind it",
        ),
        pytest.param(
            [chat_call("1"), {"role": "user", "content": SHORTENED}, chat_result("1")],
            [(0, 2)],
            [],
            id="a text that was shortened is no gap",
        ),
    ],
)
def test_accidents(messages: list[Any], pairs: list[tuple[int, int | None]], orphans: list[int]):
    """
    What cannot be paired is named, and takes no other call's place.
    """
    found = pairs_of(read("openai-chat", messages))

    assert pairs == [(call.message, None if result is None else result.message) for call, result in found.pairs]
    assert orphans == [spot.message for spot in found.orphans]


def test_by_result_finds_the_call():
    """
    From a result its call is found.
    """
    found = pair_list(read("openai-chat", [chat_call("1"), chat_result("1"), chat_call("2")]))

    assert {Spot(1, 0): Spot(0, 0)} == found.by_result


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([], [0], id="an empty list"),
        pytest.param([chat_call("1")], [0], id="a call that waits"),
        pytest.param([chat_call("1"), chat_result("1")], [0, 2], id="a call that was answered"),
        pytest.param(
            [chat_call("1"), {"role": "user", "content": "?"}], [0, 1, 2], id="a call that nobody will answer"
        ),
        pytest.param([chat_result("1"), {"role": "user", "content": "?"}], [0, 1, 2], id="an orphan"),
    ],
)
def test_cuts_of_unfinished_lists(messages: list[Any], expected: list[int]):
    """
    A call that still waits for its result is not cut off; what is broken already holds nothing up.
    """
    assert expected == cut_points(read("openai-chat", messages))


def test_what_a_provider_did_itself_is_paired():
    """
    A screenshot and the call that asked for it belong together although layers leave both alone.
    """
    items = [
        {"role": "user", "content": "look"},
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "1",
            "action": {"type": "screenshot"},
            "status": "completed",
        },
        {"type": "computer_call_output", "call_id": "1", "output": {"type": "computer_screenshot", "image_url": "x"}},
    ]
    messages = read("openai-responses", items)

    assert (Pair(Spot(1, 0), Spot(2, 0)),) == pairs_of(messages).pairs
    assert cut_points(messages) == [0, 1, 3]


@pytest.mark.cost
@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([chat_call("1") for _ in range(20_000)], id="calls with one id"),
        pytest.param([chat_result("1") for _ in range(20_000)], id="results without calls"),
        pytest.param(
            [{"role": "assistant", "tool_calls": [chat_call("1")["tool_calls"][0]] * 20_000}, chat_result("1")],
            id="calls with one id in one answer",
        ),
        pytest.param([chat_call("1"), chat_result("1")] * 10_000, id="an id again and again"),
    ],
)
def test_hostile_lists_take_linear_time(messages: list[Any]):
    """
    Twenty thousand calls or results of one id take no longer than others: far less than a second.
    """
    read_messages = read("openai-chat", messages)
    assert costs_little(lambda: cut_points(read_messages))
