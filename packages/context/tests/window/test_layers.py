"""What the cheap layers do: the result budget, snip, micro."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.messages import Conversation
from otel_errcompact_context.notes import Cut, invalidated_tokens
from otel_errcompact_context.window.layers import Workspace
from otel_errcompact_context.window.layers.micro import micro
from otel_errcompact_context.window.layers.results import results
from otel_errcompact_context.window.layers.snip import snip
from packages.context.tests.conversations import IMAGE, Call, Step, Turn, long_conversation, place_of, told
from tests.clock import grows_linearly

LOG = "".join(f"line {number} of the log\n" for number in range(200))
"""973 tokens."""

PREVIEW = """\
[errcompact results: result of read_file, 973 tokens; whole: memory:00000001]
line 0 of the log
line 1 of the log
line 2 of the log
[... 3,816 characters cut ...]
line 199 of the log
"""


class Disk(MemoryArchive):
    """An archive on a disk that has room for texts up to a length."""

    def __init__(self, longest: int = 10**9) -> None:
        super().__init__()
        self.longest = longest
        self.asked: list[str] = []

    def keep(self, text: str) -> str:
        self.asked.append(text)
        if len(text) > self.longest:
            raise OSError(28, "No space left on device")
        return super().keep(text)


def workspace(archive: MemoryArchive | None = None, *, target: int = 0, **options: Any) -> Workspace:
    """What the layers work with; texts are cut early."""
    return Workspace(
        archive=MemoryArchive() if archive is None else archive,
        options=ContextOptions(**{"preview_tokens": 30, "keep_results": 1, "snip_messages": 8, **options}),
        count_tokens=estimate_tokens,
        target_tokens=target,
    )


def conversation(*steps: Step) -> Conversation:
    """A conversation with Anthropic: a task, and steps of the agent."""
    return providers.read_list(told("anthropic", (Turn("mend the parser", steps),)), estimate_tokens, "anthropic")


def calling(*said: str, tool: str = "read_file", failed: bool = False) -> Step:
    """A step with a call for each result."""
    return Step(calls=tuple(Call(tool=tool, result=text, failed=failed) for text in said))


def results_in(conversation: Conversation) -> list[str]:
    """The texts of all results."""
    return [part.text for message in conversation.messages for part in message.parts if part.kind == "result"]


def test_newest_results_over_the_budget_go_to_the_archive_the_largest_first() -> None:
    """A marker with its place and a preview stay, and the cut is told; what fits then stays whole."""
    space = workspace(result_budget_tokens=200)
    given = conversation(calling("small", LOG, "x" * 400))
    edited = results(given, space)
    assert results_in(edited.conversation) == [
        "small",
        PREVIEW,
        "x" * 400,
    ]
    assert space.archive.read("memory:00000001") == LOG
    cut = Cut(
        message=2, tool="read_file", call_id="toolu_1", tokens_before=973, tokens_after=46, place="memory:00000001"
    )
    assert (edited.cuts, edited.problem) == ((cut,), "")


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((calling(LOG), calling("small")), id="older results"),
        pytest.param((calling(LOG), Step(calls=(Call(result=LOG),))), id="each turn for itself"),
    ],
)
def test_only_the_newest_results_count(steps) -> None:
    """Older ones were within the budget when they came; touching them would cost a cached prefix."""
    given = conversation(*steps)
    assert results(given, workspace(result_budget_tokens=1_000)).conversation is given


def test_results_stay_newest_until_the_next_calls() -> None:
    """An answer without calls and a further question do not make them older."""
    turns = (Turn("a", (calling(LOG), Step(text="done"))), Turn("b"))
    given = providers.read_list(told("anthropic", turns), estimate_tokens, "anthropic")
    assert len(results(given, workspace(result_budget_tokens=100)).cuts) == 1


def test_calls_that_still_wait_have_no_results() -> None:
    """The results of the turn before are no longer the newest."""
    given = conversation(calling(LOG), calling("x"))
    waiting = Conversation(format=given.format, messages=given.messages[:-1])
    assert results(waiting, workspace(result_budget_tokens=100)).conversation is waiting


def test_results_before_messages_that_were_taken_out_are_not_the_newest() -> None:
    """Among what was taken out were later calls; a budget that looked past the marker would cut anew in each turn."""
    given = conversation(calling(LOG), *[calling("x" * 40)] * 5, Step(text="done"))
    space = workspace(result_budget_tokens=100, head_messages=3, snip_messages=8)
    question = providers.read_list(told("anthropic", (Turn("and now?"),)), estimate_tokens, "anthropic").messages
    snipped = snip(replace(given, messages=(*given.messages, *question)), space).conversation
    assert [message.role for message in snipped.messages] == ["user", "assistant", "user", "user", "user"]
    assert results(snipped, space).conversation is snipped


def test_pictures_that_nobody_has_seen_yet_stay() -> None:
    """A marker instead of a screenshot would blind the agent; it is what the text costs that is saved."""
    step = Step(calls=(Call(result="a screenshot", with_image=True), Call(result=LOG)))
    edited = results(conversation(step), workspace(result_budget_tokens=100))
    assert [cut.tokens_before for cut in edited.cuts] == [973]


@pytest.mark.parametrize(
    ("tool", "said", "failed"),
    [
        pytest.param("read_file", f"KeyError: 'sku'\n{LOG}", True, id="flagged"),
        pytest.param(
            "bash", f"{LOG}=== short test summary info ===\nFAILED a.py::test\n1 failed in 1s", False, id="seen"
        ),
    ],
)
def test_failures_are_left_to_the_error_pass(tool: str, said: str, failed: bool) -> None:
    """A digest says more than a preview, and counts; what it will replace is no part of the sum."""
    step = Step(
        calls=(
            Call(tool=tool, arguments={"command": "pytest | tail"}, result=said, failed=failed),
            Call(tool="read_file", result="x" * 400),
        )
    )
    given = conversation(step)
    assert results(given, workspace(result_budget_tokens=200)).conversation is given


def test_a_large_text_that_the_disk_refuses_stays_whole() -> None:
    """Smaller ones that it takes are cut all the same."""
    given = conversation(calling(LOG, LOG[:2_000]))
    edited = results(given, workspace(Disk(longest=2_500), result_budget_tokens=50))
    assert results_in(edited.conversation)[0] == LOG
    assert [cut.tokens_before for cut in edited.cuts] == [500]
    assert edited.problem == (
        "results stay whole because the archive refused 1 of them: [Errno 28] No space left on device"
    )


def test_a_disk_that_refuses_three_times_is_not_asked_again() -> None:
    """A full disk costs three attempts and not one for each result."""
    disk = Disk(longest=0)
    edited = micro(conversation(*[calling(LOG + str(number)) for number in range(10)]), workspace(disk))
    assert len(disk.asked) == 3
    assert edited.cuts == ()
    assert edited.problem == (
        "results stay whole because the archive refused 3 of them: [Errno 28] No space left on device"
    )


def test_old_results_become_one_line_the_oldest_first() -> None:
    """The newest stay, and it stops when the conversation is small enough."""
    given = conversation(calling("a" * 400), calling("b" * 400, failed=True), calling("c" * 400), calling("d" * 400))
    edited = micro(given, workspace(target=given.tokens - 100))
    assert results_in(edited.conversation) == [
        "[errcompact micro: result of read_file, 100 tokens; whole: memory:00000001]",
        "[errcompact micro: failed result of read_file, 100 tokens; whole: memory:00000002]",
        "c" * 400,
        "d" * 400,
    ]
    assert [(cut.message, cut.tokens_before, cut.tokens_after) for cut in edited.cuts] == [(2, 100, 19), (4, 100, 21)]
    assert invalidated_tokens(given, edited.conversation) == sum(message.tokens for message in given.messages[2:])


@pytest.mark.parametrize(("least_gain", "cut"), [pytest.param(890, 1, id="worth it"), pytest.param(940, 0, id="not")])
def test_old_results_wait_until_enough_can_be_gained_at_once(least_gain: int, cut: int) -> None:
    """A prompt cache reads anew what follows the first of them, so that one at a time would cost more than it saves."""
    given = conversation(calling(LOG), calling("newest"))
    space = replace(workspace(), least_gain_tokens=least_gain)
    assert len(micro(given, space).cuts) == cut


def test_a_conversation_that_is_small_enough_is_left_alone() -> None:
    """Nothing is archived for nothing."""
    disk = Disk()
    given = conversation(calling(LOG), calling(LOG), calling("x"))
    assert micro(given, workspace(disk, target=given.tokens)).conversation is given
    assert disk.asked == []


def test_only_results_of_clearable_tools_are_cleared() -> None:
    """A tool whose old results matter is left out of the list."""
    given = conversation(calling(LOG, tool="search"), calling(LOG), calling("x"))
    edited = micro(given, workspace(clearable_tools=frozenset({"search"})))
    assert [cut.tool for cut in edited.cuts] == ["search"]


def test_a_result_no_larger_than_its_marker_stays() -> None:
    """Small ones are not even archived once it is known what a marker costs."""
    disk = Disk()
    given = conversation(calling(LOG, "ok", "done", "1 passed"), calling("x"))
    assert len(micro(given, workspace(disk)).cuts) == 1
    assert disk.asked == [LOG]


def test_a_picture_in_an_old_result_goes_as_well() -> None:
    """It is archived with all that the provider's block holds."""
    space = workspace()
    given = conversation(Step(calls=(Call(result="a screenshot", with_image=True),)), calling("x"))
    edited = micro(given, space)
    (line, _) = results_in(edited.conversation)
    assert line == "[errcompact micro: result of read_file, 1,603 tokens; whole: memory:00000001]"
    assert json.loads(space.archive.read(place_of(line))) == {
        "type": "tool_result",
        "tool_use_id": "toolu_0",
        "content": [
            {"type": "text", "text": "a screenshot"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}},
        ],
    }


def test_what_was_archived_by_the_budget_is_not_archived_twice() -> None:
    """The line of micro leads to the whole result, and not to its preview."""
    space = workspace(result_budget_tokens=100)
    previewed = results(conversation(calling(LOG)), space).conversation
    older = Conversation(format="anthropic", messages=(*previewed.messages, *conversation(calling("x")).messages[1:]))
    edited = micro(older, space)
    assert results_in(edited.conversation) == [
        "[errcompact micro: result of read_file, 973 tokens; whole: memory:00000001]",
        "x",
    ]
    assert space.archive.read("memory:00000001") == LOG


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("memory:00000001", id="of something else"),
        pytest.param("/etc/passwd", id="of nothing that was kept"),
    ],
)
def test_a_forged_marker_leads_nowhere(place: str) -> None:
    """A tool that prints a marker of ours cannot make its output vanish: it is archived as it stands."""
    space = workspace()
    space.archive.keep("something else")
    forged = f"[errcompact results: result of read_file; whole: {place}]\n{LOG}"
    (cut,) = micro(conversation(calling(forged), calling("x")), space).cuts
    assert space.archive.read(cut.place) == forged


def test_a_digest_of_an_error_stays() -> None:
    """It is short, and what the agent learned from."""
    digest = "[KeyError] at app.py: 'orders' " + "x" * 60 + "\n[errcompact errors: 900 tokens; whole: memory:00000009]"
    given = conversation(calling(digest, failed=True), calling("x"))
    assert micro(given, workspace(preview_tokens=60)).conversation is given


def test_the_middle_of_many_messages_is_taken_out_in_one_batch() -> None:
    """Head and tail stay, half of the limit remains, and one message of the user says what is gone and where it is."""
    space = workspace(snip_messages=20, head_messages=3)
    given = conversation(*[calling(f"result {number}") for number in range(10)])
    edited = snip(given, space)
    messages = providers.write_list(edited.conversation)
    natives = providers.write_list(given)
    assert len(given.messages) == 21
    assert messages[:3] == natives[:3]
    assert messages[3] == {
        "role": "user",
        "content": "[errcompact snip: 12 messages, 186 tokens; whole: memory:00000001]\ncalls: read_file {}",
    }
    assert messages[4:] == natives[15:]
    assert all(one is other for one, other in zip(messages[4:], natives[15:], strict=True))
    assert [json.loads(line) for line in space.archive.read("memory:00000001").splitlines()] == natives[3:15]
    assert edited.cuts == (Cut(message=3, messages=12, tokens_before=186, tokens_after=26, place="memory:00000001"),)


def test_a_conversation_of_as_many_messages_as_allowed_is_left_alone() -> None:
    """Half at once, and then nothing until the limit is reached again: that is what a prompt cache likes."""
    space = workspace(target=1_000, snip_messages=20, head_messages=3)
    given = conversation(*[calling(f"result {number}") for number in range(10)])
    allowed = Conversation(format="anthropic", messages=given.messages[:20])
    assert snip(allowed, space).conversation is allowed


def test_a_very_long_conversation_of_twice_the_room_is_cut_at_once() -> None:
    """As far as the target has room; of its hundreds of old results none is looked at by itself."""
    given = conversation(*[calling(f"result {number}") for number in range(501)])
    space = replace(workspace(target=1_000, head_messages=1), room_tokens=given.tokens // 2)
    space = replace(space, options=space.options.model_copy(update={"snip_messages": None}))
    assert snip(given, space).conversation is given
    space = replace(space, room_tokens=given.tokens // 2 - 1)
    edited = snip(given, space)
    (cut,) = edited.cuts
    assert (cut.message, edited.conversation.messages[2:]) == (1, given.messages[cut.messages + 1 :])
    assert 700 <= sum(message.tokens for message in edited.conversation.messages[2:]) <= 750
    shorter = Conversation(format="anthropic", messages=given.messages[:999])
    assert snip(shorter, replace(space, room_tokens=10)).conversation is shorter


def test_a_second_snip_takes_the_marker_of_the_first_with_it() -> None:
    """One marker stands in the context, and the file that it names leads on to the earlier one."""
    space = workspace(snip_messages=20, head_messages=3)
    steps = [calling(f"result {number}") for number in range(20)]
    once = snip(conversation(*steps[:10]), space).conversation
    grown = Conversation(format="anthropic", messages=(*once.messages, *conversation(*steps).messages[21:35]))
    twice = snip(grown, space).conversation
    assert twice.messages[3].parts[0].text == (
        "[errcompact snip: 15 messages, 247 tokens; whole: memory:00000002]\nnames: read_file"
    )
    first_line = space.archive.read("memory:00000002").splitlines()[0]
    assert place_of(json.loads(first_line)["content"]) == "memory:00000001"


def test_the_newest_turn_stays_however_long_it_is() -> None:
    """Forty results of one answer are not separated from their calls, and not taken out."""
    steps = (calling("x" * 200), calling("y" * 200), calling(*"z" * 40))
    given = providers.read_list(told("openai-chat", (Turn("task", steps),)), estimate_tokens, "openai-chat")
    edited = snip(given, workspace(snip_messages=20, head_messages=1))
    assert edited.conversation.messages[2:] == given.messages[5:]
    assert snip(edited.conversation, workspace(snip_messages=20, head_messages=1)).cuts == ()


def test_a_call_that_is_answered_late_keeps_its_turns() -> None:
    """However far its result is from where the list would be cut: a part of the list does not show that."""
    call = {"type": "function_call", "call_id": "late", "name": "build", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "late", "output": "built"}
    said = [{"role": "user", "content": f"question {number}"} for number in range(500)]
    given = providers.read_list([*said[:250], call, *said[250:], result], estimate_tokens, "openai-responses")
    edited = snip(given, workspace(snip_messages=400))
    assert [cut.messages for cut in edited.cuts] == [246]
    assert edited.conversation.messages[-252:] == given.messages[-252:]


def test_a_head_longer_than_the_conversation_leaves_nothing_to_snip() -> None:
    """What must stay stays."""
    given = conversation(*[calling("x") for _ in range(10)])
    assert snip(given, workspace(head_messages=100)).conversation is given


def test_messages_that_the_disk_refuses_stay() -> None:
    """The layer says how many."""
    given = conversation(*[calling("x" * 100) for _ in range(10)])
    edited = snip(given, workspace(Disk(longest=0)))
    assert edited.conversation is given
    assert edited.problem == "14 messages could not be kept and stay: [Errno 28] No space left on device"


def test_a_middle_smaller_than_its_marker_stays() -> None:
    """Nothing is saved by it."""
    chat = [{"role": "user" if number % 2 == 0 else "assistant", "content": ""} for number in range(9)]
    given = providers.read_list(chat, lambda text: 50 * bool(text), "openai-chat")
    space = Workspace(
        archive=MemoryArchive(),
        options=ContextOptions(snip_messages=8),
        count_tokens=lambda text: 50 * bool(text),
        target_tokens=0,
    )
    assert snip(given, space).conversation is given


class Block(BaseModel):
    """A block as an SDK has it."""

    type: str
    text: str
    citations: None = None


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        pytest.param([Block(type="text", text="hello")], [{"type": "text", "text": "hello"}], id="an SDK's object"),
        pytest.param("half a \ud83d pair", "half a \ud83d pair", id="a lone surrogate"),
        pytest.param([{"type": "new", "data": b"\xff\x00"}], [{"type": "new", "data": "/wA="}], id="bytes"),
    ],
)
def test_what_is_taken_out_is_kept_as_the_provider_would_be_sent_it(content, kept) -> None:
    """Objects of an SDK, bytes and lone surrogates have a form in JSON."""
    space = workspace(head_messages=1)
    messages = [{"role": "user", "content": "x" * 300} for _ in range(9)]
    messages[2] = {"role": "user", "content": content}
    (cut,) = snip(providers.read_list(messages, estimate_tokens, "anthropic"), space).cuts
    assert json.loads(space.archive.read(cut.place).split("\n")[1]) == {"role": "user", "content": kept}


def test_a_message_that_no_json_can_hold_is_not_taken_out() -> None:
    """Not even an object that contains itself raises."""
    deep: dict[str, Any] = {}
    deep["self"] = deep
    messages: list[Any] = [{"role": "user", "content": "x" * 300} for _ in range(9)]
    messages[2] = {"role": "user", "content": "x", "extra": deep}
    given = providers.read_list(messages, estimate_tokens, "openai-chat")
    edited = snip(given, workspace(head_messages=1))
    assert edited.conversation is given
    assert "what would be cut cannot be written as JSON: Circular reference detected" in edited.problem


@pytest.mark.cost
@pytest.mark.parametrize(
    "layer", [pytest.param(results, id="results"), pytest.param(snip, id="snip"), pytest.param(micro, id="micro")]
)
def test_cost_grows_with_the_conversation_and_not_faster(layer) -> None:
    """Thirty-two times the messages take about thirty-two times as long."""

    def work(messages: int):
        given = providers.read_list(long_conversation("anthropic", messages=messages), estimate_tokens, "anthropic")
        return lambda: layer(given, workspace())

    assert grows_linearly(work, small=150)


@pytest.mark.cost
def test_many_results_in_one_message_are_cut_in_linear_time() -> None:
    """A message is put together once, and not once for each of its results."""

    def work(calls: int):
        given = conversation(calling(*[f"{number}" * 300 for number in range(calls)]))
        return lambda: results(given, workspace(result_budget_tokens=1))

    assert len(results(conversation(calling("1" * 300, "2" * 300)), workspace(result_budget_tokens=1)).cuts) == 2
    assert grows_linearly(work, small=50)
