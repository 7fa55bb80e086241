"""
Play recorded runs by the first edition's rules and by today's ladder, side by side.

    python -m benchmarks.ladder ../shared/data/outcomes/run2 --outcomes ../shared/data/outcomes/outcomes.json

The first edition refused a call that had failed three times since it last succeeded itself, whatever succeeded
between, and halted at the third failure of a class in an operation, the sixth in a row or the thirtieth of the run.
The record goes on as it went: what an agent would have done after a refusal cannot be known.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.compactor.classify import classify
from otel_errcompact.detector.operation import call_fingerprint, operation_of
from otel_errcompact.detector.results import classify_result
from otel_errcompact.engine.events import Refused
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_lab.analysis.outcomes import read_outcomes
from otel_errcompact_lab.analysis.runs import build_raw_error
from otel_errcompact_lab.transcripts import RecordedCall, RecordedRun, find, read

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError

SAME: Final = 3
CONSECUTIVE: Final = 6
TOTAL: Final = 30


@dataclass(slots=True)
class Decided:
    """
    What a rule would have done in one run.
    """

    refused: int = 0
    worked: int = 0
    """Refused calls that succeed in the record."""

    missed: int = 0
    """Second retries of an identical call, with no success between, that the rule lets through and that fail."""

    asked: bool = False
    halted: bool = False


@dataclass(slots=True)
class FirstEdition:
    """
    The rules before turns, targets and kinds of failures.
    """

    decided: Decided = field(default_factory=Decided)
    failed: Counter[str] = field(default_factory=Counter[str])
    streaks: Counter[tuple[str, str]] = field(default_factory=Counter["tuple[str, str]"])
    row: int = 0
    total: int = 0

    def refuses(self, call: RecordedCall) -> bool:
        """Return whether the call is refused."""
        return bool(call.arguments) and self.failed[call_fingerprint(call.tool, call.arguments)] >= SAME

    def take(self, call: RecordedCall, key: str) -> None:
        """Count how a call ended: with a class, or with success where there is none."""
        fingerprint, name = call_fingerprint(call.tool, call.arguments), operation_of(call.tool, call.arguments).name
        if not key:
            self.row = 0
            del self.failed[fingerprint]
            for place in [place for place in self.streaks if place[1] == name]:
                del self.streaks[place]
            return
        self.failed[fingerprint] += 1
        self.streaks[key, name] += 1
        self.row += 1
        self.total += 1
        if self.streaks[key, name] >= SAME or self.row >= CONSECUTIVE or self.total >= TOTAL:
            self.decided.halted = True


@dataclass(slots=True)
class Today:
    """
    The ladder of this checkout, at its defaults, without a handler.
    """

    ledger: Ledger = field(default_factory=Ledger)
    decided: Decided = field(default_factory=Decided)
    began: int = 0

    def __post_init__(self) -> None:
        self.ledger.open("r", stoppable=False)

    def refuses(self, call: RecordedCall) -> bool:
        """Return whether the call is refused."""
        return bool(
            self.ledger.refusal(Refused(run_id="r", tool=call.tool, arguments=call.arguments, directory=call.directory))
        )

    def fail(self, raw: RawError) -> None:
        """Count a failure."""
        escalation = self.ledger.observe("r", raw).escalation
        if escalation is not None:
            self.decided.halted = self.decided.halted or escalation.halts
            self.decided.asked = self.decided.asked or escalation.threshold in {"same", "rejected", "loop"}

    def succeed(self, call: RecordedCall) -> None:
        """Count a success."""
        self.ledger.succeed("r", call.tool, arguments=call.arguments, began=self.began, directory=call.directory)


def play(run: RecordedRun) -> tuple[Decided, Decided]:
    """Return what the first edition and today's ladder decide in a run."""
    old, new = FirstEdition(), Today()
    alone: Counter[str] = Counter()
    turn = -1
    for call, number in zip(run.calls, run.turns(), strict=True):
        if number != turn:
            turn, new.began = number, new.ledger.next_tick()
        judged = classify_result(
            call.result, tool=call.tool, arguments=call.arguments, flagged=call.flagged, exit_code=call.exit_code
        )
        if judged.outcome == "ignored":
            continue
        fails, fingerprint = judged.outcome == "failure", call_fingerprint(call.tool, call.arguments)
        for rule in (old, new):
            refuses = rule.refuses(call)
            rule.decided.refused += refuses
            rule.decided.worked += refuses and not fails
            rule.decided.missed += fails and not refuses and alone[fingerprint] > 1
        if fails:
            raw = build_raw_error(call, judged, began=new.began)
            alone[fingerprint] += bool(fingerprint)
            old.take(call, classify(raw).key)
            new.fail(raw)
        else:
            alone.clear()
            old.take(call, "")
            new.succeed(call)
    return old.decided, new.decided


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--outcomes", type=Path, help="JSON or CSV: run, succeeded")
    arguments = parser.parse_args()
    outcomes = read_outcomes(arguments.outcomes) if arguments.outcomes else None
    sums: dict[str, Counter[str]] = {"first edition": Counter(), "today": Counter()}
    runs: Counter[bool] = Counter()
    for file in find(arguments.paths, on_problem=_say):
        for run in read(file, on_problem=_say):
            if not isinstance(run, RecordedRun):
                continue
            label = outcomes.of(run) if outcomes is not None else None
            good = run.succeeded if label is None else label
            if good is not None:
                runs[good] += 1
            for rule, decided in zip(sums.values(), play(run), strict=True):
                side = {True: "good", False: "bad", None: "unknown"}[good]
                rule.update({"refused": decided.refused, "worked": decided.worked, "missed": decided.missed})
                rule.update({f"{side} asked": decided.asked, f"{side} halted": decided.halted})
    print(f"{runs[True]} good runs, {runs[False]} bad ones\n")
    columns = ("refused", "worked", "missed", "good asked", "bad asked", "good halted", "bad halted")
    print(f"| rule | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, counted in sums.items():
        print(f"| {name} | {' | '.join(str(counted[column]) for column in columns)} |")


def _say(problem: object) -> None:
    print(problem, file=sys.stderr)


if __name__ == "__main__":
    main()
