"""What is read of Cline's tasks, as the model and as the user has seen them."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import read


def read_task(folder, *messages):
    """Write messages for the user, and read them."""
    path = folder / "ui_messages.json"
    path.write_text(json.dumps([{"ts": 1_772_445_600_000, **each} for each in messages]))
    (run,) = read(path, on_problem=pytest.fail)
    return run


def say(kind, text=""):
    """Make a message."""
    return {"type": "say", "say": kind, "text": text}


def ask(kind, text=""):
    """Make a question."""
    return {"type": "ask", "ask": kind, "text": text}


def test_calls_in_xml_are_answered_by_texts(sample):
    """The header names the tool, the model's text has the arguments; the environment is no part of a result."""
    (run,) = sample("cline_chat.json")
    assert [(call.tool, call.arguments, call.result.splitlines()[-1], call.flagged) for call in run.calls] == [
        ("execute_command", '{"command":"pytest -q","requires_approval":"false"}', "1 failed in 0.1s", None),
        ("read_file", '{"path":"src/card.py"}', "</error>", True),
        (
            "replace_in_file",
            '{"path":"src/cart.py","diff":"<<<<<<< SEARCH\\nx\\n=======\\ny\\n>>>>>>> REPLACE"}',
            "The content was successfully saved to src/cart.py.",
            None,
        ),
    ]


def test_what_the_user_has_seen_are_the_same_calls(sample):
    """An error after a call is its result; without one the model went on."""
    (run,) = sample("cline_ui.json")
    assert (run.run_id, run.agent) == ("cline_ui", "cline")
    assert [(call.tool, call.result.splitlines()[-1:], call.flagged) for call in run.calls] == [
        ("execute_command", ["1 failed in 0.1s"], None),
        ("readFile", ["File not found: /w/src/card.py"], True),
        ("editedExistingFile", [], False),
        ("price", ["no such item"], None),
        (
            "write_to_file",
            ["Cline tried to use write_to_file for 'a.py' without value for required parameter 'content'. Retrying..."],
            True,
        ),
    ]
    assert run.calls[0].arguments == '{"command": "pytest -q"}'
    assert run.calls[0].start_ns == 1_772_445_600_003_000_000


def test_a_task_that_was_left_has_what_there_was(tmp_path):
    """A command without an end has its output; a question without an answer is no call; errors of nothing are none."""
    run = read_task(
        tmp_path,
        say("error", "the API is down"),
        say("command", "make"),
        say("command_output", "cc main.c"),
    )
    assert [(call.tool, call.result) for call in run.calls] == [("execute_command", "cc main.c")]
    assert read_task(tmp_path, say("text", "hm"), ask("tool", '{"tool": "readFile"}')).calls == ()


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]", '{"tool": 1}'])
def test_a_tool_that_is_not_named_is_called_tool(tmp_path, text):
    """Whatever stands there."""
    run = read_task(tmp_path, ask("tool", text), say("api_req_started"))
    assert [(call.tool, call.flagged) for call in run.calls] == [("tool", False)]


def test_times_that_are_none_are_reported(tmp_path):
    """And made up."""
    path = tmp_path / "ui_messages.json"
    path.write_text(json.dumps([{**say("command", "ls"), "ts": -1}, {**say("api_req_started"), "ts": 1}]))
    problems = []
    (run,) = read(path, on_problem=problems.append)
    assert [call.tool for call in run.calls] == ["execute_command"]
    assert len(problems) == 1


def chat(folder, *messages):
    """Write a chat, and read it."""
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps([{"role": role, "content": content} for role, content in messages]))
    (run,) = read(path, on_problem=pytest.fail)
    return run


def test_results_of_several_calls_in_one_message(tmp_path):
    """Each header begins another one; a text alone may be a result, too."""
    blocks = [{"type": "text", "text": text} for text in ("[a1] Result:", "one", "[b1 for 'x'] Result:\ntwo", "three")]
    run = chat(tmp_path, ("user", "hi"), ("assistant", "<a1>\n<p>1</a1>"), ("user", blocks))
    assert [(call.tool, call.arguments, call.result) for call in run.calls] == [
        ("a1", '{"p":"1"}', "one"),
        ("b1", "", "two\nthree"),
    ]
    run = chat(
        tmp_path, ("assistant", "<ls>\n<path>.</path>"), ("assistant", "so"), ("user", "[ls for '.'] Result:\na")
    )
    assert [(call.arguments, call.result) for call in run.calls] == [('{"path":"."}', "a")]


def test_a_list_in_brackets_is_no_result(tmp_path):
    """Nor is a header without the word."""
    assert chat(tmp_path, ("user", "[1, 2] Result: x"), ("user", "[note] hello")).calls == ()
