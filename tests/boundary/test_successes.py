"""A success is read as it is, whatever it says: in process, by every way in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact as errcompact
from otel_errcompact.detector.error_values import read_error_value
from otel_errcompact.engine.ledger import Ledger
from tests.successes import FORMATS, TEXTS, answer_with

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = pytest.mark.parametrize("format", FORMATS)
COMMANDS = ("python3 sync.py", "pytest -q")
DECLARED: dict[str, Callable[[str], Any]] = {
    "ok": lambda text: {"ok": True, "log": text},
    "success": lambda text: {"success": True, "error": None, "log": text},
    "status": lambda text: {"status": "ok", "log": text},
    "isError": lambda text: {"isError": False, "content": [{"type": "text", "text": answer_with(text)}]},
    "exit_code": lambda text: {"exit_code": 0, "stdout": text, "stderr": ""},
}
"""What a tool may return that says by itself that it has succeeded."""


@EVERY
@pytest.mark.parametrize("command", COMMANDS)
def test_status_0_is_a_success(ledger: Ledger, format: str, command: str) -> None:
    """The program itself has said so."""
    changed = []
    for name, text in TEXTS[format].items():
        with errcompact.run(name, ledger=ledger) as run:
            with run.tool("bash", arguments={"command": command}) as call:
                call.exit_code = 0
                call.result = text
            if call.failed or call.text != text or run.report().occurrences:
                changed.append(name)
    assert changed == []


@EVERY
@pytest.mark.parametrize(
    "said",
    [
        {"tool": "bash", "arguments": {"command": COMMANDS[0]}, "exit_code": 0},
        {"tool": "bash", "arguments": {"command": COMMANDS[0]}, "says_success": True},
        {"tool": "sync", "arguments": {"shop": "north"}, "says_success": True},
    ],
    ids=["a status", "a command", "a tool"],
)
def test_what_a_framework_calls_a_success_is_one(ledger: Ledger, format: str, said: dict[str, Any]) -> None:
    """It knows: a text may be the file that was asked for. But an answer that is one error value is a failure."""
    changed = []
    for name, text in TEXTS[format].items():
        if said["tool"] == "sync" and read_error_value(text):
            continue
        with errcompact.run(name, ledger=ledger) as run:
            call = run.port.record_call(**said, result=text)
            if call.failed or call.text != text:
                changed.append(name)
    assert changed == []


@EVERY
def test_an_answer_that_holds_an_error_is_returned(ledger: Ledger, format: str) -> None:
    """Nothing is declared, and the answer is more than one error value: rows stand before and behind it."""
    changed = []
    for name, text in TEXTS[format].items():
        answer = answer_with(text)
        with errcompact.run(name, ledger=ledger) as run, run.tool("sync") as call:
            call.result = answer
        if call.failed or call.text != answer:
            changed.append(name)
    assert changed == []


@EVERY
def test_a_function_returns_what_it_returned(ledger: Ledger, format: str) -> None:
    """Behind the decorator too, whether it is awaited or not."""
    changed = []

    @errcompact.compacted
    def sync(answer: str) -> str:
        return answer

    @errcompact.compacted
    async def sync_later(answer: str) -> str:
        return answer

    for name, text in TEXTS[format].items():
        answer = answer_with(text)
        with errcompact.run(name, ledger=ledger) as run:
            if (sync(answer), asyncio.run(sync_later(answer))) != (answer, answer) or run.report().occurrences:
                changed.append(name)
    assert changed == []


@EVERY
def test_a_value_that_says_success_is_returned(ledger: Ledger, format: str) -> None:
    """It is the tool's own word, whatever its other fields hold."""
    changed = []

    @errcompact.compacted
    def sync(value: Any) -> Any:
        return value

    for name, text in TEXTS[format].items():
        values = {form: write(text) for form, write in DECLARED.items()}
        with errcompact.run(name, ledger=ledger) as run:
            found = [form for form, value in values.items() if sync(value) is not value]
            if found or run.report().occurrences:
                changed.append((name, found))
    assert changed == []
