"""What is kept of replayed runs for the page, and how memory stays bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.html_report import class_summary, collector, model
from otel_errcompact_lab.html_report.model import Place, TokenTotals, Totals
from packages.lab.tests.html_report.conftest import page_of

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.html_report.conftest import Gather, WriteTrajectory

SECRET = "sk-ant-api03-Zt8Qw2Lm5Xr9Kd4Vb7Np1Hs6Jf3Gy0Tc"


def test_a_class_over_all_runs(gather: Gather, tmp_path: Path) -> None:
    """Facts, counts, how it ended where, and where its raw errors lie."""
    page = gather(
        one=["Error: refused by 10.0.0.1:1", "Error: refused by 10.0.0.1:2", "3 rows"],
        two=["Error: refused by 10.0.0.1:1"],
    )
    (entry,) = page.classes
    source = str(tmp_path / "runs.jsonl")
    assert (entry.type, entry.cause, entry.template) == ("Error", "refused by 10.0.0.1:1", "refused by <ip>:<port>")
    assert (entry.count, entry.runs, entry.tools, entry.streak) == (3, 2, ("db.query",), 2)
    assert (entry.standing, entry.standings) == ("unresolved", {"resolved": 1, "unresolved": 1})
    assert [(kept.text, kept.count, kept.place.run_id) for kept in entry.examples] == [
        ("Error: refused by 10.0.0.1:1", 2, "one"),
        ("Error: refused by 10.0.0.1:2", 1, "one"),
    ]
    assert entry.places == (
        Place(run_id="one", source=source, count=2, run=1),
        Place(run_id="two", source=source, count=1, run=2),
    )
    assert (entry.unshown, entry.more_places, sum(entry.bins)) == (0, 0, 3)


def test_totals_and_the_bill(gather: Gather) -> None:
    """As `errcompact replay` counts them."""
    page = gather(one=["Error: refused"] * 4 + ["3 rows"], two=["3 rows"])
    assert page.totals == Totals(
        files=1, runs=2, runs_with_failures=1, tool_calls=6, failures=4, escalations=2, longest_streak=4
    )
    assert page.tokens.raw == page.tokens.whole_raw == 4 * 4
    assert page.tokens.context > page.tokens.results > 0
    assert [run.run_id for run in page.runs] == ["one"]


def test_escalations_are_told_with_what_was_reached(gather: Gather) -> None:
    """Each threshold escalates once, and the streak goes on."""
    page = gather(one=["Error: refused"] * 5)
    assert page.classes[0].streak == 5
    reached = [(group.breach, group.entries[0]) for group in page.escalations]
    assert [(breach.threshold, breach.count, breach.limit, entry.call) for breach, entry in reached] == [
        ("same", 3, 3, 3),
        ("loop", 4, 4, 4),
    ]
    assert page.classes[0].standing == "escalated"


def test_of_a_trajectory_nothing_is_claimed_that_it_does_not_hold(write_trajectory: WriteTrajectory) -> None:
    """Neither status, nor streak, nor escalation, nor share."""
    page = page_of(write_trajectory(*["Error: refused"] * 5))
    (entry,) = page.classes
    assert (entry.standing, entry.streak, entry.escalations) == ("unknown", None, 0)
    assert (page.escalations, page.totals.failures_only_runs) == ((), 1)
    assert page.tokens == TokenTotals(raw=page.tokens.raw)
    assert (page.tokens.alone, page.tokens.digests) == (page.tokens.raw, 0)
    assert [run.context_tokens for run in page.runs] == [0]


def test_the_digest_of_a_live_run_is_what_the_agent_read(tmp_path: Path) -> None:
    """Of a short exception too, whose traceback alone would stay whole; of raw errors alone none is claimed."""
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=tmp_path / "trajectory.jsonl"))
    ledger.listeners.add(file)
    with otel_errcompact.run("one", ledger=ledger) as run:
        with run.tool("query") as call:
            raise LookupError("no such table: orders")
        run.fail("Error: refused", tool="fetch")
    file.close()
    query, fetch = sorted(page_of(tmp_path / "trajectory.jsonl").classes, key=lambda entry: entry.type, reverse=True)
    assert query.digest == call.text
    assert query.digest.startswith("[LookupError] at test_the_digest")
    assert fetch.digest.startswith("Error: refused #")
    (tmp_path / "trajectory.runs.jsonl").unlink()
    assert {entry.digest for entry in page_of(tmp_path / "trajectory.jsonl").classes} == {""}


def test_times_of_the_record_are_kept(write_trajectory: WriteTrajectory) -> None:
    """The axis of all sparklines goes from the first failure to the last."""
    page = page_of(write_trajectory("Error: a", "Error: b", "Error: a"))
    (first, second) = page.classes
    start = 1_800_000_000_000_000_000
    assert page.axis is not None
    assert (page.axis.first, page.axis.last, page.axis.timed) == (start, start + 2_000_000_000, True)
    assert (first.first_ns, first.last_ns) == (start, start + 2_000_000_000)
    assert (first.bins[0], first.bins[-1], sum(first.bins)) == (1, 1, 2)
    assert (second.bins[23], sum(second.bins)) == (1, 1)


def test_made_up_times_are_none(gather: Gather) -> None:
    """Where the record has no times, the axis is the order of the failures."""
    page = gather(one=["Error: a", "Error: b"])
    assert page.axis is not None
    assert (page.axis.first, page.axis.last, page.axis.timed, page.untimed) == (0, 1, False, 2)
    assert {entry.first_ns for entry in page.classes} == {None}


def test_what_no_string_can_hold_is_exact(write_trajectory: WriteTrajectory) -> None:
    """The trajectory keeps half of a character as bytes, and the page has it."""
    page = page_of(write_trajectory("Error: half \ud800 of it"))
    assert page.classes[0].examples[0].text == "Error: half \ud800 of it"


@pytest.mark.parametrize(
    ("raw", "shown"), [(False, "Error: denied [REDACTED:anthropic_key]"), (True, f"Error: denied {SECRET}")]
)
def test_secrets_are_taken_out_unless_asked_for(gather: Gather, raw: bool, shown: str) -> None:
    """Of raw errors; in facts, templates and digests they never are."""
    page = gather(raw, one=[f"Error: denied {SECRET}"])
    (entry,) = page.classes
    assert entry.examples[0].text == shown
    assert SECRET not in f"{entry.cause}{entry.template}{entry.digest}"
    assert page.redacted is not raw


def test_of_many_texts_the_first_are_kept_and_the_rest_counted(gather: Gather) -> None:
    """And where all of them lie is told."""
    page = gather(one=[f"Error: refused by 10.0.0.1:{port}" for port in range(15)])
    (entry,) = page.classes
    assert (len(entry.examples), entry.unshown, entry.places[0].count) == (class_summary.MAX_EXAMPLES, 5, 15)


def test_a_text_without_room_keeps_its_ends(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much is missing is told; the room is for all classes together, as HTML."""
    monkeypatch.setattr(collector, "ROOM", 20_000)
    page = gather(one=["Error: " + "<" * 9_993])
    (example,) = page.classes[0].examples
    assert (len(example.text), len(example.tail), example.cut) == (4_000, 4_000, 2_000)


def test_rare_classes_give_way_and_stay_counted(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by rows, not by what is played."""
    monkeypatch.setattr(collector, "MAX_CLASSES", 2)
    words = ["red", "red", "green", "blue", "cyan", "pink", "red", "gold"]
    page = gather(one=[f"Error: {word}" for word in words])
    assert (page.classes[0].cause, page.classes[0].count, len(page.classes)) == ("red", 3, 2)
    assert (page.other_classes, page.other_failures, page.totals.failures) == (4, 4, 8)


def test_rows_of_runs_and_escalations_are_bounded(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest stay; how many more there are is told."""
    for limit in ("MAX_RUNS", "MAX_ESCALATIONS"):
        monkeypatch.setattr(collector, limit, 1)
    monkeypatch.setattr(model, "MAX_ENTRIES", 2)
    monkeypatch.setattr(class_summary, "MAX_PLACES", 1)
    page = gather(one=["Error: a"] * 3, two=["Error: a"] * 4, three=["Error: a"] * 3, four=["Error: b"] * 2)
    assert ([run.run_id for run in page.runs], page.more_runs) == (["two"], 3)
    (escalations,) = page.escalations
    assert ([entry.place.run_id for entry in escalations.entries], escalations.count) == (["one", "two"], 3)
    assert (escalations.breach.threshold, page.more_escalations) == ("same", 1)
    assert ([place.run_id for place in page.classes[0].places], page.classes[0].more_places) == (["two"], 2)


def test_where_nothing_failed_there_is_no_axis(gather: Gather) -> None:
    """And no class."""
    page = gather(one=["3 rows"])
    assert (page.axis, page.classes, page.totals.runs) == (None, (), 1)
