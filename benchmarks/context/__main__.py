"""
The table of what compaction keeps: `python -m benchmarks.context [TRANSCRIPTS]`, or `make bench-context`.

Columns, of all lists of one half together (`data.py` says which lists, and which half a run belongs to):

- facts kept: of the early facts, as `facts.py` defines them, those that the compacted list still holds. The list up to
  the cut is compacted once. "25 %" is a window of a quarter of what that list costs. Lists of tau-bench are all
  measured, of others those with facts;
- tokens kept: what all compacted lists cost, of what they cost before, by the estimator for every candidate;
- users' messages: of tau-bench, those after the task, the newest first, that together fit a tenth of the window and
  stand in the compacted list word for word;
- over: compacted lists that cost more than the window;
- facts per 1,000 tokens: of the compacted lists;
- requests, prefixes lost, requests over: every twentieth run of tau-bench and of each other source at most five, evenly
  spread, are replayed request by request, in a window of a share of the whole run. A prefix is lost where a message of
  the request before has changed.

Lists of your own are JSONL files below TRANSCRIPTS, a list a line: {"name", "source", "messages"[, "system"]}, with
OpenAI chat messages that begin with the user's task. They belong to neither half, and all of them are measured.

With `--grid` only ours is measured, with each combination of the values: the curve of facts kept over tokens kept.

Candidates with "summary" have one written by `stand_in.py`, which is no model and knows nothing of the facts; all may
cost the same. Peers are run as `peer_runner.py` says.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.context.baselines import BASELINES
from benchmarks.context.data import Run, read_lists
from benchmarks.context.measure import MakeCandidate, Score, measure_cut, measure_growing
from benchmarks.context.ours import make_ours
from benchmarks.context.peers import PEERS, PeerError, PeerProcess, make_peer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "transcripts"
HEADS = (
    "window",
    "candidate",
    "facts kept",
    "tokens kept",
    "users' messages",
    "over",
    "facts per 1,000 tokens",
    "requests",
    "prefixes lost",
    "requests over",
)


def main() -> int:
    """Print the table, and return the exit code."""
    asked = _arguments()
    if not asked.data.is_dir():
        print(f"no transcripts at {asked.data}: name the folder that holds them", file=sys.stderr)
        return 2
    runs = [run for run in read_lists(asked.data) if run.is_own or run.is_held_out == asked.held_out]
    runs = [run for run in runs if asked.only in f"{run.source}/{run.name}"]
    process = None if asked.no_peers or asked.grid else _start_peers()
    candidates = _candidates(dict(asked.option), process, dict(asked.grid))
    half = "held out" if asked.held_out else "the tuning half"
    print(f"{len(runs)} runs, {'your own' if all(run.is_own for run in runs) else half}", file=sys.stderr)
    print(f"| {' | '.join(HEADS)} |\n{'|---' * len(HEADS)}|")
    for share in asked.share:
        for name, make in candidates.items():
            _measure(name, make, share, runs, asked)
    if process is not None:
        print(f"\nPeers: {', '.join(f'{name} {version}' for name, version in process.versions.items())}.")
        process.close()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.context", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA, help="the folder of transcripts (%(default)s)")
    parser.add_argument("--held-out", action="store_true", help="the half of the runs that nobody tunes on")
    parser.add_argument("--share", type=float, nargs="+", default=[0.25, 0.5], help="windows, as shares of the list")
    parser.add_argument("--option", action="append", default=[], type=_option, metavar="NAME=JSON", help="of ours")
    parser.add_argument(
        "--grid", action="append", default=[], type=_option, metavar="NAME=[JSON,...]", help="of ours, with each value"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="runs whose source or name holds this")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N lost facts, of the tuning half alone")
    parser.add_argument("--no-growing", action="store_true", help="leave out the replay request by request")
    parser.add_argument("--no-peers", action="store_true", help="leave out other programs and baselines")
    asked = parser.parse_args()
    if asked.show and asked.held_out:
        parser.error("--show would give away cases of the held-out half")
    return asked


def _option(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    return name, json.loads(value)


def _start_peers() -> PeerProcess | None:
    try:
        return PeerProcess()
    except PeerError as error:
        print(f"no peers: {error}", file=sys.stderr)
        return None


def _candidates(
    changed: dict[str, Any], process: PeerProcess | None, grid: Mapping[str, Sequence[Any]]
) -> dict[str, MakeCandidate]:
    ours = {
        ", ".join(("otel-errcompact", *(f"{name}={value}" for name, value in values.items()), *summary)): make_ours(
            {**changed, **values}, with_summary=bool(summary)
        )
        for combined in product(*grid.values())
        for values in [dict(zip(grid, combined, strict=True))]
        for summary in ((), ("summary",))
    }
    if process is None:
        return ours
    return {**ours, **BASELINES, **{name: make_peer(process, name) for name in PEERS}}


def _measure(name: str, make: MakeCandidate, share: float, runs: Sequence[Run], asked: argparse.Namespace) -> None:
    began = time.monotonic()
    print(f"{name} at {share:.0%} ...", file=sys.stderr)
    try:
        score = measure_cut(runs, share, make)
        if not asked.no_growing:
            measure_growing(replayed(runs), share, make, score)
    except PeerError as error:
        print(f"{name} could not be measured: {error}", file=sys.stderr)
        return
    print(f"| {' | '.join((f'{share:.0%}', name, *_cells(score)))} |", flush=True)
    for run, fact in score.lost[: asked.show]:
        print(f"  {run}: {fact}", file=sys.stderr)
    print(f"  took {time.monotonic() - began:.0f} s", file=sys.stderr)


def replayed(runs: Sequence[Run]) -> list[Run]:
    """Return every twentieth run of tau-bench, and of each other source at most five, evenly spread."""
    by_source: dict[str, list[Run]] = {}
    for run in runs:
        by_source.setdefault(run.source, []).append(run)
    steps = {source: 20 if source == "tau-bench" else -(-len(some) // 5) for source, some in by_source.items()}
    return [run for source, some in by_source.items() for run in some[:: steps[source]]]


def _cells(score: Score) -> tuple[str, ...]:
    return (
        _part(score.facts_kept, score.facts),
        f"{score.tokens_kept / max(score.tokens, 1):.1%}",
        _part(score.users_kept, score.users),
        f"{score.over} of {score.lists}",
        f"{score.facts_per_thousand:.2f}",
        f"{score.requests:,}",
        f"{score.prefixes_lost:,}",
        f"{score.requests_over:,}",
    )


def _part(some: int, of: int) -> str:
    return f"{some:,} of {of:,} ({some / of:.0%})" if of else "-"


if __name__ == "__main__":
    raise SystemExit(main())
