"""A summary takes the place of old turns only if it is one, and only after the transcript is kept."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.messages import Message, Part
from otel_errcompact_context.window.layers.requests import NO_TOOLS, SUMMARY_HEADINGS, SummaryRequest
from otel_errcompact_context.window.layers.summarising.checking import calls_a_tool, cut_analysis, names_task
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.compactions import NOTHING_CARRIED

if TYPE_CHECKING:
    from otel_errcompact_context.notes import Compaction, LayerNote

OPTIONS = ContextOptions(
    window_tokens=2_000,
    reserve_tokens=400,
    result_budget_tokens=1_500,
    head_messages=2,
    **NOTHING_CARRIED,
)
SUMMARY = "Task: mend the parser. Next step: run the tests."
SYSTEM = {"role": "system", "content": "You mend programs."}
TASK = {"role": "user", "content": "Mend the parser."}


def turns(first: int, last: int, size: int = 400) -> list[Any]:
    """Questions and answers, `size` characters each: 104 tokens."""
    return [
        {"role": role, "content": f"{role} {number} ".ljust(size, ".")}
        for number in range(first, last)
        for role in ("assistant", "user")
    ]


class Summariser:
    """Answers with what it is given, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> Any:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def window(summarize: Any, **more: Any) -> ContextWindow:
    return ContextWindow(
        more.pop("options", OPTIONS),
        archive=more.pop("archive", MemoryArchive()),
        count_tokens=estimate_tokens,
        summarize=summarize,
        **more,
    )


def summary_note(compaction: Compaction) -> LayerNote:
    return next(note for note in compaction.notes if note.layer == "summary")


LONG = [SYSTEM, TASK, *turns(0, 7)]
"""1,473 tokens, over the trigger of 1,440; the target is 960."""


def test_old_turns_become_one_message_of_the_user():
    """Task and newest turns stay, as the caller's own objects; the marker says what was cut and where it lies."""
    compaction = window(Summariser(SUMMARY)).compact(LONG)
    made = compaction.messages[2]
    assert made == {
        "role": "user",
        "content": f"[errcompact summary: 7 messages, 728 tokens; whole: memory:00000001]\n{SUMMARY}",
    }
    expected = [*LONG[:2], made, *LONG[9:]]
    assert all(ours is theirs for ours, theirs in zip(compaction.messages, expected, strict=True))
    note = summary_note(compaction)
    assert (note.reason, note.tokens_before, note.tokens_after, note.problem) == ("over_trigger", 1473, 779, "")
    assert note.invalidated_tokens == 1473 - 17


@pytest.mark.parametrize("behind", [0, 1])
def test_the_words_of_the_middle_have_their_room_where_the_newest_request_stands_behind_it(behind: int):
    """As they have where they are themselves the newest."""
    asked = f"Check these hosts: {', '.join(f'host-{number}.example.org' for number in range(40))}"
    turns_before = [{"role": "assistant", "content": f"step {number} ".ljust(400, ".")} for number in range(4)]
    middle = [
        *turns_before,
        {"role": "user", "content": asked},
        {"role": "assistant", "content": "Checked.".ljust(400)},
    ]
    newest = [{"role": "user", "content": "Now write the report.".ljust(4_800, ".")}] * behind
    large = [{"role": "assistant", "content": "w" * 4_800}] * (1 - behind)
    options = OPTIONS.model_copy(update={"window_tokens": 2_400, "target_share": 0.5, "words_share": 0.3})
    made = window(Summariser(SUMMARY), options=options).compact([TASK, *middle, *newest, *large]).messages
    assert str(made).count("example.org") == 40


def test_half_a_character_in_a_summary_is_written_out():
    """Or no client could send the list any more."""
    made = window(Summariser("The parser of the caf\udc80")).compact(LONG).messages[2]
    assert made["content"].endswith("\nThe parser of the caf\\udc80")


def test_the_request_has_all_that_is_needed():
    """Task and old turns as they are and as text, no tools, the place, and a limit."""
    summariser = Summariser(SUMMARY)
    window(summariser).compact(LONG, session="s-1")
    (request,) = summariser.requests
    assert all(ours is theirs for ours, theirs in zip(request.messages, LONG[:9], strict=True))
    assert request.tools == ()
    assert (request.format, request.session, request.place) == ("openai-chat", "s-1", "memory:00000001")
    assert (request.limit_tokens, request.replaced_tokens) == (120, 728)
    assert request.transcript.startswith("[system]\nYou mend programs.\n\n[user]\nMend the parser.\n\n[assistant]\n")
    assert request.prompt == f"{NO_TOOLS}\n\n{request.transcript}\n\n{request.instructions}"
    assert request.instructions.startswith(NO_TOOLS)
    assert request.instructions.endswith(NO_TOOLS)
    for word in (
        *(f"- {heading}: " for heading in SUMMARY_HEADINGS),
        "Do not call a tool",
        "120",
        "memory:00000001",
    ):
        assert word in request.instructions


def test_the_transcript_is_kept_before_anybody_is_asked():
    """As JSON lines, whole, at the place that the request names."""
    archive = MemoryArchive()
    read: list[list[Any]] = []

    def summarize(request: SummaryRequest) -> str:
        read.append([json.loads(line) for line in archive.read(request.place).splitlines()])
        return SUMMARY

    window(summarize, archive=archive).compact(LONG)
    assert read == [LONG[2:9]]


def test_nobody_is_asked_if_the_transcript_cannot_be_kept():
    """A full disk costs a summary and not the conversation."""
    summariser = Summariser(SUMMARY)
    compaction = window(summariser, archive=MemoryArchive(max_characters=10)).compact(LONG)
    assert summariser.requests == []
    assert compaction.messages == LONG
    assert summary_note(compaction).problem.startswith("nothing was summarised, for the transcript could not be kept: ")


def test_a_refused_summary_is_asked_for_until_three_were():
    """Each attempt is a call of a model; another conversation is not held up."""
    summariser = Summariser("", "", "", SUMMARY)
    one = window(summariser)
    problems = [summary_note(one.compact(LONG, session=session)).problem for session in ("a", "a", "a", "a", "b")]
    paused = "nobody was asked, for summaries have failed 3 times in a row; again after 60 s"
    assert problems == [*["the summary is empty"] * 3, paused, ""]
    assert len(summariser.requests) == 4


CALL = '{"name": "run_tests", "arguments": {"path": "tests"}}'


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        pytest.param("", "the summary is empty", id="empty"),
        pytest.param(" \n", "the summary is empty", id="blank"),
        pytest.param("x" * 481, "the summary costs 121 tokens, more than the 120 it may", id="too long"),
        pytest.param("<tool_use>\n<name>ls</name>", "the summary calls a tool", id="tool_use as text"),
        pytest.param(f"Task: x\n```json\n{CALL}\n```", "the summary calls a tool", id="JSON in a fence"),
        pytest.param(None, "the summariser returned NoneType; return a text, or the provider's messages", id="None"),
        pytest.param([], "the summariser returned list; return a text, or the provider's messages", id="no messages"),
        pytest.param(TimeoutError("30 s"), "the summariser failed: TimeoutError: 30 s", id="raised"),
        pytest.param(
            [{"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]}],
            "the summary calls a tool", id="a native call",
        ),
        pytest.param(
            [{"role": "assistant", "content": "x" * 4000}],
            "the summary costs 1032 tokens, not a tenth less than the 728 that it would replace", id="longer",
        ),
        pytest.param(
            [{"role": "assistant", "content": "x" * 2900}],
            "the summary costs 757 tokens, not a tenth less than the 728 that it would replace", id="hardly shorter",
        ),
        pytest.param([42], "the summariser returned messages that cannot be read", id="no messages at all"),
    ],
)  # fmt: skip
def test_what_is_no_summary_is_refused(answer, problem):
    """The conversation stays as it was, the note says why, and the agent goes on."""
    compaction = window(Summariser(answer)).compact(LONG)
    assert compaction.messages == LONG
    assert summary_note(compaction).problem.startswith(problem)
    assert summary_note(compaction).cuts == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<function_calls>\n<invoke name='ls'>", id="function_calls"),
        pytest.param("Let me look.\n  <invoke name='ls'>", id="invoke, indented"),
        pytest.param("<|python_tag|>ls()", id="python_tag"),
        pytest.param("[TOOL_CALLS][{}]", id="TOOL_CALLS"),
        pytest.param("```tool_code\nls()\n```", id="tool_code"),
        pytest.param("<tool_call>{}</tool_call>", id="tool_call"),
        pytest.param(CALL, id="a call as JSON"),
        pytest.param(f"[{CALL}]", id="a list of calls"),
        pytest.param('{"tool_calls": []}', id="a message"),
        pytest.param('{"type": "tool_use", "id": "x"}', id="a block"),
        pytest.param('{"functionCall": {}}', id="Gemini's part"),
        pytest.param('{"a": 1}\n{"type": "function_call"}', id="the second value"),
    ],
)
def test_a_tool_call_is_recognised_as_text(text):
    """In the forms in which models write calls that they must not make."""
    assert calls_a_tool(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Open errors: the parser fails at <tool_use> in line 3.", id="in a sentence"),
        pytest.param('The call {"name": "ls", "input": {}} failed.', id="JSON in a sentence"),
        pytest.param('{"name": "errcompact", "version": "1"}', id="a package file"),
        pytest.param("{not json\n[neither", id="no JSON"),
        pytest.param("[1, 2]\n3", id="a list of numbers"),
        pytest.param("[" * 100_000, id="deeply nested"),
    ],
)
def test_speaking_of_a_tool_call_is_none(text):
    """Files of an agent's project may well hold such words."""
    assert not calls_a_tool(text)


def test_a_later_summary_takes_in_the_earlier_one():
    """It stands in the place of the first one, whose text was among what it was made from."""
    summariser = Summariser("The FIRST summary: mend the parser.", "The SECOND summary: mend the parser.")
    one = window(summariser)
    first = one.compact(LONG)
    second = one.compact([*first.messages, *turns(7, 12)])
    assert "The FIRST summary: mend the parser." in summariser.requests[1].transcript
    assert second.messages[:2] == LONG[:2]
    texts = [str(message["content"]) for message in second.messages]  # type: ignore[index]
    assert [text for text in texts if "summary" in text] == [
        "[errcompact summary: 11 messages, 1,070 tokens; whole: memory:00000002]\nThe SECOND summary: mend the parser."
    ]


def test_a_summary_is_not_summarised_alone():
    """Where nothing but the last turn has come since, nobody is asked."""
    summariser = Summariser(SUMMARY)
    one = window(summariser)
    first = one.compact([SYSTEM, TASK, *turns(0, 3), *turns(3, 4, size=4_400)])
    assert one.compact(first.messages, reason="asked").messages == first.messages
    assert len(summariser.requests) == 1


def test_a_provider_s_own_compaction_is_taken_as_it_is():
    """Where the answer is messages of the provider, they follow the marker."""
    items = [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}]
    given = [TASK, *turns(0, 7), {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}]
    given.append({"type": "function_call_output", "call_id": "c", "output": "a.py"})
    compaction = window(Summariser(items)).compact(given)
    where = compaction.messages.index(items[0])
    assert compaction.messages[where] is items[0]
    assert str(compaction.messages[where - 1]).count("[errcompact summary: ") == 1
    assert compaction.problems == ()


def test_an_asynchronous_summariser_is_awaited():
    """By a loop of its own where there is none."""

    async def summarize(_: SummaryRequest) -> str:
        await asyncio.sleep(0)
        return SUMMARY

    one = window(summarize)
    assert one.compact(LONG).messages == asyncio.run(one.acompact(LONG)).messages
    assert summary_note(one.compact(LONG)).problem == ""


async def test_a_running_loop_is_not_held_up():
    """The synchronous form says what to use instead."""

    async def summarize(_: SummaryRequest) -> str:
        raise NotImplementedError

    compaction = window(summarize).compact(LONG)
    assert summary_note(compaction).problem.endswith("asynchronous: use `await window.acompact(...)`")
    assert compaction.messages == LONG


async def test_a_synchronous_summariser_does_not_hold_up_the_loop():
    """It runs in a thread, so that others go on."""
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()

    def summarize(_: SummaryRequest) -> str:
        return asyncio.run_coroutine_threadsafe(_wait(), loop).result(60)

    async def _wait() -> str:
        ready.set()
        return SUMMARY

    compaction = await window(summarize).acompact(LONG)
    assert ready.is_set()
    assert summary_note(compaction).problem == ""


async def test_a_synchronous_summariser_needs_no_thread_of_the_loop_s_pool():
    """Those may all be waiting for this very compaction to end, and then nothing would move any more."""
    over = threading.Event()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    waiting = asyncio.create_task(asyncio.to_thread(over.wait, 10))
    await asyncio.sleep(0)
    try:
        compaction = await asyncio.wait_for(window(Summariser(SUMMARY)).acompact(LONG), 5)
    finally:
        over.set()
        await waiting
    assert summary_note(compaction).cuts


async def test_what_an_asynchronous_summariser_raises_is_a_problem():
    """The agent goes on."""

    async def summarize(_: SummaryRequest) -> str:
        raise ConnectionError("refused")

    one = window(summarize)
    compaction = await one.acompact(LONG)
    assert summary_note(compaction).problem == "the summariser failed: ConnectionError: refused"
    assert one.guard.failures == {"summarize": 1}


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        pytest.param("<analysis>first the parser</analysis>\n<summary>\nMend it.\n</summary>", "Mend it.", id="both"),
        pytest.param("<ANALYSIS>a</ANALYSIS>Mend it.", "Mend it.", id="no tags around the summary"),
        pytest.param("<analysis>never closed\n<summary>Mend it.", "Mend it.", id="neither is closed"),
        pytest.param("<analysis>nothing but this", "", id="an analysis alone"),
        pytest.param("Mend it.", "Mend it.", id="neither"),
        pytest.param("We speak of <summary> here.</p>", "here.</p>", id="a tag in a sentence"),
    ],
)
def test_the_analysis_is_cut_off(answer, summary):
    """What the model notes for itself is no part of the summary."""
    assert cut_analysis(answer) == summary


def test_a_summary_that_forgets_the_task_is_refused():
    """None of the task's words stands in it: whoever takes over would not know what for."""
    compaction = window(Summariser("All is well with the weather.")).compact(LONG)
    assert compaction.messages == LONG
    assert summary_note(compaction).problem == "the summary does not name the task"


@pytest.mark.parametrize(
    ("text", "tasks", "named"),
    [
        pytest.param("Parsers were mended.", ["Mend the parser."], True, id="another form of the word"),
        pytest.param("The weather is fine.", ["Mend the parser."], False, id="none of its words"),
        pytest.param("The weather is fine.", ["Go on."], True, id="a task of few words says nothing"),
        pytest.param("The weather is fine.", ["修复解析器并运行所有测试"], True, id="a script without blanks"),
        pytest.param("Now the invoices.", ["Mend the parser.", "Then print all invoices."], True, id="the newest task"),
        pytest.param("The weather is fine.", [], True, id="no task"),
    ],
)
def test_a_task_is_named_by_any_of_its_words(text, tasks, named):
    """Unknown counts as named."""
    said = [Message("user", (Part("text", task, 1),), 1) for task in tasks]
    assert names_task(text, said) is named


def test_a_prompt_that_is_too_long_is_asked_again_with_fewer_turns():
    """The oldest go first, half at a time, and the prompt says how many and where they are."""
    too_long = RuntimeError("prompt is too long: 250000 tokens > 200000 maximum")
    summariser = Summariser(too_long, SUMMARY)
    compaction = window(summariser).compact(LONG)
    first, second = summariser.requests
    assert "assistant 0 ..." in first.transcript
    assert "assistant 0 ..." not in second.transcript
    assert "[4 messages of the oldest turns are left out here: they are kept at memory:00000001]" in second.transcript
    assert second.messages == (*LONG[:2], *LONG[6:9])
    assert second.transcript.startswith("[system]\nYou mend programs.\n\n[user]\nMend the parser.\n\n[4 messages")
    note = summary_note(compaction)
    assert (note.problem, note.cuts[0].messages) == ("", 7)


def test_a_summariser_that_takes_nothing_is_asked_three_times():
    """Then the list stays as it is, and the note says why."""
    summariser = Summariser(RuntimeError("prompt is too long: 250000 tokens > 200000 maximum"))
    compaction = window(summariser).compact(LONG)
    assert len(summariser.requests) == 3
    assert summary_note(compaction).problem.startswith("the summariser failed: RuntimeError: prompt is too long")


def test_one_turn_that_is_too_long_is_not_asked_again():
    """There is nothing that could be left out."""
    summariser = Summariser(RuntimeError("prompt is too long: 250000 tokens > 200000 maximum"))
    window(summariser).compact([SYSTEM, TASK, *turns(0, 1, size=4_000)[:1], *turns(1, 4)[1:]])
    assert len(summariser.requests) == 1


def test_a_prompt_beyond_the_window_is_shortened_before_anybody_is_asked():
    """An estimate says so: the same window is all that most summarisers have."""
    summariser = Summariser(SUMMARY)
    window(summariser).compact([SYSTEM, TASK, *turns(0, 40)], reason="asked")
    (request,) = summariser.requests
    assert "messages of the oldest turns are left out here" in request.transcript
    assert estimate_tokens(request.prompt) <= 2_000 - request.limit_tokens


def test_a_result_that_was_cut_before_is_summarised_as_it_came():
    """The archive has it: the summariser reads no markers."""
    summariser = Summariser(SUMMARY)
    wide = {"window_tokens": 6_000, "trigger_share": 0.25, "target_share": 0.17}
    options = OPTIONS.model_copy(update={"result_budget_tokens": 100, "preview_tokens": 20, **wide})
    one = window(summariser, options=options)
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "\n".join(f"line {number}" for number in range(200))}
    first = one.compact([SYSTEM, TASK, {"role": "assistant", "content": None, "tool_calls": [call]}, result])
    assert first.messages[3]["content"].startswith("[errcompact results: ")  # type: ignore[index]
    one.compact([*first.messages, *turns(0, 7)])
    (request,) = summariser.requests
    assert "\nline 100\n" in request.transcript
    assert "[errcompact" not in request.transcript


def test_the_archive_of_a_cut_result_may_be_gone():
    """Then what is left of it is summarised."""
    archive = MemoryArchive()
    summariser = Summariser(SUMMARY)
    line = "[errcompact micro: result of read, 900 tokens; whole: memory:gone]"
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": line}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    window(summariser, archive=archive).compact([SYSTEM, TASK, asked, result, *turns(0, 7)])
    assert line in summariser.requests[0].transcript


def test_the_headings_are_the_caller_s():
    """Others than the nine."""
    summariser = Summariser(SUMMARY)
    window(summariser, headings={"Patient": "who, and what for"}).compact(LONG)
    (request,) = summariser.requests
    assert "- Patient: who, and what for." in request.instructions
    assert "- Files: " not in request.instructions
    assert len(SUMMARY_HEADINGS) == 9


def test_an_earlier_summary_is_shown_however_long_the_prompt():
    """A prompt that is too long loses its oldest turns, and keeps the summary of the turns before them."""
    earlier = {"role": "user", "content": f"[errcompact summary: 7 messages, 728 tokens; whole: memory:9]\n{SUMMARY}"}
    summariser = Summariser(SUMMARY)
    window(summariser).compact([SYSTEM, TASK, earlier, *turns(0, 20)])
    prompt = summariser.requests[0].prompt
    assert SUMMARY in prompt
    assert "messages of the oldest turns are left out here" in prompt
    assert prompt.index(SUMMARY) < prompt.index("are left out here")
