"""Notices: the second failure says that it is the second, in words that help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import otel_errcompact as errcompact
from tests.scenarios.agents import attempt, bash, edit, raising, words

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger


def test_a_repeat_names_what_failed_and_how_often(ledger: Ledger) -> None:
    """Never only a mark: type and cause are in the words, and the count."""
    with errcompact.run(ledger=ledger) as run:
        texts = [
            attempt(run, "sql", {"query": f"select {number}"}, raising(ValueError("no such column: amount"))).text
            for number in range(4)
        ]
    assert "x2" not in texts[0]
    for count, text in enumerate(texts[1:], start=2):
        assert "ValueError" in text
        assert "no such column: amount" in text
        assert f"x{count}" in text


def test_a_repeat_tells_what_is_new(ledger: Ledger) -> None:
    """7.22 instead of 7.20 is news, however often the test has failed."""
    with errcompact.run(ledger=ledger) as run:
        for value in ("7.20", "7.22", "7.24"):
            text = bash(
                run,
                "pytest tests/test_rates.py",
                f"FAILED tests/test_rates.py::test_vat - assert {value} == 7.25\n1 failed in 0.12s\n",
                1,
            ).text
            assert value in text
            edit(run, "src/rates.py", value)


def test_rejected_input_gets_a_notice_too(ledger: Ledger) -> None:
    """The notice comes early, the question only at the fifth."""
    with errcompact.run(ledger=ledger) as run:
        edit(run, "src/a.py", "one", "String to replace not found in file.")
        text = edit(run, "src/a.py", "two", "String to replace not found in file.").text
    assert "x2" in text
    assert "not found" in words(text)


def test_what_the_notice_says_of_the_next_step_is_true(ledger: Ledger) -> None:
    """Without a handler no failure is announced as the last one, since nothing halts on a streak."""
    with errcompact.run(ledger=ledger) as run:
        for number in range(5):
            call = attempt(run, "sql", {"query": f"select {number}"}, raising(ValueError("no such column: amount")))
            assert "halt" not in words(call.text)
            assert "stopped" not in words(call.text)
        run.check()
