"""The table of what compaction keeps: `python -m benchmarks.context [TRANSCRIPTS]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.context.data import Run, read_lists
from benchmarks.context.measure import MakeCandidate, Score, measure_cut, measure_growing
from benchmarks.context.ours import make_ours

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "transcripts"
HEAD = (
    "| window | candidate | facts | kept | tokens kept | users' messages | over | facts per 1,000 tokens "
    "| requests | prefixes lost | requests over |"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.context", description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, help="folder of transcripts (%(default)s)")
    parser.add_argument("--held-out", action="store_true", help="the half of the runs that nobody tunes on")
    parser.add_argument("--share", type=float, nargs="*", default=[0.25, 0.5], help="windows, as shares of the list")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=JSON", help="change a ContextOptions")
    parser.add_argument("--only", default="", metavar="TEXT", help="runs whose name or source holds this")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print so many lost facts (tuning half only)")
    parser.add_argument("--no-growing", action="store_true", help="leave out the replay request by request")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        sys.exit(f"no transcripts at {asked.data}: name the folder, and see benchmarks/RESULTS.md for its form")
    runs = [run for run in read_lists(asked.data) if run.is_held_out == asked.held_out]
    runs = [run for run in runs if asked.only in f"{run.source}/{run.name}"]
    print(f"{len(runs)} runs ({'held out' if asked.held_out else 'tuning half'})", file=sys.stderr)
    print(HEAD)
    print("|---" * HEAD.count(" | ") + "|---|")
    changed = {name: json.loads(value) for name, _, value in (option.partition("=") for option in asked.option)}
    for share in asked.share:
        for name, make in _candidates(changed).items():
            print(f"{name} at {share:.0%} ...", file=sys.stderr)
            score = measure_cut(runs, share, make)
            if not asked.no_growing:
                measure_growing(_growing(runs), share, make, score)
            _print_row(share, name, score)
            for run, fact in [] if asked.held_out else score.lost[: asked.show]:
                print(f"  {run}: {fact}", file=sys.stderr)


def _candidates(changed: dict[str, Any]) -> dict[str, MakeCandidate]:
    return {
        "otel-errcompact": make_ours(changed, with_summary=False),
        "otel-errcompact, summary": make_ours(changed, with_summary=True),
    }


def _growing(runs: list[Run]) -> list[Run]:
    """Every twentieth run of tau-bench, and all others."""
    tau = [run for run in runs if run.source == "tau-bench"]
    return [*tau[::20], *(run for run in runs if run.source != "tau-bench")]


def _print_row(share: float, name: str, score: Score) -> None:
    def part(some: int, all_: int) -> str:
        return f"{some:,} of {all_:,} ({some / all_:.0%})" if all_ else "-"

    print(
        f"| {share:.0%} | {name} | {score.facts} | {part(score.facts_kept, score.facts)} "
        f"| {score.tokens_kept / max(score.tokens, 1):.1%} | {part(score.users_kept, score.users)} "
        f"| {score.over} of {score.lists} | {score.facts_per_thousand:.2f} | {score.requests} | {score.prefixes_lost} "
        f"| {score.requests_over} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
