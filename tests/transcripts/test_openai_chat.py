"""What is read of chat messages and tau-bench results."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.transcripts import RecordedCall, read

FIRST_NS = 946_684_800_000_000_000
MS = 1_000_000


def read_document(folder, value):
    """Write a document and read it."""
    path = folder / "chat.json"
    path.write_text(json.dumps(value))
    return list(read(path, on_problem=pytest.fail))


def call(call_id, arguments="{}"):
    """Make a tool call."""
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}


def test_calls_are_paired_by_id(sample):
    """Results may come in another order than the calls; made-up times are a millisecond apart."""
    (run,) = sample("chat.json")
    assert run.calls[1:] == (
        RecordedCall(
            tool="get_user",
            call_id="call_3",
            arguments='{"name": "Ada"}',
            result='{"id": 7}',
            start_ns=FIRST_NS + 3 * MS,
            end_ns=FIRST_NS + 4 * MS,
            line=2,
            context_tokens=44,
        ),
        RecordedCall(
            tool="get_order",
            call_id="call_2",
            arguments='{"order_id": "#W17"}',
            result='{"status": "shipped"}',
            start_ns=FIRST_NS + 2 * MS,
            end_ns=FIRST_NS + 5 * MS,
            line=3,
            context_tokens=50,
        ),
    )


def test_plain_chats_say_nothing_of_failures(sample):
    """In a plain chat a result that begins with `Error:` is not flagged: the format has no such rule."""
    (run,) = sample("chat.json")
    assert (run.calls[0].result, run.calls[0].flagged) == ("Error: order not found", None)


def test_tau_bench_marks_failures_by_their_beginning(sample):
    """In tau-bench `Error:` at the beginning marks a failure; its absence promises nothing."""
    run = sample("tau_bench.json")[0]
    assert [one.flagged for one in run.calls] == [True, None, None]


def test_a_tau_bench_run_is_a_trial_of_a_task(sample):
    """A run is named by task and trial and ends with its reward."""
    assert [(run.run_id, run.agent, run.outcome, len(run.calls)) for run in sample("tau_bench.json")] == [
        ("3.0", "tau-bench", "reward 1", 3),
        ("3.1", "tau-bench", "reward 0", 1),
    ]


def test_a_line_may_hold_a_conversation(sample):
    """Of JSON lines each is a run, named by its id, else by file and number."""
    assert [(run.run_id, run.agent, len(run.calls)) for run in sample("chats.jsonl")] == [
        ("first", "openai-chat", 3),
        ("chats:2", "openai-chat", 0),
    ]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        pytest.param([{"role": "user", "content": "x"}], ["chat:1"], id="messages"),
        pytest.param({"messages": [{"role": "user", "content": "x"}]}, ["chat:1"], id="conversation"),
        pytest.param(
            [{"messages": [{"role": "user"}]}, {"id": 4, "messages": []}], ["chat:1", "4"], id="conversations"
        ),
        pytest.param([{"task_id": 0, "traj": []}, {"task_id": "b", "traj": []}], ["0", "b"], id="tasks-that-failed"),
    ],
)
def test_what_a_document_may_be(tmp_path, value, names):
    """A document is a list of messages, a conversation, a list of conversations, or a list of tasks."""
    assert [run.run_id for run in read_document(tmp_path, value)] == names


def test_context_counts_every_text(tmp_path):
    """System, user and assistant text, arguments and results are context."""
    messages = [
        {"role": "system", "content": "x" * 4},
        {"role": "user", "content": [{"type": "text", "text": "x" * 8}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": "x" * 12, "tool_calls": [call("a", "x" * 16)]},
        {"role": "tool", "tool_call_id": "a", "content": "x" * 20},
    ]
    (run,) = read_document(tmp_path, messages)
    assert (run.context_tokens, run.result_tokens) == (1 + 2 + 3 + 4 + 5, 5)


def test_an_id_that_is_used_again_is_another_call(tmp_path):
    """Some models number the calls of each turn anew; an answer belongs to the latest call with its id."""
    turn = [
        {"role": "assistant", "content": None, "tool_calls": [call("call_0")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "ok"},
    ]
    (run,) = read_document(tmp_path, turn + turn)
    assert [(one.tool, one.line) for one in run.calls] == [("look", 1), ("look", 2)]


def test_arguments_that_are_an_object_become_json(tmp_path):
    """Some programs log the arguments parsed; they are rendered as JSON again."""
    messages = [
        {"role": "assistant", "tool_calls": [call("a", {"city": "Zürich"})]},
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
    ]
    (run,) = read_document(tmp_path, messages)
    assert run.calls[0].arguments == '{"city":"Zürich"}'


def test_a_result_without_its_call_has_its_own_name(tmp_path):
    """Where the call is not in the record, the result's own name tells the tool."""
    (run,) = read_document(tmp_path, [{"role": "tool", "tool_call_id": "z", "name": "look", "content": "ok"}])
    assert [(one.tool, one.call_id, one.arguments) for one in run.calls] == [("look", "z", "")]


@pytest.mark.parametrize(
    ("verdict", "succeeded"),
    [
        pytest.param({"reward": 1.0}, True, id="reward"),
        pytest.param({"reward": 0.9999999}, True, id="reward-as-tau-bench-rounds"),
        pytest.param({"reward": 0.5}, False, id="part-of-the-reward"),
        pytest.param({"reward": 0, "resolved": True}, False, id="the-reward-goes-first"),
        pytest.param({"resolved": True}, True, id="resolved"),
        pytest.param({"resolved": 0}, False, id="not-resolved"),
        pytest.param({"resolved": "perhaps"}, None, id="neither-true-nor-false"),
        pytest.param({}, None, id="nothing-said"),
    ],
)
def test_whether_a_run_succeeded(tmp_path, verdict, succeeded):
    """A whole reward is a success, any other a failure; without a reward `resolved` decides."""
    (run,) = read_document(tmp_path, {"messages": [{"role": "user", "content": "x"}], **verdict})
    assert run.succeeded is succeeded


def test_the_context_is_known_after_every_call(tmp_path):
    """Each call knows how much had been said, asked and answered by then, itself with it."""
    turn = [
        {"role": "assistant", "content": "x" * 12, "tool_calls": [call("a", "x" * 16)]},
        {"role": "tool", "tool_call_id": "a", "content": "x" * 20},
    ]
    (run,) = read_document(tmp_path, [*turn, *turn, {"role": "assistant", "content": "x" * 4}])
    assert ([one.context_tokens for one in run.calls], run.context_tokens) == ([12, 24], 25)
