"""Failures that only their text gives away, and healthy results that look like them."""

# ruff: noqa: E501 - one case is one line

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_errcompact.detector.results import classify_result

OPEN = Path(__file__).parents[2] / "corpus" / "open"


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (OPEN / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", _rows("hidden_more"), ids=lambda row: f"{row['tool']}: {row['raw'][:40]}")
def test_a_result_is_judged_by_program_role_and_form(row: dict[str, Any]) -> None:
    """No message is known by itself: the same words are content where a call reads them."""
    arguments = json.dumps(row["arguments"])
    found = classify_result(row["raw"], tool=row["tool"], arguments=arguments, exit_code=row["exit_code"])
    assert (found.outcome == "failure") == row["failure"]


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "failure"),
    [
        pytest.param("bash", {"command": "make"}, "Error from server: " + "x" * 10, True, id="a service"),
        pytest.param("bash", {"command": "gh api x"}, "<html><title>404 Not Found</title></html>", True, id="a page"),
        pytest.param("bash", {"command": "curl -s x"}, "<html><title>500 days of summer</title></html>", False, id="film"),
        pytest.param("bash", {"command": "curl -s x"}, '{"jsonrpc": "2.0", "error": {"code": 3}}', True, id="JSON-RPC"),
        pytest.param("bash", {"command": "curl -s x"}, '{"stdout": "x", "exit_code": 2}', True, id="streams"),
        pytest.param("bash", {"command": "curl -s x"}, '{"name": "x", "exit_code": 2}', False, id="a record"),
        pytest.param("bash", {"command": "curl -s x"}, '{"message": "Forbidden"}', True, id="a bare reason"),
        pytest.param("bash", {"command": "curl -s x"}, '{"message": "Hello"}', False, id="a greeting"),
        pytest.param("bash", {"command": "curl -s x"}, '{"error": true, "message": "no"}', True, id="true"),
        pytest.param("bash", {"command": "curl -s x"}, '{"title": "x", "status": "404"}', True, id="status in words"),
        pytest.param("bash", {"command": "curl -s x"}, '{"message": broken}', False, id="no JSON"),
        pytest.param("bash", {"command": "curl -s x"}, '{"status": "failed", "error": "", "id": 1}', False, id="job"),
        pytest.param("view_file", {"path": "a.py"}, '{"isError": true, "content": "x"}', True, id="MCP"),
        pytest.param("web_fetch", {"url": "http://x"}, '{"error": "x"}', False, id="an answer of the web"),
        pytest.param("str_replace_editor", {"command": "view", "path": "/a"}, "The path /a does not exist.", True, id="editor"),
        pytest.param("str_replace_editor", {"command": "create", "path": "/a"}, "File created at: /a", False, id="file"),
        pytest.param("bash", {"command": "ssh web -- ls x"}, "ssh: connect to host web: timed out", True, id="ssh"),
        pytest.param("bash", {"command": "kubectl exec web -- cat a.log"}, "Error: x\n" * 9, False, id="log elsewhere"),
        pytest.param("bash", {"command": "ssh -v"}, "ssh: Could not resolve hostname x", True, id="nothing carried"),
        pytest.param("bash", {"command": "until curl x; do sleep 1; done"}, "curl: (7) no\n" * 20 + "x\n" * 12 + "ok", False, id="retried"),
        pytest.param("bash", {"command": "rm x; make"}, "rm: cannot remove 'x': No such file\ncc a.c\nok\nok\nok", False, id="quiet"),
        pytest.param("bash", {"command": "pytst; pytest"}, "bash: pytst: x\n\n" + "=" * 9 + "\n3 passed in 0.1s", False, id="passed later"),
        pytest.param("bash", {"command": "make"}, "x\n" * 9 + "0 errors: all Error: fine", False, id="a harmless end"),
        pytest.param("bash", {"command": "make"}, "Stdout: (empty)\nStderr: make: *** x", True, id="labelled streams"),
        pytest.param("bash", {"command": "make"}, "\u0130stanbul\nFAILED (failures=1)", True, id="longer in small letters"),
        pytest.param("bash", {"command": "cat a.log"}, "x\n" * 2_000 + "cat: b: No such file or directory", False, id="a long log"),
        pytest.param("bash", {"command": "cat a; cat b.py"}, "x\n" * 2_000 + "cat: b.py: No such file or directory", True, id="the last file"),
        pytest.param("bash", {"command": "cat x"}, "cat: x: " + "y" * 600, False, id="a long line"),
        pytest.param("bash", {"command": "cat x"}, "no such thing", False, id="words in a file"),
        pytest.param("bash", {"command": "cat $X"}, "cat: b: No such file or directory", True, id="a variable"),
        pytest.param("bash", {"command": "awk 1 x"}, "mawk: cannot open x", True, id="another name"),
        pytest.param("bash", {"command": "echo x; for f in a; do true; done"}, "x", False, id="nothing run"),
        pytest.param("bash", {"command": ";".join(["ls"] * 40)}, "x", False, id="many commands"),
        pytest.param("bash", {"command": "make; echo rc=$?; echo rc=$?; echo rc=$?; echo rc=$?; echo rc=$?"}, "x", False, id="announced often"),
        pytest.param("bash", {"command": "make"}, "1 failed, " * 60, False, id="a long line of counts"),
        pytest.param("bash", {"command": "make"}, "1 failed in the end of all the days of this long week\n" * 300, False, id="counts in prose"),
        pytest.param("bash", {"command": "make"}, "2 failed, 3 passed\n5 passed, 0 failed", False, id="tried again"),
        pytest.param("bash", {"command": "make"}, "Failed: 1, Passed: 2", True, id="names first"),
        pytest.param("bash", {"command": "make"}, "3 errors, 3 fixed", False, id="mended"),
        pytest.param("refund", {"id": "W12"}, "Order was not found\nsee\nthe\nlong\nlist\nof\norders", False, id="many lines"),
        pytest.param("refund", {"id": "W12"}, "Order found, W12 not found before", True, id="found"),
        pytest.param("refund", "{broken", "Widget 3 is missing", True, id="arguments that are no JSON"),
        pytest.param("refund", {"id": "W12", "tags": ["a"]}, "Refunded W12", False, id="done"),
        pytest.param("lookup", {"id": "W12"}, "TypeError: bad id", True, id="a typed error of a search"),
        pytest.param("search_files", {"pattern": "("}, "Invalid regular expression: (", True, id="a bad pattern"),
        pytest.param("bash", {"command": "curl x"}, '{"message": "no", "documentation_url": "x"}', True, id="GitHub"),
        pytest.param("read_file", "{broken", "Invalid range of lines", False, id="a file of few words"),
        pytest.param("bash", {"command": "make; echo rc is $?"}, "x", False, id="announced, not printed"),
        pytest.param("bash", {"command": "make"}, "Exit: none", False, id="no status"),
        pytest.param("run_script", {"script": "ls x"}, "ls: cannot access 'x'", True, id="a script in an argument"),
    ],
)  # fmt: skip
def test_forms(tool: str, arguments: object, text: str, failure: bool) -> None:
    """One example of each form, and of what looks like it."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    assert (classify_result(text, tool=tool, arguments=written).outcome == "failure") == failure


def test_a_command_that_is_silenced_asks_a_question() -> None:
    """Its status is the answer."""
    call = json.dumps({"command": "docker image inspect x >/dev/null 2>&1"})
    assert classify_result("", tool="bash", arguments=call, exit_code=1).outcome == "ignored"


def test_nothing_claims_what_a_tool_has_not_reported() -> None:
    """The reason of a detected failure is the form that gave it away."""
    call = json.dumps({"command": "make"})
    found = classify_result("make: *** [all] Error 2", tool="bash", arguments=call)
    assert found.detected
    assert "reported success" not in found.reason
