from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import otel_errcompact as errcompact
from otel_errcompact.engine.ledger import Ledger

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

FAILED_TESTS = """\
collected 2 items

tests/test_cart.py .F                                                    [100%]

=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 683 == 0
========================= 1 failed, 1 passed in 0.12s ==========================
"""


@pytest.mark.parametrize(
    ("tool", "arguments", "result", "sign"),
    [
        pytest.param("bash", {"command": "pytest | tail"}, FAILED_TESTS, "pytest", id="lost exit status"),
        pytest.param("bash", {"command": "jqq ."}, "bash: jqq: command not found", "shell", id="shell"),
    ],
)
def test_a_failure_that_the_tool_did_not_report_counts(ledger: Ledger, tool, arguments, result, sign) -> None:
    """A pipe loses the exit status; what the tool says at its end counts, and is marked as stated."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool(tool, arguments=arguments) as call:
            call.result = result
        assert call.failed
        assert call.failure is not None
        assert call.failure.raw.stated == sign
        assert run.report().occurrences == 1


def test_the_closing_tally_decides(ledger: Ledger) -> None:
    """Whatever stands before it, and the other way round."""
    passed = "=========================== 2 passed in 0.12s ===========================\n"
    with errcompact.run("r", ledger=ledger) as run:
        for text, failed in ((FAILED_TESTS + passed, False), (passed + FAILED_TESTS, True)):
            with run.tool("bash", arguments={"command": "pytest | tail"}) as call:
                call.result = text
            assert call.failed == failed


def test_status_0_of_the_program_itself_is_a_success(ledger: Ledger) -> None:
    """A traceback in its log was handled, and the answer stays byte for byte."""
    log = "Traceback (most recent call last):\n  File \"sync.py\", line 3, in pull\nKeyError: 'sku'\n"
    with errcompact.run("r", ledger=ledger) as run, run.tool("bash", arguments={"command": "python sync.py"}) as call:
        call.result, call.exit_code = log, 0
    assert (call.failed, call.text) == (False, log)


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        pytest.param("bash", {"command": "cat build.log"}, FAILED_TESTS, id="a file that holds a failure"),
        pytest.param("read_file", {"path": "x"}, FAILED_TESTS, id="a reading tool"),
        pytest.param("bash", {"command": "pytest"}, "2 passed in 0.1s", id="success"),
        pytest.param("query", {}, {"status": "paid", "total": 3}, id="an object that says nothing of an error"),
        pytest.param("query", {}, {"rows": 3}, id="an object without a word of its own outcome"),
        pytest.param("query", {}, [1, 2], id="a list"),
        pytest.param("query", {}, None, id="nothing"),
    ],
)
def test_what_is_no_failure_stays_a_result(ledger: Ledger, tool, arguments, result) -> None:
    """Reading about failures is none, and the agent gets what the tool returned."""
    with errcompact.run("r", ledger=ledger) as run:
        with run.tool(tool, arguments=arguments) as call:
            call.result = result
        assert (call.failed, call.result, run.report().result) == (False, result, "clean")


@pytest.mark.parametrize("says", [{"exit_code": 0}, {"says_success": True}])
def test_what_its_status_calls_a_success_stays_as_it_is(ledger: Ledger, says: dict[str, Any]) -> None:
    """A pipe hides how `pytest` ended: the failure counts, and the agent reads what it has asked for."""
    with errcompact.run("r", ledger=ledger) as run:
        call = run.port.record_call("bash", arguments={"command": "pytest | tail -3"}, result=FAILED_TESTS, **says)
        assert (call.failed, call.compacted, call.text) == (True, False, FAILED_TESTS)
        assert run.report().occurrences == 1


def test_an_answer_that_is_neither_ends_no_streak(ledger: Ledger) -> None:
    """A call that the user declined has not succeeded."""
    with errcompact.run("r", ledger=ledger) as run:
        for result in ("bash: jqq: command not found", "The user doesn't want to proceed with this tool use."):
            with run.tool("bash", arguments={"command": "jqq ."}) as call:
                call.result = result
        assert not call.failed
        assert [found.status for found in run.report().classes] == ["ACTIVE"]


def test_detection_can_be_switched_off() -> None:
    """Who trusts the tools' own flags says so."""
    ledger = Ledger(errcompact.Options(hidden_failures=False))
    with errcompact.run("r", ledger=ledger) as run, run.tool("bash", arguments={"command": "pytest | tail"}) as call:
        call.result = FAILED_TESTS
    assert (call.failed, call.text) == (False, FAILED_TESTS)


def test_the_span_says_what_gave_the_failure_away(
    ledger: Ledger, tracer_provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    """Operators tell stated failures from declared ones."""
    with (
        errcompact.run("r", ledger=ledger, tracer_provider=tracer_provider) as run,
        run.tool("bash", arguments={"command": "pytest | tail"}) as call,
    ):
        call.result = FAILED_TESTS
    span = next(span for span in exporter.get_finished_spans() if span.name == "execute_tool bash")
    assert span.attributes is not None
    assert span.attributes["errcompact.stated_by"] == "pytest"
