from __future__ import annotations

import json

import pytest

import otel_errcompact as errcompact
from otel_errcompact.engine.ladder import NO_HANDLER, explain_stop
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.report import RunReport
from otel_errcompact.escalator.actions import Continue, Halt
from otel_errcompact.escalator.escalation import AnsweredEscalation, Escalation
from tests.builders import raw


def test_a_report_lists_every_class_with_its_fate() -> None:
    """RECOVERED, ACTIVE and ESCALATED, each with tool, error, count and class."""
    ledger = Ledger()
    ledger.open("run-1", agent="shop", asks=True)
    ledger.observe("run-1", raw("KeyError: 'sku'", tool="parse", time_ns=1))
    ledger.succeed("run-1", "parse")
    for time_ns in (2, 3, 4):
        ledger.observe("run-1", raw("ConnectionError: no such host | again", time_ns=time_ns))
    ledger.answer("run-1", Halt("enough"))
    ledger.observe("run-1", raw("ValueError: odd", tool="read", time_ns=5))
    report = ledger.report("run-1")
    assert [(found.status, found.tool, found.count) for found in report.classes] == [
        ("RECOVERED", "parse", 1),
        ("ESCALATED", "db.query", 3),
        ("ACTIVE", "read", 1),
    ]
    lines = report.to_markdown().splitlines()
    assert lines[0] == "# Run run-1: halted"
    assert lines[2].startswith("5 failures in 3 classes, 1 after an escalation. Raw errors ")
    assert lines[4:6] == ["| status | tool | error | count | hint | class |", "|---|---|---|---|---|---|"]
    assert lines[6].startswith("| RECOVERED | parse | [KeyError]: 'sku' | 1 |")
    assert r"no such host \| again | 3 |" in lines[7]
    assert lines[9:] == [
        "",
        "## How they ended",
        "",
        f"- `{report.classes[0].key}`: parse succeeded",
        "",
        "## Escalations",
        "",
        r"- halt: one error class keeps recurring (3 of 3): [ConnectionError] no such host \| again (enough)",
    ]


def test_a_recovered_class_is_recovered_even_after_an_escalation() -> None:
    """What a human solved is solved."""
    ledger = Ledger()
    ledger.open("r", asks=True)
    for _ in range(3):
        ledger.observe("r", raw("KeyError: 'sku'"))
    ledger.answer("r", Continue())
    ledger.succeed("r", "db.query")
    assert [found.status for found in ledger.report("r").classes] == ["RECOVERED"]


def test_members_of_one_cause_are_counted() -> None:
    """Two tests that fail for one cause are one failure, and the report says so."""
    ledger = Ledger()
    failed = "FAILED tests/test_a.py::test_{} - ModuleNotFoundError: No module named 'shop'\n"
    ledger.observe("r", raw(failed.format("x") + failed.format("y") + "2 failed in 0.1s"))
    assert ledger.report("r").classes[0].tally == "2 tests"
    assert "No module named 'shop' (2 tests) | 1 |" in ledger.report("r").to_markdown()


def test_a_clean_run_has_a_short_report() -> None:
    """No table where there is nothing to list."""
    assert Ledger().report("r").to_markdown() == (
        "# Run r: clean\n\n0 failures in 0 classes. Raw errors 0 tokens, as frameworks send them 0, digests 0.\n"
    )


def test_a_report_survives_json(escalation: Escalation) -> None:
    """The JSON form reads back to an equal report, forgotten classes included."""
    report = RunReport(
        run_id="r",
        agent="",
        result="halted",
        occurrences=3,
        handled=0,
        after_escalation=0,
        raw_tokens=10,
        sent_tokens=8,
        digest_tokens=5,
        classes=(),
        forgotten_classes=2,
        escalations=(AnsweredEscalation(escalation=escalation, action="pause"),),
    )
    assert RunReport.model_validate(json.loads(report.model_dump_json())) == report
    assert "2 more classes were forgotten to bound memory." in report.to_markdown()
    assert report.to_markdown().splitlines()[-1] == (
        "- pause: one error class keeps recurring (3 of 3): [ConnectionError] connection refused"
    )


def test_untrusted_text_cannot_break_the_table() -> None:
    """Line breaks and bars stay inside their cell."""
    ledger = Ledger()
    ledger.observe("r\n# forged", raw("KeyError: 'a|b'\nsecond | line", tool="x|y\n| z"))
    table = [line for line in ledger.report("r\n# forged").to_markdown().splitlines() if line.startswith("|")]
    assert len(table) == 3
    assert not any(line.startswith("# forged") for line in ledger.report("r\n# forged").to_markdown().splitlines())


def ends_of(*calls: tuple[str, dict[str, str], bool]) -> list[str]:
    """How the classes of a run ended: calls of a tool with arguments, that fail or succeed."""
    with errcompact.run(ledger=Ledger()) as run:
        for tool, arguments, fails in calls:
            with run.tool(tool, arguments=arguments) as call:
                call.result = "done"
                if fails:
                    call.fail("PermissionError: the table is closed")
    return [found.ended for found in run.report().classes]


def test_the_end_of_a_class_names_what_came_between() -> None:
    """The calls that succeeded since it failed last, and the one that ended it; an open class has no end."""
    orders, sales, setup = ("query", {"table": "orders"}), ("query", {"table": "sales"}), ("setup", {"user": "ann"})
    said = "ran setup, then the same call succeeded"
    assert ends_of((*orders, True), (*setup, False), (*setup, False), (*orders, False)) == [said]
    assert ends_of((*setup, False), (*orders, True), (*orders, False)) == ["the same call succeeded"]
    assert ends_of((*orders, True), (*orders, False), (*orders, True)) == [""]
    assert ends_of((*orders, True), (*sales, False)) == [""]


@pytest.mark.parametrize(
    ("known", "reason", "told"),
    [
        (True, "", 'one error class keeps recurring (3 of 3): "[ConnectionError] connection refused"'),
        (True, NO_HANDLER, 'one error class keeps recurring (3 of 3): "[ConnectionError] connection refused"'),
        (True, "enough", 'one error class keeps recurring (3 of 3): "[ConnectionError] connection refused"; enough'),
        (False, "enough", "enough"),
        (False, NO_HANDLER, ""),
    ],
)
def test_the_words_of_others_are_a_quotation_in_a_stop(
    known: bool, reason: str, told: str, escalation: Escalation
) -> None:
    """And the operator's own behind it; that there was no handler is no reason."""
    assert explain_stop(escalation if known else None, reason) == told
