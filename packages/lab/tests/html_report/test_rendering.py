"""The page as HTML: literally, as far as it is a promise."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

import pytest

import otel_errcompact
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.html_report.rendering import html_of, moment, share, spark_path
from packages.lab.tests.html_report.conftest import page_of

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.html_report.conftest import Gather, WriteTrajectory


def test_a_raw_error_stands_in_details(gather: Gather) -> None:
    """Escaped, after the line break that a parser takes away."""
    html = "".join(html_of(gather(one=["Error: </script><b>x</b>"])))
    assert "<details><summary>1 raw error" in html
    assert 'aria-label="Raw error 1 of 1">\nError: &lt;/script&gt;&lt;b&gt;x&lt;/b&gt;</pre>' in html


def test_the_policy_allows_the_page_its_own_style_and_script_alone(gather: Gather) -> None:
    """Each by its hash; nothing else is loaded, run or sent."""
    html = "".join(html_of(gather(one=["Error: refused"])))
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for name in ("style", "script")
        for text in re.findall(f"<{name}>(.*?)</{name}>", html, re.DOTALL)
    ]
    assert len(hashes) == 2
    assert (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    ) in html.replace("&#39;", "'")


@pytest.mark.parametrize("name", ["src=", "http:", "https:", "@import", "url(", "style=", "onclick"])
def test_nothing_is_asked_of_anywhere(gather: Gather, name: str) -> None:
    """The page is one file."""
    assert name not in "".join(html_of(gather(one=["Error: refused"] * 4, two=["Error: x", "3 rows"])))


def test_a_trajectory_says_what_it_cannot_know(write_trajectory: WriteTrajectory) -> None:
    """Once, in words; what is not known has no column, no row and no share."""
    html = "".join(html_of(page_of(write_trajectory("Error: refused"))))
    assert html.count("Successes are not known, and so neither are resolutions, streaks, escalations") == 1
    assert html.count("Raw errors alone.") == 1
    assert "not known</" not in html
    assert 'id="escalations"' not in html


@pytest.mark.parametrize(
    ("raw", "said"), [(True, "This page was made with --raw"), (False, "Secrets that errcompact's rules know")]
)
def test_whether_secrets_are_in_it_is_said(gather: Gather, raw: bool, said: str) -> None:
    """On the page itself, since files are passed on."""
    assert said in "".join(html_of(gather(raw, one=["Error: refused"])))


def test_what_is_not_shown_is_said(gather: Gather) -> None:
    """How many more, and where they lie."""
    html = "".join(html_of(gather(one=[f"Error: refused by 10.0.0.1:{port}" for port in range(15)])))
    assert "<b>5 more occurrences are not shown here.</b> Where all 15 are:" in html
    assert '15 in run <a href="#r-1"><bdi class="mono">one</bdi></a> in <bdi class="mono file">' in html


def test_each_threshold_is_said_in_words(gather: Gather) -> None:
    """What was counted, and after which call."""
    html = "".join(html_of(gather(one=["Error: refused"] * 4)))
    asked = "; the handler would be asked, after call"
    assert f"3 of 3 failures of this class without a success of its operation{asked} 3" in html
    assert f"4 of 4 identical calls that failed or were refused while nothing succeeded{asked} 4" in html


def test_a_breach_of_several_runs_is_said_once(gather: Gather) -> None:
    """With its number; the runs are folded, each with its call."""
    html = "".join(html_of(gather(one=["Error: row 1 of 7"] * 3, two=["3 rows", *["Error: row 2 of 8"] * 3])))
    escalations = html.partition('<section id="escalations"')[2].partition("</section>")[0]
    assert escalations.count("3 of 3 failures of this class without a success of its operation") == 1
    assert '<span class="figure">2<small>\N{MULTIPLICATION SIGN}</small></span>' in escalations
    assert re.findall(r"after call (\d) \(<bdi class=\"mono\">db.query", escalations) == ["3", "4"]


def test_the_bill_of_a_live_run_has_what_frameworks_send(tmp_path: Path) -> None:
    """Of an exception its message: against that a digest costs more, and the page says how much."""
    html = "".join(html_of(page_of(_record_of_one_exception(tmp_path))))
    bill = html.partition('<section id="tokens"')[2].partition("</section>")[0]
    rows = dict(re.findall(r'<th scope="row">(.*?)</th><td class="num">([\d,]+)</td>', bill))
    assert list(rows) == [
        "Raw errors",
        "As frameworks send them",
        "Their digests",
        "Saved against raw errors",
        "Added against what frameworks send",
    ]
    raw, sent, digests, saved, added = map(int, rows.values())
    assert (sent, saved, added) == (6, raw - digests, digests - sent)
    assert f"Against that these digests cost {added} tokens more" in bill


def _record_of_one_exception(folder: Path) -> Path:
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=folder / "trajectory.jsonl"))
    ledger.listeners.add(file)
    with otel_errcompact.run("one", ledger=ledger) as run, run.tool("query"):
        raise LookupError("no such table: orders")
    file.close()
    return folder / "trajectory.jsonl"


def test_a_page_without_failures_says_so(gather: Gather) -> None:
    """And has no empty table."""
    html = "".join(html_of(gather(one=["3 rows"])))
    assert "<h1>0 failures</h1>" in html
    assert "Nothing has failed in 1 tool call." in html
    assert 'id="class-table"' not in html


def test_bars_of_a_sparkline() -> None:
    """The highest is as high as the box, the lowest is still seen, and nothing is no bar."""
    assert spark_path((1, 0, 100, 50), 3) == "M0 24v-2h2v2zM6 24v-24h2v24zM9 24v-12h2v12z"


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(1, 0, "\N{EN DASH}"), (0, 9, "0.0 %"), (1, 5_000, "< 0.1 %"), (1, 8, "12.5 %"), (-1, 8, "-12.5 %")],
)
def test_shares(part: int, whole: int, said: str) -> None:
    """What is little is not nothing."""
    assert share(part, whole) == said


def test_moments() -> None:
    """Also those that no calendar knows."""
    assert moment(1_800_000_000_000_000_000) == "2027-01-15 08:00:00"
    assert moment(2**63 - 1) == "2262-04-11 23:47:16"
    assert moment(10**30) == f"{10**21:,} s"
