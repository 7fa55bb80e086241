from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from otel_errcompact import current_run
from otel_errcompact.boundary.unbound import UnboundScope
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.otel.spans.context import current_run_id

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from otel_errcompact.engine.ledger import Ledger


def test_a_run_without_an_id_gets_one(ledger: Ledger) -> None:
    """Two runs never share a random id."""
    first, second = errcompact.run(ledger=ledger), errcompact.run(ledger=ledger)
    assert first.run_id != second.run_id
    assert len(first.run_id) == 32


class _Mute:
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


class _MuteError(Exception):
    __str__ = __repr__ = _Mute.__str__


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        *((text, {}) for text in (None, 5, b"bytes", [1], _Mute(), _MuteError("a"), ValueError, "", "\ud800")),
        *(("x", {"arguments": value}) for value in (5, b"1", [1], {_Mute(): 1}, _Mute(), "\ud800")),
        *(("x", {name: value}) for name in ("tool", "call_id", "exit_code") for value in (None, 2.5, _Mute())),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_is_taken_whatever_it_is_given(ledger: Ledger, text: Any, settings: dict[str, Any]) -> None:
    """Nothing is raised where an application reports a failure, also not in a run that is stopped."""
    with errcompact.run("r", ledger=ledger) as run:
        for _ in range(8):
            assert run.fail(text, **{"tool": "query", "arguments": {"table": 1}} | settings)
        with run.tool("query", gated=False) as call:
            assert run.fail(text) == ""
    assert call.failed


def test_the_open_run_is_known_in_its_context(ledger: Ledger) -> None:
    """Inside the block, and no longer after it; runs nest."""
    assert current_run() is None
    with errcompact.run("outer", ledger=ledger) as outer:
        with errcompact.run("inner", ledger=ledger) as inner:
            assert (current_run(), current_run_id()) == (inner, "inner")
        assert (current_run(), current_run_id()) == (outer, "outer")
    assert (current_run(), current_run_id()) == (None, "")


def test_the_block_of_recent_errors_is_for_the_next_prompt(ledger: Ledger) -> None:
    """It lists what is live and falls silent when all is well."""
    with errcompact.run("r", ledger=ledger) as run:
        run.fail("KeyError: 'sku'", tool="parse")
        assert run.digest().splitlines()[0] == "[RECENT ERRORS]"
        with run.tool("parse"):
            pass
        assert run.digest() == ""


def test_the_raw_error_can_be_asked_for(ledger: Ledger) -> None:
    """Detail on demand, by the name the digest shows."""
    with errcompact.run("r", ledger=ledger) as run:
        run.fail("KeyError: 'sku'\nsecond line", tool="parse")
        key = run.report().classes[0].key
        assert run.raw(f"#{key[:4]}") == "KeyError: 'sku'\nsecond line"
        assert run.raw("#none") is None


def test_a_context_that_was_cut_is_told_whole_again(ledger: Ledger) -> None:
    """A repeat that only names its class says nothing to an agent that has lost the first digest."""
    traceback = "Traceback (most recent call last):\n" + '  File "a.py", line 1, in f\n    x\n' * 80
    link = "\n\nThe above exception was the direct cause of the following exception:\n\n"
    text = f"{traceback}ValueError: no order 17{link}{traceback}KeyError: 'sku'"
    detail = "\n  | > x\n  | raised as KeyError: 'sku'"
    with errcompact.run("r", ledger=ledger) as run:
        first = run.fail(text, tool="parse")
        assert first == f"[ValueError] at f (a.py:1): no order 17 #23cf{detail}"
        assert detail not in run.fail(text, tool="parse")
        run.forget_shown()
        assert run.fail(text, tool="parse").endswith(detail)
        assert run.report().occurrences == 3
    ledger.forget_shown("a run that nobody knows")
    assert ledger.store.run_ids() == ()


def test_the_final_report_stays(ledger: Ledger) -> None:
    """After the run has ended its account is still there, although the state is gone."""
    with errcompact.run("r", ledger=ledger) as run:
        run.fail("KeyError: 'sku'", tool="parse")
    assert run.report().occurrences == 1
    assert ledger.store.run_ids() == ()


def test_an_exception_of_the_agent_itself_passes_and_is_counted(ledger: Ledger) -> None:
    """What leaves the run's block is the application's to handle; the operator sees it all the same."""
    with pytest.raises(LookupError, match="no plan"), errcompact.run("r", agent="shop", ledger=ledger) as run:
        raise LookupError("no plan")
    assert [(found.type, found.tool) for found in run.report().classes] == [("LookupError", "")]


def test_a_halt_that_leaves_the_run_is_no_failure(ledger: Ledger) -> None:
    """It was counted as an escalation already."""
    thresholds = errcompact.Thresholds(halts=frozenset({"same"}))
    with pytest.raises(errcompact.RunHalted), errcompact.run("r", ledger=ledger, thresholds=thresholds) as run:
        for _ in range(3):
            run.fail("KeyError: 'sku'", tool="parse")
        run.check()
    assert (run.report().occurrences, run.report().result) == (3, "halted")


def test_an_exception_let_through_by_a_call_counts_once(ledger: Ledger) -> None:
    """It was one failure, however far it went."""
    with pytest.raises(KeyError), errcompact.run("r", ledger=ledger) as run, run.tool("parse", reraise=True):
        raise KeyError("sku")
    assert [(found.tool, found.count) for found in run.report().classes] == [("parse", 1)]


def test_without_a_run_the_trace_is_the_run(tracer_provider: TracerProvider) -> None:
    """And outside any trace every call has one of its own."""
    with tracer_provider.get_tracer("app").start_as_current_span("work") as span:
        assert UnboundScope().run_id == f"{span.get_span_context().trace_id:032x}"
    assert UnboundScope().run_id != UnboundScope().run_id


def test_spans_go_where_the_library_was_installed(
    tracer_provider: TracerProvider, exporter: InMemorySpanExporter, ledger: Ledger, in_tmp: Path
) -> None:
    """A provider that was given to `install` need not be given to every run again."""
    options = errcompact.Options(trajectory=TrajectoryOptions(path=in_tmp / "t.jsonl"))
    installation = errcompact.install(tracer_provider=tracer_provider, ledger=ledger, options=options)
    try:
        with errcompact.run("r", agent="shop"):
            pass
    finally:
        installation.uninstall()
    assert [span.name for span in exporter.get_finished_spans()] == ["invoke_agent shop"]
