"""What is read of SpecStory's histories."""

from __future__ import annotations

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, read
from otel_errcompact_lab.transcripts.records import SPECSTORY

T0 = 1_772_445_600_000_000_000
S = 1_000_000_000


def test_a_call_is_what_stands_between_its_tags(sample):
    """The command, the text for the model, and the time above them."""
    (run,) = sample("specstory.md")
    assert (run.run_id, run.agent) == ("3f0c9a52", "Claude Code")
    assert run.calls[0] == RecordedCall(
        tool="Bash",
        arguments="npm test",
        result="Exit code 127\nsh: 1: jest: not found\n---",
        start_ns=T0 + 3 * S,
        end_ns=T0 + 3 * S + 1_000_000,
        line=34,
        context_tokens=run.calls[0].context_tokens,
    )


def test_a_heading_may_say_what_failed(sample):
    """A call without a result is none, nor is what the user quotes."""
    (run,) = sample("specstory.md")
    assert [(call.tool, call.flagged, call.result) for call in run.calls[1:]] == [("deploy", True, "no such target")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Tool use: **run_terminal_cmd**||```bash|make|```||```|---|no rule|```||---",
            [("run_terminal_cmd", "make", "---\nno rule", None)],
            id="title",
        ),
        pytest.param(
            "```bash|cd a|make|```||```|no rule|```|---|Done.",
            [("shell", "cd a\nmake", "no rule", None)],
            id="shell-alone",
        ),
        pytest.param("So:|```bash|make|```|says|```|no rule|```", [], id="prose"),
        pytest.param("```bash|make|```|---", [], id="without-output"),
        pytest.param(
            "<details>|*Called tool*: db - query: Runs it||*Parameters*:|  * sql: x||*Result*:|[]|</details>||---",
            [("db - query", "*Parameters*:\n  * sql: x", "[]", None)],
            id="mcp",
        ),
        pytest.param(
            '<tool-use data-tool-type="unknown" data-tool-name="look">|<details>|Parameters:|```json|{}|```|'
            "Status: **error**||Error:|```json|no|```|</details>|</tool-use>",
            [("look", "{}", "no", True)],
            id="status",
        ),
        pytest.param(
            '<tool-use data-tool-type="read" data-tool-name="Read"><details>|```text|cut off',
            [("Read", "", "cut off", None)],
            id="cut-off",
        ),
    ],
)
def test_older_files_have_other_forms(tmp_path, text, expected):
    """A rule ends a call, but not within its output."""
    path = tmp_path / "history.md"
    head = (f"{SPECSTORY} -->", "", "_**Assistant (default)**_", "")
    path.write_text("\n".join([*head, *text.split("|"), ""]))
    (run,) = read(path, on_problem=pytest.fail)
    assert [(call.tool, call.arguments, call.result, call.flagged) for call in run.calls] == expected
