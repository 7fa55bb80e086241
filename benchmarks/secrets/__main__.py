"""
How much of secrets redaction leaves readable, and what it takes with them: `python -m benchmarks.secrets`.

Each kind of secret is written in each context where it makes sense. A secret is readable where half of it or more is
in the result in one piece, as a reader of that context decodes it; a key of several lines is where one of its lines is.
A text loses what a reader needs of it (command, host, user, file) and does not find in the result.

Kinds and contexts are split by a stable hash of their names. Rules are tuned on the tuned half alone, whose details are
printed; of the held-out half, of which both kind and context are unseen, and of pairs of one seen and one unseen, only
totals are. `--half held-out` prints the details of the other half, for a judge who writes no rules.

`--unseen` measures texts by an author who does not know the rules, and lines without secrets: half a with its details,
half b in totals. Samples hold no secrets of the held-out kinds.
"""

from __future__ import annotations

import argparse
from collections import Counter

from benchmarks.secrets import report
from benchmarks.secrets.contexts import CONTEXTS
from benchmarks.secrets.kind import is_held_out
from benchmarks.secrets.kinds import KINDS
from benchmarks.secrets.measure import Cell, measure, pairs
from benchmarks.secrets.unseen import halves

HALVES = ("tuned", "held-out", "mixed")


def main() -> int:
    """Print the figures, and return the exit code."""
    arguments = _arguments()
    if arguments.unseen:
        _print_unseen(arguments)
        return 0
    by_half: dict[str, list[Cell]] = {half: [] for half in HALVES}
    skipped: Counter[str] = Counter()
    for pair in pairs(KINDS, CONTEXTS, arguments.seed):
        reason = pair.refusal
        if reason is None:
            cell = measure(pair)
            by_half[cell.half].append(cell)
        else:
            skipped[reason] += 1
    chosen = [
        cell
        for cell in by_half[arguments.half]
        if arguments.kind in ("", cell.kind.name) and arguments.context in ("", cell.context.name)
    ]
    why = ", ".join(f"{reason} {number:,}" for reason, number in skipped.most_common())
    print(f"# Secrets\n\n{len(KINDS)} kinds in {len(CONTEXTS)} contexts, seed {arguments.seed}. ", end="")
    print(f"{skipped.total():,} pairs make no sense: {why}.\n")
    print(report.totals(by_half))
    print(f"\n## The {arguments.half} half\n")
    print(report.worst("context", chosen, lambda cell: cell.context.name, arguments.rows))
    print()
    print(report.worst("kind", chosen, lambda cell: cell.kind.name, arguments.rows))
    if arguments.show:
        print("\n## Samples\n")
        print(report.samples(chosen, arguments.show))
    return 0


def _print_unseen(arguments: argparse.Namespace) -> None:
    half: str = arguments.unseen
    cells = [measure(pair) for pair in pairs(KINDS, halves.contexts(half), arguments.seed) if pair.refusal is None]
    print(report.totals({half: cells}))
    if half == halves.HALVES[0]:
        print(f"\n{report.worst('context', cells, lambda cell: cell.context.name, arguments.rows)}")
    honesty = halves.honesty(half, arguments.seed)
    print(f"\n{len(honesty.changed):,} of {len(honesty.lines):,} honest lines change.")
    if arguments.show:
        known = [cell for cell in cells if not is_held_out(cell.kind.name)]
        print(f"\n{report.samples(known, arguments.show)}\n")
        for raw, redacted in list(honesty.changed.items())[: arguments.show]:
            print(f"- {raw}\n+ {redacted}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.secrets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES[:2], default=HALVES[0], help="whose details are printed")
    parser.add_argument(
        "--unseen", nargs="?", choices=halves.HALVES, const=halves.HALVES[0], help="the same of texts of another author"
    )
    parser.add_argument("--kind", default="", metavar="NAME", help="details of this kind alone")
    parser.add_argument("--context", default="", metavar="NAME", help="details of this context alone")
    parser.add_argument("--rows", type=int, default=30, metavar="N", help="rows of each table")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N texts in which something is wrong")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which values")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
