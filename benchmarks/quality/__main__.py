"""
How well errors are told apart, how few tokens are shown of them, what survives, and what it costs.

Run `make bench-quality`, or `python -m benchmarks.quality --help`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.quality import baselines, hostile, ours, peers, recorded, report
from benchmarks.quality.data import DEFAULT, Data, load
from benchmarks.quality.measure import Grouping, Showing, grouping, showing
from otel_errcompact.config import Options

MEGABYTE = 1_000_000
OURS = "otel-errcompact"


def main() -> int:
    """Measure what was asked for, print it, and return the exit code."""
    arguments = _arguments()
    try:
        data = load(arguments.data)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    others = peers.Peers() if arguments.no_peers else peers.run(data)
    sections, numbers = _labelled(data, others)
    if not arguments.no_hostile:
        slowest = hostile.slowest(MEGABYTE)
        sections.append(report.hostile(slowest))
        numbers["hostile"] = [each._asdict() for each in slowest]
    _add_recorded(arguments, sections, numbers)
    print(json.dumps(numbers, indent=2) if arguments.json else "\n\n".join(sections))
    for name, reason in others.failed.items():
        print(f"{name} could not be measured: {reason}", file=sys.stderr)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT, help="the folder of labelled errors and transcripts")
    parser.add_argument("--json", action="store_true", help="print numbers instead of tables")
    parser.add_argument("--no-peers", action="store_true", help="leave the other tools out")
    parser.add_argument("--no-hostile", action="store_true", help="leave the hostile texts out")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print N recorded raw errors and digests")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which ones")
    return parser.parse_args()


def _labelled(data: Data, others: peers.Peers) -> tuple[list[str], dict[str, object]]:
    groupings, showings = _groupings(data, others), _showings(data, others)
    longer, costs = ours.longer_digests(data.texts), {**ours.costs(data), **others.costs}
    strings = sum(len(kind.must_survive) for kind in data.kinds)
    sections = [
        "# Quality",
        report.groupings(groupings, len(data.errors)),
        report.showings(showings, len(data.kinds), strings),
        report.longer(longer, len(data.texts)),
        report.costs(costs),
    ]
    if others.versions:
        sections.append("Peers: " + ", ".join(f"{name} {version}" for name, version in others.versions.items()) + ".")
    numbers: dict[str, object] = {
        "grouping": [asdict(each) | {"pairwise": each.pairwise._asdict()} for each in groupings],
        "showing": [asdict(each) for each in showings],
        "longer_digests": len(longer),
        "microseconds": costs,
        "peers": others.versions,
    }
    return sections, numbers


def _groupings(data: Data, others: peers.Peers) -> list[Grouping]:
    named = {OURS: ours.key_of, **baselines.BASELINES}
    found = [grouping(name, data, key_of) for name, key_of in named.items()]
    return [*found, *(grouping(name, data, keys) for name, keys in others.keys.items())]


def _showings(data: Data, others: peers.Peers) -> list[Showing]:
    shown = {
        OURS: {kind.name: ours.shown(kind) for kind in data.kinds},
        f"{OURS}, default thresholds": {kind.name: ours.shown(kind, Options()) for kind in data.kinds},
        "raw text": {kind.name: list(kind.variants) for kind in data.kinds},
        **others.shown,
    }
    return [showing(name, data.kinds, texts) for name, texts in shown.items()]


def _add_recorded(arguments: argparse.Namespace, sections: list[str], numbers: dict[str, object]) -> None:
    folder = arguments.data / "transcripts"
    if not folder.is_dir():
        print(f"{folder} is missing: no recorded runs are measured", file=sys.stderr)
        return
    failures = recorded.failures(folder)
    counts, share = recorded.formats(failures), recorded.structured_share(failures)
    sections.append(report.formats(counts, share))
    numbers["recorded"] = {"failures": len(failures), "structured_share": share, "formats": counts}
    if arguments.sample:
        chosen = recorded.sample(failures, arguments.sample, arguments.seed)
        sections.append(report.samples(chosen, arguments.seed))
        numbers["sample"] = [asdict(each) for each in chosen]


if __name__ == "__main__":
    raise SystemExit(main())
