"""
What the real programs have sent in one session each, against a stand-in for their model.

The session is the same for all: a failing command, it and another one at once, a long output whose cause is not in its
head, a pipe that hides the status, a missing file, an error of an MCP tool, a success, and the first command again in a
sub-agent. The requests hold what is about tool calls, with neutral ids and paths.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_errcompact_hosts.telemetry.bodies import JSON
from packages.hosts.tests.telemetry.conftest import Bench

RECORDED = Path(__file__).parent / "recorded"

RESERVE = "Error: order 4711 cannot be reserved: no such warehouse: north"
DECODE = "json.decoder.JSONDecodeError: Expecting value: line 1 column 15 (char 14)"

SESSION = "00000000-0000-4000-8000-0000000000"

COUNTED = {
    "claude-code": {
        f"claude-code {SESSION}01": {
            "ShellError: unknown text of `Bash python orders.py`": 2,
            "ShellError: unknown text of `Bash python stock.py`": 1,
            "ShellError: unknown text of `Bash python report.py`": 1,
            "FileNotFound: File does not exist. Note: your current working directory is /home/ann/shop.": 1,
            RESERVE: 1,
        },
        f"claude-code {SESSION}01/a40acadca0dbfe71a": {"ShellError: unknown text of `Bash python orders.py`": 1},
    },
    "codex": {
        f"codex {SESSION}03": {
            "KeyError: 'lines'": 3,
            DECODE: 1,
            "CommandError: unknown text of `exec_command python report.py`, exit code 3": 1,
            "ENOENT: cat: /home/ann/shop/prices.csv: No such file or directory": 1,
            RESERVE: 1,
        },
        f"codex {SESSION}04": {"KeyError: 'lines'": 1},
    },
    "gemini": {
        f"gemini-cli {SESSION}06": {
            "KeyError: 'lines'": 4,
            DECODE: 1,
            "CommandError: unknown text of `run_shell_command python report.py`, exit code 3": 1,
            "FileNotFound: File not found: /home/ann/shop/prices.csv": 1,
            RESERVE: 1,
        }
    },
    "copilot": {
        f"copilot-cli {SESSION}08": {
            "KeyError: 'lines'": 4,
            DECODE: 1,
            "CommandError: unknown text of `bash python report.py`, exit code 3": 1,
            "FileNotFound: Path does not exist": 1,
            RESERVE: 1,
        }
    },
    "opencode": {
        "opencode ses_000000000000000000000010": {
            "KeyError: 'lines'": 3,
            DECODE: 1,
            "CommandError: unknown text of `bash python report.py`, exit code 3": 1,
            "FileNotFound: File not found: /home/ann/shop/prices.csv": 1,
            RESERVE: 1,
        },
        "opencode ses_000000000000000000000011": {"KeyError: 'lines'": 1},
    },
}
"""Causes and how often they were counted, by agent and run."""


def replay(bench: Bench, host: str) -> None:
    """Send what a host has sent, in its order."""
    files = sorted(RECORDED.glob(f"{host}.*.json"))
    assert files
    for file in files:
        reply = bench.post(file.name.split(".")[2], file.read_bytes(), JSON)
        assert reply.status == 200, reply


def count(bench: Bench) -> dict[str, dict[str, int]]:
    """How often each cause was counted, by agent and run."""
    runs = {state.run_id: state for state in bench.ledger.store.states()}
    return {f"{state.agent} {run_id}": bench.classes(run_id) for run_id, state in sorted(runs.items())}


@pytest.mark.parametrize("host", COUNTED)
def test_a_real_session_counts_exactly(bench: Bench, host: str) -> None:
    """Each failed call once, whichever signals report it."""
    replay(bench, host)
    assert count(bench) == COUNTED[host]


def test_one_error_is_one_class_behind_all_hosts() -> None:
    """Whatever each puts around the text; Claude Code has none of commands."""
    keys: dict[str, set[str]] = {RESERVE: set(), "KeyError: 'lines'": set(), DECODE: set()}
    for host in COUNTED:
        bench = Bench()
        replay(bench, host)
        for state in bench.ledger.store.states():
            for found in bench.ledger.report(state.run_id).classes:
                keys.get(f"{found.type}: {found.cause}", set()).add(found.key)
    # The pipe shows the end of the traceback alone, so that the place is missing.
    assert {cause: len(found) for cause, found in keys.items()} == {RESERVE: 1, "KeyError: 'lines'": 2, DECODE: 1}
