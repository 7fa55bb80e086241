"""The time line of a run: every call in its place, and what is not on the page counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import otel_errcompact
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import RawError, SpanRef
from otel_errcompact.escalator.actions import Continue
from otel_errcompact.escalator.escalation import Escalation
from otel_errcompact_lab.html_report import class_summary, collector, time_line
from otel_errcompact_lab.html_report.bounded import Room
from otel_errcompact_lab.html_report.rendering import html_of
from otel_errcompact_lab.html_report.steps import Fold, Gap, Step
from otel_errcompact_lab.html_report.time_line import TimeLineDraft
from otel_errcompact_lab.replay import PlayedCall
from packages.lab.tests.html_report.conftest import page_of

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_lab.html_report.collector import PageData
    from otel_errcompact_lab.html_report.steps import Part
    from packages.lab.tests.html_report.conftest import Gather, WriteTrajectory

REFUSED = "Error: refused"


def _parts(page: PageData) -> tuple[Part, ...]:
    (run,) = page.runs
    return run.time_line.parts


def _told(part: Part) -> str:
    if isinstance(part, Fold):
        return f"{part.count} folded"
    if isinstance(part, Gap):
        return f"{part.steps} missing, {part.failures} failed"
    notes = "".join(f" {note.kind}" for note in part.notes)
    return f"{part.call} {part.kind}{notes}"


def test_every_call_in_order(gather: Gather) -> None:
    """Failures, what resolved them, and the successes before the first failure."""
    page = gather(one=["3 rows", REFUSED, REFUSED, "3 rows", "4 rows"])
    assert [_told(part) for part in _parts(page)] == [
        "1 success",
        "2 failure",
        "3 failure",
        "4 success resolved",
        "5 success",
    ]


def test_a_failure_has_its_class_and_its_raw_error(gather: Gather) -> None:
    """The raw error stands at its class, once; the step leads there."""
    page = gather(one=["Error: refused by 10.0.0.1:1", "Error: refused by 10.0.0.1:1", "Error: refused by 10.0.0.1:2"])
    steps = [part for part in _parts(page) if isinstance(part, Step)]
    found = [step.failure for step in steps if step.failure is not None]
    assert [(each.key, each.count, each.streak) for each in found] == [
        (page.classes[0].key, number, number) for number in (1, 2, 3)
    ]
    first, second = (example.name for example in page.classes[0].examples)
    assert [each.text.example for each in found] == [first, first, second]
    assert {each.text.beginning for each in found} == {""}
    assert {first, second} <= page.anchors
    assert [(each.name, each.text) for each in steps[0].arguments] == []
    assert (steps[0].tool, steps[0].preview) == ("db.query", "")


def test_an_example_of_a_class_leads_to_its_step(gather: Gather) -> None:
    """And the run to its classes."""
    page = gather(one=["3 rows", REFUSED], two=["Error: other"])
    places = {entry.cause: entry.examples[0].place for entry in page.classes}
    assert (places["refused"].run, places["refused"].step) == (1, 2)
    assert (places["other"].run, places["other"].step) == (2, 1)
    assert [run.number for run in page.runs] == [1, 2]
    assert page.runs[0].keys == ((page.classes[0].key, 1),)


def test_three_plain_successes_fold(gather: Gather) -> None:
    """Two do not; a success that resolved a class stays apart."""
    page = gather(one=["1", "2", REFUSED, "3", "4", "5", "6", REFUSED])
    assert [_told(part) for part in _parts(page)] == [
        "1 success",
        "2 success",
        "3 failure",
        "4 success resolved",
        "3 folded",
        "8 failure",
    ]
    assert page.runs[0].time_line.folded == 3


def test_a_threshold_stands_at_the_call_that_reached_it(gather: Gather) -> None:
    """Of a transcript it is what would have been asked."""
    page = gather(one=[REFUSED] * 4)
    steps = [part for part in _parts(page) if isinstance(part, Step)]
    assert [[(note.threshold, note.count) for note in step.notes] for step in steps] == [
        [],
        [],
        [("same", 3)],
        [("loop", 4)],
    ]
    places = [group.entries[0].place for group in page.escalations]
    assert [(place.run, place.step) for place in places] == [(1, 3), (1, 4)]


def test_a_failure_settled_late_keeps_its_place() -> None:
    """Of a trace, a call may fail while a later one is running: what follows from it stands at the earlier one."""
    draft = TimeLineDraft(Room(100_000), str, supports_counts=True)
    for span in (1, 2):
        call = PlayedCall(run_id="one", tool="fetch", arguments="", outcome="success", time_ns=span, span_id=span)
        draft.add_call(call, None)
    ledger, escalations = Ledger(Options()), list[Escalation]()
    ledger.listeners.add(Listener({Escalation: escalations.append}))
    raw = RawError(text=REFUSED, tool="fetch", span=SpanRef(trace_id=1, span_id=1))
    observation = [ledger.observe("one", raw) for _ in range(3)][-1]
    draft.fail(observation, REFUSED, None, "")
    draft.note_escalation(escalations[0])
    assert [_told(part) for part in draft.finish().parts] == ["1 failure escalated", "2 success"]


def test_a_declined_call_is_ignored(gather: Gather) -> None:
    """With the reason."""
    page = gather(one=["The user doesn't want to proceed with this tool use.", REFUSED])
    first = _parts(page)[0]
    assert isinstance(first, Step)
    assert (first.kind, first.said) == ("ignored", "declined by the user")


def test_a_live_record_has_refusals_escalations_and_answers(tmp_path: Path) -> None:
    """In the order of the ledger; calls are counted from the first failure."""
    page = page_of(_record(tmp_path))
    steps = [part for part in _parts(page) if isinstance(part, Step)]
    assert [_told(step) for step in steps] == [
        "1 failure",
        "2 failure",
        "0 refused refused",
        "0 refused refused escalated answered",
        "3 success resolved",
        "4 failure",
    ]
    refused, asked = steps[2], steps[3]
    assert (refused.identical_to, refused.identical_call, refused.notes[0].count) == (1, 1, 2)
    assert [(note.threshold, note.action, note.message) for note in asked.notes[1:]] == [
        ("loop", None, ""),
        ("loop", "continue", "use the other host"),
    ]
    assert [(each.name, each.text) for each in steps[0].arguments] == [("url", "http://db")]
    (group,) = page.escalations
    (entry,) = group.entries
    assert (group.breach.live, group.breach.action, entry.message) == (True, "continue", "use the other host")
    assert (entry.call, entry.refused) == (2, 2)
    assert (page.totals.tool_calls, page.totals.refused, page.runs[0].refused) == (4, 2, 2)
    assert (page.totals.live_runs, page.runs[0].kind, page.tokens.context) == (1, "live", 0)
    assert all(step.time_ns for step in steps)


def _record(tmp_path: Path, *calls: tuple[str, bool]) -> Path:
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=tmp_path / "trajectory.jsonl"))
    ledger.listeners.add(file)
    answer = Continue("use the other host")
    url = {"url": "http://db"}
    with otel_errcompact.run("live", ledger=ledger, on_escalation=lambda _: answer) as run:
        for note, fails in calls or [*[("a", True)] * 4, ("a", False), ("a", True)]:
            with run.tool("fetch", arguments={**url, "note": note} if calls else url) as call:
                if call.refused:
                    continue
                if fails:
                    raise ValueError("no such host: db")
                call.result = "3 rows"
    file.close()
    return tmp_path / "trajectory.jsonl"


def test_a_resolution_that_is_taken_back_stands_at_its_failure(tmp_path: Path) -> None:
    """What resolved the class did not help the call that had failed."""
    page = page_of(_record(tmp_path, ("a", True), ("b", False), ("a", True)))
    assert [_told(part) for part in _parts(page)] == ["1 failure", "2 success resolved", "3 failure taken_back"]


def test_raw_errors_alone_have_a_time_line_without_streaks(write_trajectory: WriteTrajectory) -> None:
    """Nothing is claimed of what lies between them."""
    steps = [part for part in _parts(page_of(write_trajectory(REFUSED, REFUSED))) if isinstance(part, Step)]
    streaks = [(step.kind, step.call, step.failure and step.failure.streak) for step in steps]
    assert streaks == [("failure", 1, 0), ("failure", 2, 0)]


def test_of_a_long_run_both_ends_stay(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many are missing between them, and how many of these failed, is said."""
    monkeypatch.setattr(time_line, "MAX_HEAD", 2)
    monkeypatch.setattr(time_line, "MAX_TAIL", 2)
    page = gather(one=["1", REFUSED, "2", REFUSED, "3", "4", REFUSED])
    assert [_told(part) for part in _parts(page)] == [
        "1 success",
        "2 failure",
        "3 missing, 1 failed",
        "6 success",
        "7 failure",
    ]


def test_a_run_without_room_keeps_its_end(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters are bounded as well, for each run and for all."""
    monkeypatch.setattr(collector, "TIME_LINE_ROOM", 40_000)
    page = gather(one=[f"Error: refused number-{'x' * 500}-{word}" for word in range(30)])
    parts = _parts(page)
    gap = next(part for part in parts if isinstance(part, Gap))
    assert gap.steps == gap.failures
    assert sum(isinstance(part, Step) for part in parts) + gap.steps == 30
    last = parts[-1]
    assert isinstance(last, Step)
    assert last.call == 30


def test_no_link_leads_nowhere(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the step of an example is not on the page."""
    monkeypatch.setattr(time_line, "MAX_HEAD", 1)
    monkeypatch.setattr(time_line, "MAX_TAIL", 2)
    page = gather(one=["1", REFUSED, REFUSED, REFUSED, REFUSED])
    html = "".join(html_of(page))
    assert page.classes[0].examples[0].place.step == 2
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(re.findall(r' id="([^"]+)"', html))


def test_a_raw_error_that_its_class_does_not_show_stands_in_its_step(
    gather: Gather, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning does, and what is cut is counted."""
    monkeypatch.setattr(class_summary, "MAX_EXAMPLES", 1)
    page = gather(one=[f"Error: refused by 10.0.0.1:{port}{'x' * 5_000}" for port in (1, 2)])
    (_, second) = (step.failure for step in page.runs[0].time_line.steps())
    assert second is not None and second.text.beginning.startswith("Error: refused by 10.0.0.1:2xxx")  # noqa: PT018
    assert (len(second.text.beginning), second.text.cut, second.text.example) == (4_000, 1_028, "")


def test_the_rest_of_a_fold_is_counted(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tools are, too."""
    monkeypatch.setattr(time_line, "MAX_FOLDED", 2)
    fold = _parts(gather(one=["1", "2", "3", "4", REFUSED]))[0]
    assert isinstance(fold, Fold)
    assert (len(fold.steps), fold.count, fold.tools) == (2, 4, (("db.query", 4),))


def test_secrets_are_taken_out_of_time_lines(gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of raw errors, tools and arguments alike."""
    monkeypatch.setattr(class_summary, "MAX_EXAMPLES", 0)
    key = "sk-ant-api03-Zt8Qw2Lm5Xr9Kd4Vb7Np1Hs6Jf3Gy0Tc"
    assert key not in repr(gather(one=[f"Error: denied {key}"]).runs)
    assert key in repr(gather(True, one=[f"Error: denied {key}"]).runs)
