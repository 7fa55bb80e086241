"""The error pass: digests for raw errors, one line for resolved ones, short inputs for failed calls."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest import DigestOptions
from otel_errcompact.digest.tokens import estimate_mixed_tokens, estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.messages import Conversation, FormatName
from otel_errcompact_context.window.layers import Edited, Workspace
from otel_errcompact_context.window.layers.errors import errors
from otel_errcompact_context.window.schedule import BATCH_TOKENS
from packages.context.tests.conversations import FORMATS, LISTS_PER_LAW, Call, Step, Turn, broken_conversations, told
from packages.context.tests.window.pairing import pairs_of


def traceback(cause: str = "KeyError: 'orders'", frames: int = 30) -> str:
    """A traceback of a few hundred tokens."""
    lines = (f'  File "/srv/shop/m{n}.py", line {n}, in f{n}\n    return f{n + 1}(order)\n' for n in range(frames))
    return f"Traceback (most recent call last):\n{''.join(lines)}{cause}\n"


def workspace(archive: Any = None, count_tokens: Any = estimate_tokens) -> Workspace:
    return Workspace(
        archive=archive or MemoryArchive(), options=ContextOptions(), count_tokens=count_tokens, target_tokens=100_000
    )


def conversation(*calls: Call, format: FormatName = "anthropic") -> Conversation:
    """A task and one answer of the model for each call."""
    steps = tuple(Step(calls=(call,)) for call in calls)
    return providers.read_list(told(format, (Turn("mend the shop", steps),)), estimate_tokens, format)


def failed(result: str = "", tool: str = "run_tests", **arguments: object) -> Call:
    return Call(tool, arguments, result or traceback(), failed=True)


def fine(tool: str = "run_tests", **arguments: object) -> Call:
    return Call(tool, arguments, "12 passed")


def results(edited: Edited | Conversation) -> list[str]:
    """What the model reads of each call."""
    whole = edited.conversation if isinstance(edited, Edited) else edited
    return [part.text for message in whole.messages for part in message.parts if part.kind == "result"]


def written_and_read(edited: Edited) -> Conversation:
    """The conversation as the application keeps it."""
    return providers.read_list(providers.write_list(edited.conversation), estimate_tokens, edited.conversation.format)


FIRST = (
    "[KeyError] at f29 (/srv/shop/m29.py:29): 'orders' #e544\n"
    "  | > return f30(order)\n"
    "[errcompact errors: #e544 KeyError x1, 492 tokens; whole: memory:00000001]"
)


@pytest.mark.parametrize("format", FORMATS)
def test_a_raw_error_becomes_a_digest_with_the_place_of_the_whole(format: FormatName) -> None:
    """The model reads what it needs, and where the rest is; flagged or plainly a failure, in every format."""
    archive = MemoryArchive()
    edited = errors(conversation(failed(), format=format), workspace(archive))
    (text,) = results(edited)
    assert text.splitlines()[0].startswith("[KeyError] at f29 (/srv/shop/m29.py:29): 'orders'")
    (cut,) = edited.cuts
    assert archive.read(cut.place) == traceback()
    assert (cut.message, cut.tool, cut.tokens_after) == (2, "run_tests", estimate_tokens(text))
    assert text.endswith(f"; whole: {cut.place}]")


def test_a_repeat_says_little_and_what_is_new() -> None:
    """The engine is that of the boundaries: full at first sight, short with a count afterwards."""
    moved = traceback().replace("line 29,", "line 30,")
    texts = results(errors(conversation(failed(), failed(), failed(moved)), workspace()))
    assert [text.splitlines()[0] for text in texts] == [
        FIRST.splitlines()[0],
        "[KeyError] at f29 (/srv/shop/m29.py:29): 'orders' #e544 again (x2, 2 in a row)",
        "[KeyError] at f29 (/srv/shop/m29.py:30): 'orders' #e544 again (x3, 3 in a row), now line 30",
    ]
    assert texts[0] == FIRST


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(failed("KeyError: 'orders'"), id="a short error"),
        pytest.param(failed(f"The user doesn't want to run this. {'Ask first. ' * 60}"), id="declined by the user"),
        pytest.param(failed(f"Sibling tool call errored {'x' * 500}"), id="a sibling call failed"),
        pytest.param(failed("No matches found", tool="grep"), id="a search without a match"),
        pytest.param(Call("read_file", {}, traceback()), id="a file that holds a traceback"),
        pytest.param(Call("run_tests", {}, "all is well\n" * 100), id="a success"),
        pytest.param(failed(traceback(), tool="audit"), id="a verbatim tool"),
        pytest.param(Call("run_tests", {}, traceback(), failed=True, with_image=True), id="with an image"),
        pytest.param(failed(f"{FIRST.splitlines()[0]}\n  | {'more ' * 100}"), id="a digest of a boundary"),
        pytest.param(failed(f"KeyError #e544 again (x2)\n{'more ' * 100}"), id="a repeat of a boundary"),
        pytest.param(
            failed(f"[KeyError] at get (shop.py:8): 'sku' #e544 again (x2, 2 in a row)\n{'  | more ' * 100}"),
            id="a repeat that a boundary tells whole",
        ),
        pytest.param(failed(f"NOT EXECUTED: this exact call has failed 3 times. {'x' * 500}"), id="a refusal"),
    ],
)
def test_what_is_no_long_raw_error_is_left_alone(call: Call) -> None:
    """The very same conversation comes back, and nothing is archived."""
    archive = MemoryArchive(max_characters=0)
    before = conversation(call)
    given = replace(workspace(archive), digest=DigestOptions(verbatim_tools=frozenset({"audit"})))
    assert errors(before, given) == Edited(before)
    assert errors(before, given).conversation is before


def test_a_failure_that_its_tool_did_not_report_is_recognised() -> None:
    """Most large errors come through a pipe, which loses the exit status."""
    hidden = conversation(Call("bash", {"command": "python shop.py | tail"}, traceback()))
    (text,) = results(errors(hidden, workspace()))
    assert text.startswith("[KeyError] at f29 (/srv/shop/m29.py:29): 'orders' #e544")
    assert errors(hidden, replace(workspace(), hidden_failures=False)).conversation is hidden


def test_untouched_messages_are_the_callers_own() -> None:
    """Only the message with the error is new; its native object is not changed."""
    messages = told("anthropic", (Turn("go", (Step(calls=(fine(),)), Step(calls=(failed(),)))),))
    before = json.dumps(messages)
    after = providers.write_list(errors(providers.read_list(messages, estimate_tokens), workspace()).conversation)
    assert json.dumps(messages) == before
    assert [new is old for new, old in zip(after, messages, strict=True)] == [True, True, True, True, False]
    assert after[4]["content"][0]["is_error"] is True  # type: ignore[index]


# Resolved errors.


def many_failures(number: int = 24) -> list[Call]:
    """Failures of as many classes, in one operation, whose digests together are worth a batch."""
    return [failed(traceback(f"KeyError: {'key_' + chr(97 + n) * 300!r}")) for n in range(number)]


def test_a_resolved_error_says_what_ran_before_the_same_call_had_no_error() -> None:
    """What failed in between is left out; of another call of the operation nothing more is said."""
    between = (fine("read_file"), failed("exit code 1", "bash", command="make"), fine("setup_redis"))
    given = replace(workspace(), batch_tokens=1)
    first = failed(traceback(f"KeyError: {'key_' * 30!r}"), suite="a")
    again = results(errors(conversation(first, *between, fine(suite="a")), given))
    said = "KeyError x1, resolved: ran read_file, setup_redis, then the same call returned without an error, "
    assert said in again[0]
    wider = failed(tool="bash", command="pytest tests/a.py"), fine("bash", command="pytest")
    wide = results(errors(conversation(*wider), replace(workspace(), batch_tokens=1)))
    assert ", resolved since, " in wide[0]


def test_resolved_errors_become_one_line_once_that_is_worth_a_prompt_cache() -> None:
    """The proof is a later success of the same operation; the line names the class and the place of the raw error."""
    archive = MemoryArchive()
    edited = errors(conversation(*many_failures(), fine()), replace(workspace(archive), batch_tokens=1_500))
    texts = results(edited)
    assert texts[0].startswith(
        "[errcompact errors: #c8e0 KeyError x1, resolved: the same call returned without an error, 566 tokens; "
    )
    assert texts[0].endswith("whole: memory:00000001]")
    assert all("resolved: the same call returned without an error" in text and "\n" not in text for text in texts[:-1])
    assert texts[-1] == "12 passed"
    assert [archive.read(cut.place) for cut in edited.cuts] == [call.result for call in many_failures()]


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(many_failures(), id="no success"),
        pytest.param([*many_failures(), fine("read_file")], id="a success of another operation"),
        pytest.param([*many_failures(), Call("run_tests", {}, "The user doesn't want to")], id="declined"),
        pytest.param([fine(), *many_failures()], id="an earlier success"),
        pytest.param([*many_failures(3), fine()], id="too little for a batch"),
    ],
)
def test_without_proof_or_for_little_gain_digests_stay(calls: list[Call]) -> None:
    """A guess that an error is over could hide the one that matters."""
    assert ", resolved" not in "".join(results(errors(conversation(*calls), workspace())))


def test_what_may_have_taken_effect_is_never_resolved() -> None:
    """The answer that did not come may have been a payment; also where its digest is read again."""
    given = replace(workspace(), batch_tokens=1)
    timeout = failed(traceback("TimeoutError: no answer"), "charge", customer="a")
    pending = Call("charge", {"customer": "a"}, '{"status": "pending"}')
    digest = results(errors(conversation(timeout, pending), given))[0]
    assert digest.startswith("[TimeoutError] at f29 (/srv/shop/m29.py:29): no answer #")
    digested = timeout._replace(result=digest)
    assert results(errors(conversation(digested, pending), replace(given, states={})))[0] == digest


def test_a_class_that_failed_again_is_not_pruned() -> None:
    """It is not over; the classes that are not seen again are."""
    again = [*many_failures(8), fine(), many_failures(1)[0], *many_failures(25)[8:], fine("read_file")]
    texts = results(errors(conversation(*again), workspace()))
    assert ", resolved" not in "".join(texts)
    assert "#c8e0 again (x2)" in texts[9].splitlines()[0]


def test_what_fails_again_after_it_was_pruned_is_told_whole() -> None:
    """A repeat refers to a text that stands in the context, and that one is gone."""
    given = replace(workspace(), batch_tokens=1_500)
    texts = results(errors(conversation(*many_failures(), fine(), many_failures()[0]), given))
    assert ", resolved: " in texts[0]
    assert texts[-1].startswith("[KeyError] at f29 (/srv/shop/m29.py:29): 'key_aaa")


# Inputs.


def huge_call() -> Call:
    return failed("file not read yet", tool="write_file", path="/a.py", content="def f(): pass\n" * 900)


@pytest.mark.parametrize("format", FORMATS)
def test_a_huge_input_of_a_failed_call_is_shortened_when_it_is_old(format: FormatName) -> None:
    """It stays valid JSON, names the place of the whole, and is whole while the model may send it again."""
    calls = [huge_call(), fine("ls"), fine("ls"), fine("ls"), fine("ls")]
    if format != "anthropic":
        calls[0] = calls[0]._replace(result="Error: file not read yet " + "x" * 400)
    young, archive = conversation(*calls[:4], format=format), MemoryArchive()
    assert not [cut for cut in errors(young, workspace(archive)).cuts if cut.message == 1]
    old = conversation(*calls, format=format)
    edited = errors(old, workspace(archive))
    (cut,) = [cut for cut in edited.cuts if cut.message == 1]
    call = edited.conversation.messages[1].parts[-1]
    arguments = json.loads(call.text)
    assert arguments["path"] == "/a.py"
    assert "\n[errcompact errors: 1" in arguments["content"]
    assert f" characters of the input; whole: {cut.place}]" in arguments["content"]
    assert json.loads(archive.read(cut.place)) == huge_call().arguments
    assert estimate_tokens(call.text) < 400
    assert cut.tool == "write_file"
    assert providers.find_problems(edited.conversation) == providers.find_problems(old)


def test_a_huge_input_of_a_call_that_succeeded_stays() -> None:
    """What was written is what the model goes on from."""
    before = conversation(huge_call()._replace(failed=False, result="written"), *[fine("ls")] * 8)
    assert errors(before, workspace()).conversation is before


# What must hold whatever comes.

_CALLS = st.builds(
    Call,
    tool=st.sampled_from(["run_tests", "bash", "write_file", "search"]),
    arguments=st.sampled_from([{}, {"command": "pytest -q"}, {"command": "ls"}, huge_call().arguments]),
    result=st.sampled_from(
        [traceback(), traceback("ValueError: 7"), traceback(frames=30), "12 passed", "Error: no", traceback()[:420]]
        + [call.result for call in many_failures(3)]
        + ["FAILED tests/test_a.py::test_a - assert 1 == 2\n" * 20, "KeyError #e544 again (x2)", "\x00\u202e" * 300]
    ),
    failed=st.booleans(),
)
_TURNS = st.lists(
    st.builds(
        Turn, user=st.just("go on"), steps=st.lists(st.builds(Step, calls=st.tuples(_CALLS)), max_size=14).map(tuple)
    ),
    min_size=1,
    max_size=3,
).map(tuple)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("count_tokens", [estimate_tokens, estimate_mixed_tokens])
@settings(max_examples=LISTS_PER_LAW, deadline=None)
@given(turns=_TURNS)
def test_laws(format: FormatName, count_tokens: Any, turns: tuple[Turn, ...]) -> None:
    """Valid as before, never larger, all of it to be read back, and a second run finds nothing to do."""
    archive = MemoryArchive()
    before = providers.read_list(told(format, turns), count_tokens, format)
    space = workspace(archive, count_tokens)
    edited = errors(before, space)
    after = edited.conversation
    assert providers.find_problems(after) == providers.find_problems(before)
    assert pairs_of(after.messages) == pairs_of(before.messages)
    assert after.tokens == before.tokens - sum(cut.tokens_before - cut.tokens_after for cut in edited.cuts)
    assert all(cut.tokens_after < cut.tokens_before for cut in edited.cuts)
    originals = {part.text for message in before.messages for part in message.parts}
    assert all(archive.read(cut.place) in originals for cut in edited.cuts)
    again = providers.read_list(providers.write_list(after), count_tokens, format)
    assert errors(again, space).conversation is again
    assert errors(before, space) == edited


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=LISTS_PER_LAW, deadline=None)
@given(data=st.data())
def test_broken_lists_are_made_no_worse(format: FormatName, data: st.DataObject) -> None:
    """Orphans, ids twice, calls without an answer: nothing is lost and nothing raises."""
    before = providers.read_list(data.draw(broken_conversations(format)), estimate_tokens, format)
    after = errors(before, workspace()).conversation
    assert providers.find_problems(after) == providers.find_problems(before)
    assert after.tokens <= before.tokens


@settings(max_examples=LISTS_PER_LAW, deadline=None)
@given(turns=_TURNS)
def test_appending_leaves_what_was_compacted_as_it_was(turns: tuple[Turn, ...]) -> None:
    """A prompt cache keeps its prefix but for batches, each of which gains at least what it is to gain."""
    archive, messages = MemoryArchive(), told("anthropic", turns)
    lists: list[list[object]] = []
    for length in range(1, len(messages) + 1):
        read = providers.read_list(messages[:length], estimate_tokens, "anthropic")
        edited = errors(read, workspace(archive))
        lists.append(providers.write_list(edited.conversation))
    for shorter, longer in pairwise(lists):
        common = providers.read_list(longer[: len(shorter)], estimate_tokens, "anthropic").tokens
        gained = providers.read_list(shorter, estimate_tokens, "anthropic").tokens - common
        assert longer[: len(shorter)] == shorter or gained >= BATCH_TOKENS - 200


def test_the_applications_own_state_is_compacted_on_from_where_it_was() -> None:
    """A list that was compacted before, with a raw error at its end, knows the class, its count and its evidence."""
    archive = MemoryArchive()
    kept = written_and_read(errors(conversation(failed(), failed()), workspace(archive)))
    moved = conversation(failed(traceback().replace("line 29,", "line 30,")))
    longer = Conversation(format="anthropic", messages=(*kept.messages, *moved.messages[1:]))
    texts = results(errors(longer, workspace(archive)))
    assert texts[:2] == results(kept)
    third = "[KeyError] at f29 (/srv/shop/m29.py:30): 'orders' #e544 again (x3, 3 in a row), now line 30"
    assert texts[2].splitlines()[0] == third


def test_an_archive_that_lost_the_raw_error_costs_the_evidence_only() -> None:
    """The class and its count stand in the list."""
    kept = written_and_read(errors(conversation(failed()), workspace()))
    longer = Conversation(format="anthropic", messages=(*kept.messages, *conversation(failed()).messages[1:]))
    again = "[KeyError] at f29 (/srv/shop/m29.py:29): 'orders' #e544 again (x2, 2 in a row)\n"
    assert results(errors(longer, workspace()))[1].startswith(again)


def test_a_full_disk_leaves_errors_whole_and_says_so() -> None:
    """Nothing is cut that is not kept, and nothing raises."""
    before = conversation(*many_failures(6), fine())
    edited = errors(before, workspace(MemoryArchive(max_characters=0)))
    assert edited.conversation is before
    assert edited.problem == (
        "errors stay whole because the archive refused 3 of them: "
        "[Errno 28] cannot keep 2,263 characters in memory: 0 are free"
    )
