"""After the run, and what reaches the agent of an operator's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact as errcompact
from tests.scenarios.agents import attempt, raising, words

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger

GUIDANCE = "the column is called total"


def failing(run: errcompact.Run, times: int) -> list[errcompact.Call]:
    return [
        attempt(run, "sql", {"query": f"select amount limit {number}"}, raising(ValueError("no such column: amount")))
        for number in range(times)
    ]


def test_after_its_end_a_run_answers_as_at_its_end(ledger: Ledger) -> None:
    """Verdict, digest, raw error and report."""
    with errcompact.run("r", agent="shop", ledger=ledger) as run:
        failing(run, 2)
        mark = f"#{run.report().classes[0].key[:4]}"
        digest, raw, verdict = run.digest(), run.raw(mark), run.verdict
        classes = run.report().classes
    assert digest
    assert raw is not None
    assert "no such column: amount" in raw
    assert (run.digest(), run.raw(mark), run.verdict) == (digest, raw, verdict)
    assert run.report().classes == classes


def test_after_its_end_a_halted_run_is_still_halted(ledger: Ledger) -> None:
    """Its verdict and its gate say so."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda escalation: errcompact.Halt("enough")) as run:
        failing(run, 3)
    assert (run.verdict.standing, run.report().result) == ("halt", "halted")
    with pytest.raises(errcompact.RunHalted, match="enough"):
        run.check()


def test_the_next_run_of_the_same_name_begins_clean(ledger: Ledger) -> None:
    """What one run ended with is no burden of the next, and stays the first one's account."""
    with errcompact.run("r", ledger=ledger) as first:
        failing(first, 2)
    with errcompact.run("r", ledger=ledger) as second:
        assert (second.digest(), second.report().occurrences) == ("", 0)
    assert (first.report().result, second.report().result) == ("unresolved", "clean")


def test_a_paused_run_never_says_halted(ledger: Ledger) -> None:
    """It waits for a human, and continues after the answer."""
    with errcompact.run("r", ledger=ledger, on_escalation=lambda escalation: errcompact.Pause("Ann looks")) as run:
        failing(run, 3)
        with pytest.raises(errcompact.RunPaused) as stop:
            run.check()
        assert "halt" not in words(str(stop.value))
        assert "Ann looks" in str(stop.value)
        run.resume(GUIDANCE)
        run.check()
        assert GUIDANCE in run.digest()


def continuing(escalation: errcompact.Escalation) -> errcompact.Continue:
    return errcompact.Continue(GUIDANCE)


def test_guidance_reaches_a_loop_that_reads_the_call(ledger: Ledger) -> None:
    """The text of the call that escalated has it."""
    with errcompact.run(ledger=ledger, on_escalation=continuing) as run:
        texts = [call.text for call in failing(run, 3)]
    assert [GUIDANCE in text for text in texts] == [False, False, True]


def test_guidance_reaches_a_loop_that_reads_the_digest(ledger: Ledger) -> None:
    """The block of recent errors has it."""
    with errcompact.run(ledger=ledger, on_escalation=continuing) as run:
        failing(run, 3)
        assert GUIDANCE in run.digest()


def test_guidance_reaches_a_loop_that_calls_functions(ledger: Ledger) -> None:
    """`run.call` returns it with the compacted text."""

    def sql(query: str) -> str:
        raise ValueError("no such column: amount")

    with errcompact.run(ledger=ledger, on_escalation=continuing) as run:
        texts = [run.call(sql, f"select amount limit {number}") for number in range(3)]
    assert [GUIDANCE in text for text in texts] == [False, False, True]


def test_guidance_reaches_a_loop_that_declares_failures(ledger: Ledger) -> None:
    """`run.fail` returns it, or the next digest has it."""
    with errcompact.run(ledger=ledger, on_escalation=continuing) as run:
        texts = [run.fail("OperationalError: no such column: amount", tool="sql") for _ in range(3)]
        assert GUIDANCE in texts[-1]


def test_a_run_that_itself_fails_says_so(ledger: Ledger) -> None:
    """`failed` means the run, `unresolved` a class that was left open."""
    with pytest.raises(RuntimeError, match="agent gave up"), errcompact.run(ledger=ledger) as run:
        raise RuntimeError("agent gave up")
    assert run.report().result == "failed"
    with errcompact.run(ledger=ledger) as run:
        failing(run, 1)
    assert run.report().result == "unresolved"
