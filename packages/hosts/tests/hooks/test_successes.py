"""No adapter replaces the result of what its host calls a success, or says anything about it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.hooks import HOSTS, answer
from otel_errcompact_hosts.runs import LedgerRuns
from packages.hosts.tests.hooks.sessions import FAILING, FINE, Event, after, batch, before
from tests.successes import FORMATS, TEXTS, answer_with

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = pytest.mark.parametrize("format", FORMATS)
PENDING = "use the other file"


def _claude_code(event: Event, text: str) -> None:
    event["tool_response"]["stdout"] = text


def _claude_code_file(event: Event, text: str) -> None:
    event["tool_name"], event["tool_input"] = "Read", {"file_path": "/home/ann/shop/build.log"}
    event["tool_response"] = {"type": "text", "file": {"filePath": "/home/ann/shop/build.log", "content": text}}


def _codex(event: Event, text: str) -> None:
    event["tool_response"] = f"Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{text}"


def _codex_without_status(event: Event, text: str) -> None:
    event["tool_response"] = answer_with(text)


def _copilot(event: Event, text: str) -> None:
    event["toolResult"]["textResultForLlm"] = f"{text}\n<shellId: 5 completed with exit code 0>"


def _copilot_file(event: Event, text: str) -> None:
    event["toolName"], event["toolArgs"] = "view", {"path": "/home/ann/shop/build.log"}
    event["toolResult"]["textResultForLlm"] = text


def _cursor(event: Event, text: str) -> None:
    event["tool_output"] = text


def _cursor_mcp(event: Event, text: str) -> None:
    event["tool_name"], event["tool_output"] = "MCP:sync", answer_with(text)


def _gemini(event: Event, text: str) -> None:
    content = f"<untrusted_context>\nOutput: {text}\nProcess Group PGID: 3597\n</untrusted_context>"
    event["tool_response"] = {"llmContent": content, "returnDisplay": text}


def _gemini_file(event: Event, text: str) -> None:
    event["tool_name"], event["tool_input"] = "read_file", {"file_path": "/home/ann/shop/build.log"}
    event["tool_response"] = {"llmContent": text, "returnDisplay": ""}


def _opencode(event: Event, text: str) -> None:
    event["output"] = event["metadata"]["output"] = text


def _opencode_file(event: Event, text: str) -> None:
    event["tool"], event["args"] = "read", {"filePath": "/home/ann/shop/build.log"}
    event["metadata"], event["output"] = {}, text


SUCCESSES: dict[str, tuple[str, Callable[[Event, str], None]]] = {
    "claude-code": ("claude-code", _claude_code),
    "claude-code, a file": ("claude-code", _claude_code_file),
    "codex": ("codex", _codex),
    "codex without a status": ("codex", _codex_without_status),
    "copilot": ("copilot", _copilot),
    "copilot, a file": ("copilot", _copilot_file),
    "cursor": ("cursor", _cursor),
    "cursor, mcp": ("cursor", _cursor_mcp),
    "gemini": ("gemini", _gemini),
    "gemini, a file": ("gemini", _gemini_file),
    "opencode": ("opencode", _opencode),
    "opencode, a file": ("opencode", _opencode_file),
}
"""How each host hands over a success: a command that ended with 0, and what another tool has returned."""


def success(kind: str, text: str, number: int = 1) -> Event:
    """The event after a call that has succeeded; Claude Code's batch brings it."""
    host, write = SUCCESSES[kind]
    event = copy.deepcopy(after(host, FINE, number))
    write(event, text)
    return batch(event, text=text) if host == "claude-code" else event


def test_every_host_has_its_successes() -> None:
    """A new host is held to the law too."""
    assert {host for host, _ in SUCCESSES.values()} == set(HOSTS)


@EVERY
@pytest.mark.parametrize("kind", SUCCESSES)
def test_a_success_is_left_as_it_is(ledger: Ledger, kind: str, format: str) -> None:
    """The answer is empty: neither another result nor a remark on this one, nor an end of the run."""
    changed = {}
    for name, text in TEXTS[format].items():
        runs = LedgerRuns(ledger=ledger)
        if said := answer(SUCCESSES[kind][0], success(kind, text), runs):
            changed[name] = said
        for run in runs.ledger.store.run_ids():
            runs.close(run)
    assert changed == {}


@EVERY
@pytest.mark.parametrize("command", [FINE, "pytest -q"])
def test_a_batch_of_successes_is_left_as_it_is(ledger: Ledger, command: str, format: str) -> None:
    """No flag stands beside a command there, but no status either."""
    changed = {}
    for name, text in TEXTS[format].items():
        runs = LedgerRuns(ledger=ledger)
        event = success("claude-code", text)
        event["tool_calls"][0]["tool_input"]["command"] = command
        if said := answer("claude-code", event, runs):
            changed[name] = said
        for run in runs.ledger.store.run_ids():
            runs.close(run)
    assert changed == {}


def _spoken_beside(host: str, said: dict[str, Any]) -> str:
    # What stands beside a result, where the answer has nothing else.
    output = said.get("hookSpecificOutput", said)
    beside = {name: value for name, value in output.items() if name != "hookEventName"}
    assert set(beside) <= {"additionalContext", "additional_context"}, f"{host} replaces a success: {said}"
    return str(next(iter(beside.values()), ""))


@pytest.mark.parametrize("kind", SUCCESSES)
def test_what_a_human_has_answered_stands_beside_a_success(runs: LedgerRuns, kind: str) -> None:
    """It is not about this result, which stays; where a host has no channel beside it, the answer waits."""
    host, _ = SUCCESSES[kind]
    answer(host, before(host, FAILING, 2), runs)
    answer(host, after(host, FAILING, 2), runs)
    (run,) = runs.ledger.store.run_ids()
    runs.resume(run, PENDING)
    said = _spoken_beside(host, answer(host, success(kind, answer_with("Error: no such file")), runs))
    assert said in {"", f"OPERATOR: {PENDING}"}


@pytest.mark.parametrize("kind", SUCCESSES)
def test_a_success_that_repeats_is_told_beside_it_or_not_at_all(runs: LedgerRuns, kind: str) -> None:
    """From the third identical call on with the same result, where the host has a channel beside it."""
    host, _ = SUCCESSES[kind]
    events = (success(kind, answer_with("3 rows"), number) for number in range(4))
    said = [_spoken_beside(host, answer(host, event, runs)) for event in events]
    assert said[:2] == ["", ""]
    row = "this exact call has returned the same result 3 times in a row"
    told = [row, row.replace("3", "4")] if host not in {"gemini", "opencode"} else ["", ""]
    assert [each.partition(": ")[2] for each in said[2:]] == told
