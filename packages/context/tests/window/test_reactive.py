"""The reactive layer reaches the room wherever that is possible, with the task and the newest turns that fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.window.layers import Edited, Workspace
from otel_errcompact_context.window.layers.reactive import level_costs, reactive
from otel_errcompact_context.window.pairs import cut_points
from packages.context.tests.compactions import NOTHING_CARRIED

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName

TASK = {"role": "user", "content": "Mend the parser."}
"""8 tokens."""


def said(number: int, size: int = 400) -> Any:
    """104 tokens, unless another size is named."""
    return {"role": "assistant" if number % 2 else "user", "content": f"{number} ".ljust(size, ".")}


def called(*names: str, arguments: str = "{}") -> Any:
    calls = [{"id": name, "type": "function", "function": {"name": "read", "arguments": arguments}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(name: str, size: int = 400) -> Any:
    lines = "".join(f"line {number:4}\n" for number in range(size // 10))
    return {"role": "tool", "tool_call_id": name, "content": lines[:size]}


def run(
    messages: list[Any],
    target: int,
    room: int | None = None,
    archive: MemoryArchive | None = None,
    format: FormatName = "openai-chat",
) -> tuple[Edited, list[Any]]:
    workspace = Workspace(
        archive=archive or MemoryArchive(),
        options=ContextOptions(**NOTHING_CARRIED),
        count_tokens=estimate_tokens,
        target_tokens=target,
        room_tokens=room,
    )
    given = providers.read_list(messages, estimate_tokens, format)
    edited = reactive(given, workspace)
    return edited, providers.write_list(edited.conversation)


def test_the_turns_between_the_task_and_the_newest_go():
    """As many of the newest stay as fit, untouched; what went can be read back."""
    archive = MemoryArchive()
    messages = [TASK, *(said(number) for number in range(1, 11))]
    edited, made = run(messages, target=500, archive=archive)
    assert made == [
        TASK,
        {"role": "user", "content": "[errcompact reactive: 6 messages, 624 tokens; whole: memory:00000001]"},
        *messages[7:],
    ]
    assert made[0] is TASK
    assert all(ours is theirs for ours, theirs in zip(made[2:], messages[7:], strict=True))
    assert [json.loads(line) for line in archive.read("memory:00000001").splitlines()] == messages[1:7]
    (cut,) = edited.cuts
    assert (cut.message, cut.messages, cut.tokens_before, cut.tokens_after, cut.place) == (
        1,
        6,
        624,
        22,
        "memory:00000001",
    )


def test_what_fits_stays():
    """And nothing is archived."""
    edited, made = run([TASK, said(1)], target=112)
    assert made == [TASK, said(1)]
    assert edited.cuts == ()


def test_results_are_shortened_first():
    """The larger ones to one size; calls, texts and the task stay."""
    archive = MemoryArchive()
    messages = [TASK, called("a", "b"), answered("a", 8_000), answered("b", 1_000)]
    edited, made = run(messages, target=1_000, archive=archive)
    assert made[:2] == messages[:2]
    assert made[3] is messages[3]
    first = made[2]["content"].splitlines()
    assert first[0] == "[errcompact reactive: 2,000 tokens of tool result; whole: memory:00000001]"
    assert (first[1], first[-1]) == ("line    0", "line  799")
    assert archive.read("memory:00000001") == messages[2]["content"]
    assert 800 < edited.conversation.tokens <= 1_000


def test_inputs_are_shortened_next():
    """They remain an object, with the marker in it."""
    archive = MemoryArchive()
    arguments = json.dumps({"path": "a.py", "content": "x = 1\n" * 2_000})
    messages = [TASK, called("a", arguments=arguments), answered("a", 4_000)]
    edited, made = run(messages, target=400, archive=archive)
    text = made[1]["tool_calls"][0]["function"]["arguments"]
    fields = json.loads(text)
    assert list(fields) == ["errcompact", "path", "content"]
    assert fields["errcompact"] == "[errcompact reactive: 3,508 tokens of read call; whole: memory:00000002]"
    assert fields["path"] == "a.py"
    assert archive.read("memory:00000002") == arguments
    assert edited.conversation.tokens <= 400


def test_texts_are_shortened_then():
    """All but the system's, and the task's."""
    messages = [{"role": "system", "content": "y" * 400}, TASK, said(1, 20_000), said(2, 20_000)]
    edited, made = run(messages, target=500)
    assert made[:2] == messages[:2]
    assert [message["role"] for message in made] == ["system", "user", "user", "user"]
    assert made[3]["content"].startswith(
        "[errcompact reactive: 5,000 tokens of user text; whole: memory:00000002]\n2 ..."
    )
    assert edited.conversation.tokens <= 500


def test_the_task_is_shortened_last():
    """To the room and not to the target: as much of it stays as can."""
    task = {"role": "user", "content": "do this\n" * 1_000}
    edited, made = run([task, said(1, 4_000)], target=500, room=900)
    assert made[0]["content"].startswith(
        "[errcompact reactive: 2,000 tokens of user text; whole: memory:00000002]\ndo this\n"
    )
    assert 700 < edited.conversation.tokens <= 900


def test_the_last_turn_goes_if_nothing_else_helps():
    """More parallel calls than fit at their smallest: the task stays, and where the turn is."""
    names = [f"call_{number}" for number in range(200)]
    messages = [TASK, called(*names), *(answered(name, 40) for name in names)]
    _, made = run(messages, target=500)
    assert made == [
        TASK,
        {"role": "user", "content": "[errcompact reactive: 201 messages, 7,004 tokens; whole: memory:00000001]"},
    ]


def test_a_last_turn_that_is_small_goes_as_well():
    """Nothing is too small to go where it alone does not fit."""
    edited, made = run([TASK, said(1, 160)], target=40, room=40)
    assert made == [
        TASK,
        {"role": "user", "content": "[errcompact reactive: 1 message, 44 tokens; whole: memory:00000001]"},
    ]
    assert (edited.conversation.tokens, edited.problem) == (29, "")


def test_a_call_that_waits_keeps_its_turn():
    """Its answer comes later, and would answer nothing; an answer that comes late leaves no place to cut before it."""
    messages = [called("late"), TASK, called("open"), answered("late")]
    edited, made = run(messages, target=10, room=10)
    assert [message["role"] for message in made] == ["assistant", "user", "assistant", "tool"]
    assert [made[0], made[2]] == [called("late"), called("open")]
    assert "do not fit into 10, and nothing that is left can be shortened" in edited.problem
    edited, made = run([TASK, said(1, 4_000), called("open")], target=40, room=40)
    assert made[-1] == called("open")


SEARCHED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "who owns it"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {"type": "web_search_result", "url": "https://e.x", "title": "T", "encrypted_content": "E" * 9_000}
        ],
    },
    {"type": "text", "text": "Ann owns it.", "citations": [{"url": "https://e.x", "encrypted_index": "I"}]},
    {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.py"}},
]


def test_a_large_result_of_the_provider_s_own_tool_goes_before_its_turn():
    """With its call; the answer stays, but for citations of what is gone, and so do other results."""
    archive = MemoryArchive()
    results = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"}]
    messages = [TASK, {"role": "assistant", "content": SEARCHED}, {"role": "user", "content": results}]
    gone, place = "2,254", "memory:00000001"
    edited, made = run(messages, target=200, archive=archive, format="anthropic")
    assert made == [
        TASK,
        {
            "role": "assistant",
            "content": [
                {
                    "type": "text",
                    "text": f"[errcompact reactive: {gone} tokens of web_search result; whole: {place}]",
                },
                {"type": "text", "text": "Ann owns it."},
                SEARCHED[3],
            ],
        },
        messages[2],
    ]
    assert edited.problem == ""
    assert json.loads(archive.read(place)) == SEARCHED[1]
    assert edited.conversation.tokens == providers.read_list(made, estimate_tokens, "anthropic").tokens


def test_a_call_of_the_provider_s_own_tool_stays_with_its_other_result():
    """It may have two; one alone would be refused."""
    small = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    turn = {"role": "assistant", "content": [*SEARCHED[:2], small, SEARCHED[2]]}
    edited, made = run([TASK, turn], target=200, format="anthropic")
    line = {"type": "text", "text": "[errcompact reactive: 2,254 tokens of web_search result; whole: memory:00000001]"}
    assert made[1]["content"] == [SEARCHED[0], line, small, {"type": "text", "text": "Ann owns it."}]
    assert edited.conversation.tokens == providers.read_list(made, estimate_tokens, "anthropic").tokens
    assert cut_points(edited.conversation.messages) == [0, 1, 2]
    turn["content"] = [*SEARCHED[:2], {**SEARCHED[1]}, SEARCHED[2]]
    _, made = run([TASK, turn], target=200, format="anthropic")
    assert made[1]["content"] == [line, line, {"type": "text", "text": "Ann owns it."}]


def test_a_task_of_pictures_becomes_its_text():
    """What cannot be shortened goes as a whole, last of all."""
    archive = MemoryArchive()
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    task = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image, image]}
    edited, made = run([task, said(1)], target=500, archive=archive)
    assert made[0] == {
        "role": "user",
        "content": "[errcompact reactive: 3,208 tokens of the task; whole: memory:00000002]\nWhat is this?",
    }
    assert json.loads(archive.read("memory:00000002")) == task
    assert edited.conversation.tokens <= 500


def test_what_is_impossible_is_left_smallest():
    """A system prompt is never cut; whoever runs the layer sees that it does not fit."""
    messages = [{"role": "system", "content": "y" * 4_000}, TASK, said(1)]
    edited, made = run(messages, target=500)
    assert made[0] == messages[0]
    assert edited.conversation.tokens == 1_004 + 8 + 21
    again, _ = run(made, target=500)
    assert again.cuts == ()


def test_an_earlier_summary_stays():
    """It says more of the old turns than newer ones do, if it is short."""
    summary = {
        "role": "user",
        "content": "[errcompact summary: 9 messages, 900 tokens; whole: memory:00000007]\nAll is well.",
    }
    messages = [TASK, said(1), summary, *(said(number) for number in range(3, 13))]
    _, made = run(messages, target=500)
    assert made[2] is summary
    assert made == [
        TASK,
        {"role": "user", "content": "[errcompact reactive: 1 message, 104 tokens; whole: memory:00000002]"},
        summary,
        {"role": "user", "content": "[errcompact reactive: 7 messages, 728 tokens; whole: memory:00000001]"},
        *messages[10:],
    ]


def test_what_cannot_be_kept_is_not_cut():
    """The archive is full: everything stays, and the note says so."""
    messages = [TASK, called("b"), answered("b"), called("a"), answered("a", 8_000)]
    edited, made = run(messages, target=500, archive=MemoryArchive(max_characters=100))
    assert made == messages
    assert edited.cuts == ()
    assert edited.problem.startswith("messages stay, since they could not be kept: ")


def test_without_a_user_the_system_is_the_head():
    """A list that begins in the middle is cut as well."""
    messages = [{"role": "system", "content": "s"}, *(said(number) for number in (1, 3, 5, 7, 9))]
    _, made = run(messages, target=300)
    assert made == [
        messages[0],
        {"role": "user", "content": "[errcompact reactive: 3 messages, 312 tokens; whole: memory:00000001]"},
        *messages[4:],
    ]


@pytest.mark.parametrize(
    ("costs", "total", "expected"),
    [
        pytest.param([100, 100], 100, 50, id="equal"),
        pytest.param([10, 100, 100], 110, 50, id="small ones stay"),
        pytest.param([10, 20, 30], 100, 30, id="all fit"),
        pytest.param([10, 10], -5, 0, id="nothing is left"),
        pytest.param([], 10, 0, id="none"),
    ],
)
def test_level(costs, total, expected):
    """The size to which the larger ones are cut, so that all together fit."""
    assert level_costs(costs, total) == expected


def picture(name: str, characters: int) -> Any:
    """A result of 1,600 tokens for its picture, and some for its text."""
    shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "high"}}
    text = answered(name, characters)["content"]
    return {"role": "tool", "tool_call_id": name, "content": [{"type": "text", "text": text}, shown]}


def test_a_picture_among_a_result_is_kept_with_it():
    """Not only its text: the whole message of the tool lies in the archive."""
    archive = MemoryArchive()
    shown = picture("a", 40)
    edited, made = run([TASK, called("a"), shown], target=200, archive=archive)
    assert made[2] == {
        "role": "tool",
        "tool_call_id": "a",
        "content": "[errcompact reactive: 1,610 tokens of tool result; whole: memory:00000001]\n"
        + "".join(f"line {number:4}\n" for number in range(4)),
    }
    assert json.loads(archive.read(edited.cuts[0].place)) == shown


def test_a_result_that_loses_its_picture_leaves_a_preview():
    """The result budget let it pass for its picture; more text would be cut by it in the next run."""
    _, made = run([TASK, called("a"), picture("a", 4_000)], target=1_000)
    text = made[2]["content"]
    assert 490 < estimate_tokens(text) <= 500 + estimate_tokens(text.partition("\n")[0]) + 1


@pytest.mark.parametrize(("room", "remain"), [pytest.param(3_000, 5, id="parts"), pytest.param(1, 3, id="messages")])
def test_a_marker_that_stands_alone_is_not_cut_again(room: int, remain: int):
    """Where the archive's places are long, a marker costs more than is else worth cutting."""

    class Deep(MemoryArchive):
        def keep(self, text: str) -> str:
            return "/deep" * 100 + super().keep(text)

    arguments = json.dumps({"rows": list(range(2_000))}, separators=(",", ":"))
    pictures = {"role": "user", "content": picture("a", 4_000)["content"]}
    messages = [pictures, said(1), said(2), called("a", arguments=arguments), answered("a", 4_000)]
    archive = Deep()
    _, once = run(messages, target=1, room=room, archive=archive)
    assert len(once) == remain
    edited, twice = run(once, target=1, room=room, archive=archive)
    assert twice == once
    assert edited.cuts == ()


@pytest.mark.parametrize("format", ["anthropic", "openai-chat"])
def test_arguments_cost_when_read_what_they_cost_when_written(format: Any):
    """Providers hold them as objects, which have no spaces; and a second cut leaves no second argument of its name."""
    arguments = {"path": "a.py", "rows": list(range(100)), "text": "x" * 9_000}
    block = {"type": "tool_use", "id": "a", "name": "write", "input": arguments}
    chat = {"id": "a", "type": "function", "function": {"name": "write", "arguments": json.dumps(arguments)}}
    messages: list[Any] = [TASK, {"role": "assistant", "content": None, "tool_calls": [chat]}, answered("a", 40)]
    if format == "anthropic":
        answer = {"type": "tool_result", "tool_use_id": "a", "content": "done"}
        messages = [TASK, {"role": "assistant", "content": [block]}, {"role": "user", "content": [answer]}]
    archive = MemoryArchive()
    workspace = Workspace(
        archive=archive, options=ContextOptions(**NOTHING_CARRIED), count_tokens=estimate_tokens, target_tokens=600
    )
    once = reactive(providers.read_list(messages, estimate_tokens, format), workspace).conversation
    read = providers.read_list(providers.write_list(once), estimate_tokens, format)
    assert once.tokens == read.tokens <= 600
    workspace = Workspace(
        archive=archive, options=ContextOptions(**NOTHING_CARRIED), count_tokens=estimate_tokens, target_tokens=400
    )
    twice = reactive(read, workspace).conversation
    text = next(part.text for message in twice.messages for part in message.parts if part.kind == "call")
    assert text.startswith('{"errcompact":"[errcompact reactive: ')
    assert text.count('"errcompact":') == 1
    assert json.loads(text)["path"] == "a.py"
    assert twice.tokens == providers.read_list(providers.write_list(twice), estimate_tokens, format).tokens <= 400
