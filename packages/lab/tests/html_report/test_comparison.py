"""Two reports compared: what is new, gone, more and less, and what may be chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import otel_errcompact
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.html_report import collector, compare
from otel_errcompact_lab.html_report.comparison import Comparison, Side
from otel_errcompact_lab.html_report.rendering import html_of
from packages.lab.tests.cli.transcripts import conversation, write_lines
from packages.lab.tests.html_report.conftest import page_of

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_lab.html_report.collector import PageData
    from packages.lab.tests.html_report.conftest import WriteTrajectory

REFUSED, NO_TABLE, QUOTA = "Error: refused", "Error: no such table: orders", "Error: quota exceeded"


def _page(folder: Path, name: str, *runs: list[str]) -> PageData:
    lines = [conversation(f"{name}-{number}", *results) for number, results in enumerate(runs)]
    return page_of(write_lines(folder / f"{name}.jsonl", *lines))


def _changes(comparison: Comparison) -> dict[str, tuple[str, bool]]:
    return {entry.cause: (entry.change, entry.maybe_chance) for entry in comparison.classes}


def test_each_class_by_its_change(tmp_path: Path) -> None:
    """Shares of runs are compared, not numbers of failures: the baseline has twice the runs."""
    baseline = _page(tmp_path, "old", *[[REFUSED, QUOTA]] * 10, *[[NO_TABLE]] * 10)
    here = _page(tmp_path, "new", *[[NO_TABLE, "Error: denied"]] * 10)
    comparison = compare(baseline, _page(tmp_path, "more", *[[NO_TABLE, REFUSED]] * 5, *[["3 rows"]] * 5))
    assert comparison.basis == "runs"
    assert {cause: change for cause, (change, _) in _changes(compare(baseline, here)).items()} == {
        "denied": "new",
        "no such table: orders": "more",
        "refused": "gone",
        "quota exceeded": "gone",
    }
    assert _changes(comparison)["refused"] == ("alike", False)
    (refused,) = [entry for entry in comparison.classes if entry.cause == "refused"]
    assert refused.baseline == Side(count=10, runs=10, standing="unresolved")
    assert refused.here == Side(count=5, runs=5, standing="unresolved")


def test_less_is_the_reverse_of_more(tmp_path: Path) -> None:
    """And new that of gone."""
    many, few = _page(tmp_path, "many", *[[REFUSED]] * 8, *[[QUOTA]] * 2), _page(tmp_path, "few", *[[REFUSED]], ["1"])
    assert [change for change, _ in _changes(compare(many, few)).values()] == ["gone", "less"]
    assert [change for change, _ in _changes(compare(few, many)).values()] == ["new", "more"]


def test_what_few_runs_show_may_be_chance(tmp_path: Path) -> None:
    """A class of one run in ten may be chance; a class of all ten is not."""
    here = _page(tmp_path, "new", [REFUSED, QUOTA], *[[REFUSED]] * 9)
    comparison = compare(_page(tmp_path, "old", *[["3 rows"]] * 10), here)
    assert comparison.decidable
    assert _changes(comparison) == {"refused": ("new", False), "quota exceeded": ("new", True)}
    html = "".join(html_of(here, comparison))
    assert '<details class="folded"><summary>1 change that may be chance</summary>' in html
    assert html.count('<span class="badge new">new</span>') == 3


def test_too_few_runs_are_said_once(tmp_path: Path) -> None:
    """Between four runs and four nothing is beyond chance, and no class gets a mark."""
    here = _page(tmp_path, "new", *[[REFUSED]] * 4)
    comparison = compare(_page(tmp_path, "old", *[["3 rows"]] * 4), here)
    assert (comparison.decidable, _changes(comparison)) == (False, {"refused": ("new", False)})
    assert "".join(html_of(here, comparison)).count("So few runs that every difference may be chance") == 1


def test_where_as_many_runs_have_it_failures_decide(tmp_path: Path) -> None:
    """One run against one: once, and four times."""
    comparison = compare(_page(tmp_path, "old", [REFUSED]), _page(tmp_path, "new", [REFUSED] * 4))
    assert _changes(comparison) == {"refused": ("more", False)}


def test_a_report_is_alike_to_itself(tmp_path: Path) -> None:
    """Nothing is new, gone, more or less."""
    page = _page(tmp_path, "one", [REFUSED, QUOTA], [NO_TABLE] * 3)
    comparison = compare(page, page)
    assert comparison.changes == {"alike": 3}
    assert all(figure.baseline == figure.here for figure in comparison.figures)


def _live(folder: Path, name: str, *texts: str) -> PageData:
    path = folder / f"{name}.jsonl"
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=path))
    ledger.listeners.add(file)
    for number, text in enumerate(texts):
        with otel_errcompact.run(f"{name}-{number}", ledger=ledger) as run:
            run.fail(text, tool="bash")
    file.close()
    return page_of(path)


def test_live_records_are_compared_by_counts(tmp_path: Path) -> None:
    """They do not hold the runs without failures, so that no share and no chance is claimed."""
    old, new = _live(tmp_path, "old", REFUSED, QUOTA), _live(tmp_path, "new", REFUSED, REFUSED, NO_TABLE)
    comparison = compare(old, new)
    assert (comparison.basis, comparison.decidable) == ("counts", False)
    assert _changes(comparison) == {
        "no such table: orders": ("new", False),
        "refused": ("more", False),
        "quota exceeded": ("gone", False),
    }
    names = [figure.name for figure in comparison.figures]
    assert names == [
        "Runs with failures",
        "Failures",
        "Error classes",
        "Escalations",
        "Longest streak",
        "Tokens of raw errors",
    ]
    html = "".join(html_of(new, comparison))
    assert '<a href="#limits">why no shares of runs</a>' in html
    assert html.count("a run without any failure is not in the file") == 1


def test_raw_errors_alone_have_no_escalations_to_compare(tmp_path: Path, write_trajectory: WriteTrajectory) -> None:
    """What one record does not hold is not a zero."""
    comparison = compare(_live(tmp_path, "old", REFUSED), page_of(write_trajectory(REFUSED)))
    assert "Escalations" not in [figure.name for figure in comparison.figures]


def test_a_class_without_a_row_is_not_called_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The baseline knows its key, not its count."""
    monkeypatch.setattr(collector, "MAX_CLASSES", 1)
    baseline = _page(tmp_path, "old", [REFUSED, REFUSED, QUOTA])
    monkeypatch.undo()
    comparison = compare(baseline, _page(tmp_path, "new", [QUOTA], [NO_TABLE]))
    assert _changes(comparison) == {
        "no such table: orders": ("new", False),
        "refused": ("gone", False),
        "quota exceeded": ("unknown", False),
    }
    assert comparison.uncompared == 0


def test_a_gone_class_keeps_a_raw_error_and_leads_to_no_run_of_this_page(tmp_path: Path) -> None:
    """Runs of the baseline have no time line here, although a run of this page has the same number."""
    here = _page(tmp_path, "new", [NO_TABLE])
    html = "".join(html_of(here, compare(_page(tmp_path, "old", [QUOTA]), here)))
    gone = html[html.index("A raw error of the baseline") : html.index("Figures of both")]
    assert f"{QUOTA}</pre>" in gone
    assert "old-0" in gone
    assert "href" not in gone
