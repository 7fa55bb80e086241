"""
What counts as a failure, case by case: `python -m tests.detector.verdicts [--set NAME]` says which are judged wrongly.

A row of `verdicts.jsonl` states what the verdict on a call (`tool`, `arguments`, `exit_code`, `flagged`, `raw`) has to
be: `outcome`, `stated`, `reason`. What it does not state may be
anything. Several values of `flagged` are several cases; a part `["x", 9]` of `raw` stands there nine times.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.detector.results import classify_result

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN: Final = Path(__file__).parents[2] / "corpus" / "open"
FACTS: Final = frozenset({"outcome", "stated", "reason"})
COUNTED: Final = "families_counted"
"""The set whose rows are only counted and never shown: a rule made for one of them would spoil it."""

MIN_FOUND: Final = 0.5
"""Of its failures: those that only words tell are given up, since words decide nothing."""

MAX_FALSE: Final = 0.0
"""Of its healthy results: a success that is called a failure does harm, a failure that is missed costs nothing."""

RULES: Final = {
    "notices": "What a human decides, a sibling's failure, cancellation, what still runs: neither failure nor success.",
    "policies": "What a rule forbids is a failure that the agent has to work around; no human was asked.",
    "searches": "A searching tool that says in one line that there is no match has not failed, although it is flagged.",
    "questions": "A search or a question that says nothing and ends with a status has its answer; it did not fail.",
    "reported": "What the tool itself reports, by its flag or a status, counts as reported, its success too.",
    "commands": "Closing words that tools write only when they fail are a failure where nothing says how they ended.",
    "pipes": "The last lines of a tool that failed state it although the pipe's status is that of `tail`.",
    "roles": "A shell, or a program in its own name, states a failure that neither a flag nor an exit status declares.",
    "own_words": "What a tool protocol says at the very start of a result is a failure, whatever the tool.",
    "answers": "The whole answer of a function that is one error is a failure; what a command prints is content.",
    "complaints": "A program that reads has failed where it says nothing but, in its own name, why it could not.",
    "forms": "One example of each form, and of what looks like it.",
    "tallies": "A tally is one of tests only where it counts tests: a checker that counts errors has run none.",
    "sound_answers": "Flags without a reason, errors beside data and errors further down are their reader's business.",
    "contents": "What is read or searched may hold anything, and words in prose are no failures.",
    "look_alikes": "Questions answered with no, content that is read, complaints that stopped nothing.",
    "succeeded": "Passed tests, clean builds, warnings, logs, sources and data that speak of errors are successes.",
    "worth_judging": "Files and search results may say what they like; what is silent or huge is judged.",
    "families": "Outputs of many families of tools, written before the rules were read; rules were made for this half.",
    COUNTED: "The other half counts how far the rules reach: no rule was made for it.",
    "hidden": "No message is known by itself: the same words are content where a call reads them.",
    "hidden_long": "The same of results that are mostly of several lines.",
    "hidden_more": "The same of more programs.",
}
"""The rule that the cases of each set are of; the last three sets are those of `corpus/open/`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    A result, the call that it is of, and what is expected of its verdict.
    """

    set: str
    id: str
    text: str
    call: dict[str, Any]
    """The tool, its arguments as text, the exit status and the flag."""

    expected: dict[str, Any]
    """The facts that the row states; "no failure" is a success, or neither."""

    missed: bool
    """Whether the failure is known to be overlooked: only words tell of it."""


def read() -> list[Case]:
    """Return all cases, in the order of the files."""
    rows = _rows(Path(__file__).with_suffix(".jsonl"))
    for name in ("hidden", "hidden_long", "hidden_more"):
        for number, row in enumerate(_rows(OPEN / f"{name}.jsonl"), 1):
            outcome = "failure" if row.pop("failure") else "no failure"
            rows.append({"set": name, "id": f"{number} {' '.join(row['raw'][:40].split())}", "outcome": outcome, **row})
    return [case for row in rows for case in _cases(**row)]


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _cases(
    *,
    set: str,
    id: str,
    raw: Any,
    tool="",
    arguments: Any = "",
    exit_code=None,
    flagged: Any = None,
    missed=False,
    **facts,
) -> Iterator[Case]:
    # Whatever is misspelt in a row ends up among the facts.
    assert facts.keys() <= FACTS, (set, id)
    text = (
        raw if isinstance(raw, str) else "".join(part if isinstance(part, str) else part[0] * part[1] for part in raw)
    )
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    for flag in flagged if isinstance(flagged, list) else [flagged]:
        name = f"{id}, flagged {flag}" if isinstance(flagged, list) else id
        call = {"tool": tool, "arguments": written, "exit_code": exit_code, "flagged": flag}
        yield Case(set=set, id=f"{set}: {name}", text=text, call=call, expected=facts, missed=missed)


def judge(case: Case) -> dict[str, Any]:
    """Return how the verdict differs from what is expected, with its reason; nothing where it does not."""
    verdict = classify_result(case.text, **case.call)
    found = asdict(verdict)
    expected = {} if case.set == COUNTED else case.expected
    wrong = {fact: found[fact] for fact, value in expected.items() if not _agrees(found[fact], value)}
    if case.missed:
        wrong = {} if wrong else {"missed": False}
    return wrong and {**wrong, "reason": verdict.reason}


def _agrees(found: object, expected: object) -> bool:
    return found != "failure" if expected == "no failure" else found == expected


def count() -> tuple[float, float]:
    """Return of the set that is only counted which share of failures is found, and of what is healthy taken for one."""
    found = defaultdict(list)
    for case in read():
        if case.set == COUNTED:
            found[case.expected["outcome"]].append(classify_result(case.text, **case.call).outcome == "failure")
    return fmean(found["failure"]), fmean(found["no failure"])


def main() -> bool:
    """Print what is wrong of each set, and return whether something is."""
    parser = argparse.ArgumentParser(prog="python -m tests.detector.verdicts", description=__doc__)
    parser.add_argument("--set", action="append", choices=RULES, metavar="NAME", help=f"one of {', '.join(RULES)}")
    chosen = parser.parse_args().set or list(RULES)
    cases = [case for case in read() if case.set in chosen]
    wrong = {case.id: judged for case in cases if (judged := judge(case))}
    table = [f"{'set':<18}{'rows':>6}{'right':>7}{'wrong':>7}{'missed':>8}"]
    for name in (*chosen, ""):
        of_set = [case for case in cases if name in ("", case.set)]
        failed = [case for case in of_set if case.id in wrong]
        missed = sum(case.missed for case in of_set)
        right = len(of_set) - len(failed) - missed
        table.append(f"{name or 'all':<18}{len(of_set):>6}{right:>7}{len(failed):>7}{missed:>8}")
        if name and failed:
            print(f"# {name}: {RULES[name]}")
            print(
                *(f"{case.id} | expected {_said(case.expected)} | got {_said(wrong[case.id])}" for case in failed),
                sep="\n",
            )
    print(*table, sep="\n")
    if COUNTED not in chosen:
        return bool(wrong)
    found, false = count()
    print(f"{COUNTED}: {found:.1%} of its failures are found, at least {MIN_FOUND:.0%} have to be")
    print(f"{COUNTED}: {false:.1%} of what is healthy is taken for one, at most {MAX_FALSE:.0%} may be")
    return bool(wrong) or found < MIN_FOUND or false > MAX_FALSE


def _said(facts: dict[str, Any]) -> str:
    return ", ".join(f"{fact}: {value}" for fact, value in facts.items())


if __name__ == "__main__":
    sys.exit(main())
