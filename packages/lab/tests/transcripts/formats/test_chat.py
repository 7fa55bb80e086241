"""What is read of chats in the forms of OpenAI and Anthropic, and of tau-bench results."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read

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
        ("first", "chat", 3),
        ("chats:2", "chat", 0),
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


def test_items_of_the_responses_interface(sample):
    """Calls and outputs are items; a call that the provider made holds its result itself."""
    (run,) = sample("responses.json")
    assert [(one.tool, one.call_id, one.arguments, one.result, one.flagged, one.exit_code) for one in run.calls] == [
        ("weather", "call_1", '{"city":"Bern"}', "timed out", None, None),
        (
            "locate",
            "mcp_1",
            '{"q":"Bern"}',
            '{"type":"http_error","code":502,"message":"Bad Gateway"}',
            True,
            None,
        ),
        ("shell", "call_2", '{"commands":["cat none"]}', "cat: none: No such file or directory", None, 1),
        ("code_interpreter", "ci_1", "print(3)", "3\n", None, None),
    ]
    assert (run.run_id, run.agent) == ("resp_7", "chat")


def test_blocks_of_anthropic_messages(sample):
    """Calls and results are blocks; `is_error` is the flag, and the provider's own tools say it in their answer."""
    (run,) = sample("anthropic.json")
    assert [(one.tool, one.call_id, one.arguments, one.result, one.flagged) for one in run.calls] == [
        ("weather", "toolu_1", '{"city":"Bern"}', "timed out", True),
        (
            "web_search",
            "srvtoolu_1",
            '{"query":"Bern"}',
            '{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}',
            True,
        ),
    ]


def test_instructions_beside_the_messages_are_context(tmp_path):
    """Texts in `system`, `instructions`, `input` and `output` count; anything else there is none of ours."""
    value = {
        "system": "x" * 4,
        "instructions": "x" * 8,
        "input": [{"role": "user", "content": "x" * 12}],
        "output": "x" * 16,
    }
    (run,) = read_document(tmp_path, value)
    assert run.context_tokens == 1 + 2 + 3 + 4
    (run,) = read_document(tmp_path, {"messages": [{"role": "user"}], "system": {}, "input": {"x": 1}, "output": 5})
    assert run.context_tokens == 0


def test_items_without_a_message_before_them(tmp_path):
    """A bare list of items is a conversation; so are calls of tools that take plain text."""
    items = [
        {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
    ]
    custom = {"id": "b", "type": "custom", "custom": {"name": "sql", "input": "SELECT 2"}}
    messages = [{"role": "assistant", "tool_calls": [custom]}, {"role": "tool", "tool_call_id": "b", "content": "2"}]
    assert [(one.tool, one.arguments, one.result) for one in read_document(tmp_path, items)[0].calls] == [
        ("sql", "SELECT 1", "1")
    ]
    assert [(one.tool, one.arguments, one.result) for one in read_document(tmp_path, messages)[0].calls] == [
        ("sql", "SELECT 2", "2")
    ]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        pytest.param(
            {"type": "apply_patch_call_output", "call_id": "a", "status": "failed", "output": "no file"},
            ("no file", True, None),
            id="patch-failed",
        ),
        pytest.param(
            {"type": "mcp_call", "id": "a", "name": "x", "arguments": "{}", "output": "y", "error": None},
            ("y", False, None),
            id="mcp-succeeded",
        ),
        pytest.param(
            {
                "type": "shell_call_output",
                "call_id": "a",
                "output": [
                    {"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}},
                    {"stdout": "", "stderr": "y", "outcome": {"type": "exit", "exit_code": 0}},
                ],
            },
            ("x\ny", None, 2),
            id="shell-of-two-commands",
        ),
        pytest.param({"type": "function_call_output", "call_id": "a", "output": []}, ("", None, None), id="no-parts"),
    ],
)
def test_what_items_say_of_failure(tmp_path, item, expected):
    """`status`, `error` and the exit statuses of a shell tell of failure."""
    (run,) = read_document(tmp_path, [item])
    assert [(one.result, one.flagged, one.exit_code) for one in run.calls] == [expected]


def test_a_result_of_anthropics_own_tools_may_have_an_exit_status(tmp_path):
    """What its code execution gives back is an object with a `return_code`."""
    block = {
        "type": "bash_code_execution_tool_result",
        "tool_use_id": "a",
        "content": {"type": "bash_code_execution_result", "stdout": "", "stderr": "no", "return_code": 1},
    }
    (run,) = read_document(tmp_path, [{"role": "assistant", "content": [block]}])
    assert (run.calls[0].exit_code, run.calls[0].flagged) == (1, None)


@pytest.mark.parametrize(
    "result",
    [
        "The script ran, then exited with Unix exit code: 2\nIts output was:\nno such file",
        "The script ran but produced no output to console. The Unix exit code was: 2. Print something.",
    ],
)
def test_a_bare_list_of_magentic_one_has_results_of_code(tmp_path, result):
    """The agent stands as the role, and the exit status in the text."""
    path = tmp_path / "log.json"
    code = "```sh\nls x\n```"
    path.write_text(json.dumps([{"role": "Coder", "content": code}, {"role": "ComputerTerminal", "content": result}]))
    (run,) = read(path, on_problem=pytest.fail)
    assert [(call.tool, call.exit_code, call.result) for call in run.calls] == [("code_executor", 2, result)]


def test_messages_of_one_line_each_are_runs_up_to_the_next_instructions(sample):
    """A message alone says nothing of its conversation, so new instructions begin another one."""
    runs = sample("chat_messages.jsonl")
    assert [(run.run_id, [call.result for call in run.calls]) for run in runs] == [
        ("chat_messages:1", ["KeyError: 'tee'", "2"]),
        ("chat_messages:2", ["4"]),
    ]


def test_messages_without_instructions_are_one_run(tmp_path):
    """Several instructions at the beginning are of one run, too."""
    path = tmp_path / "x.jsonl"
    lines = ('{"role": "system", "content": "a"}', '{"role": "developer", "content": "b"}', "7", '{"role": "user"}')
    path.write_text("\n".join(lines))
    problems = []
    assert len(list(read(path, on_problem=problems.append))) == 1
    assert len(problems) == 1
