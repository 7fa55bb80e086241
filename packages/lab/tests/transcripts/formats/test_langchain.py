"""What is read of LangChain's messages and LangSmith's runs."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

FIRST_NS = 946_684_800_000_000_000
MS = 1_000_000
HUMAN = {"type": "human", "content": "x" * 8}
AI = {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "a"}]}
TOOL = {"type": "tool", "content": "found", "tool_call_id": "a", "status": "success"}


def read_values(folder, *values):
    """Write values, one a line, and read them."""
    path = folder / "runs.jsonl"
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return list(read(path, on_problem=pytest.fail))


def traced(name, inputs, outputs=None, **more):
    """Make a run of a trace."""
    return {"trace_id": name, "run_type": "chain", "inputs": inputs, "outputs": outputs, **more}


def test_a_message_asks_and_another_answers(sample):
    """A call is paired with the message that has its id; `status` is the flag, the model's own form no second call."""
    (run,) = sample("langchain.json")
    assert run.calls == (
        RecordedCall(
            tool="search",
            call_id="call_1",
            arguments='{"q":"cart"}',
            result="Error: ConnectionError('refused')\n Please fix your mistakes.",
            flagged=True,
            start_ns=FIRST_NS,
            end_ns=FIRST_NS + MS,
            line=1,
            context_tokens=26,
        ),
    )


def test_a_conversation_is_told_once(sample):
    """The runs of a trace repeat its messages: the longest telling of a conversation is a run."""
    runs = sample("langsmith.jsonl")
    assert [(run.run_id, len(run.calls), run.outcome, run.succeeded) for run in runs] == [
        ("trace-1", 1, "", None),
        ("trace-2", 0, "RuntimeError('stopped')", False),
    ]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"tool_calls": [{"name": "look", "args": {"q": 1}, "id": "a"}]}, id="own-form"),
        pytest.param({"invalid_tool_calls": [{"name": "look", "args": '{"q":1}', "id": "a"}]}, id="invalid"),
        pytest.param(
            {
                "tool_calls": [],
                "additional_kwargs": {
                    "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": '{"q":1}'}}]
                },
            },
            id="models-form",
        ),
    ],
)
@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda kind, fields: {"type": kind, **fields}, id="flat"),
        pytest.param(lambda kind, fields: {"type": kind, "data": fields}, id="data"),
        pytest.param(
            lambda kind, fields: {
                "lc": 1,
                "type": "constructor",
                "id": [
                    "langchain_core",
                    "messages",
                    {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[kind],
                ],
                "kwargs": fields,
            },
            id="constructor",
        ),
    ],
)
def test_forms_of_messages(tmp_path, asked, wrap):
    """Every form of message and of call reads the same."""
    messages = [
        wrap("human", {"content": "x"}),
        wrap("ai", {"content": "", **asked}),
        wrap("tool", {"content": "found", "tool_call_id": "a"}),
    ]
    for value in (messages, {"messages": messages}, traced("t", {"messages": [messages]})):
        (run,) = read_values(tmp_path, value)
        assert [(call.tool, call.arguments, call.result, call.flagged) for call in run.calls] == [
            ("look", '{"q":1}', "found", None)
        ]


def test_messages_of_chats_inside_runs(tmp_path):
    """Runs that wrap another client hold its messages: with a role instead of a type."""
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "found"},
    ]
    (run,) = read_values(tmp_path, traced("t", {"messages": messages}))
    assert [(call.tool, call.result) for call in run.calls] == [("look", "found")]


def test_conversations_of_one_trace_are_told_apart(tmp_path):
    """Sub-agents are asked something else: they are runs of their own, numbered."""
    runs = read_values(
        tmp_path,
        traced("t", {"messages": [HUMAN]}, {"messages": [HUMAN, AI, TOOL]}),
        traced("t", {"messages": [{"type": "human", "content": "other"}]}, {"output": {"type": "ai", "content": "y"}}),
    )
    assert [(run.run_id, len(run.calls)) for run in runs] == [("t", 1), ("t/2", 0)]


def test_inputs_and_outputs_are_one_conversation(tmp_path):
    """Outputs that do not repeat the inputs go on where they end; texts are messages too."""
    (run,) = read_values(tmp_path, traced("t", {"input": "x" * 8}, {"output": "x" * 12}))
    assert run.context_tokens == 2 + 3


def test_a_list_of_runs_is_taken_apart(tmp_path):
    """A document may be the list of a trace's runs."""
    (run,) = read_values(tmp_path, [traced("t", {"messages": [HUMAN]}), traced("t", {"messages": [HUMAN, AI, TOOL]})])
    assert (run.run_id, len(run.calls)) == ("t", 1)


def test_conversations_without_a_trace_stand_alone(tmp_path):
    """Each is a run, by its id or the file's name and its number."""
    runs = read_values(tmp_path, {"messages": [HUMAN], "id": "one"}, {"messages": [HUMAN]})
    assert [run.run_id for run in runs] == ["one", "runs:2"]


def test_one_answer_of_several_counts(tmp_path):
    """Of several generations the first is the conversation's."""
    answers = [[{"message": {"type": "ai", "content": "x" * 4}}, {"message": {"type": "ai", "content": "x" * 40}}], []]
    (run,) = read_values(tmp_path, traced("t", {"messages": [[HUMAN]]}, {"generations": answers}))
    assert run.context_tokens == 2 + 1
