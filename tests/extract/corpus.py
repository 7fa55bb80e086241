"""
What tools say, and what a person made of it: `python -m tests.extract.corpus [FORMAT ...]` says where we differ.

The cases are the records of `corpus/<format>/`, and those of `second_reading.json`: self-written failures that the
authors of the formats had not seen, some with another run of the `same` failure or with an `other` failure.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options
from otel_errcompact.digest import DigestOptions
from otel_errcompact.digest.untrusted import quoted_lines
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.redaction.redact import redact
from otel_errcompact.tools import ORDER

if TYPE_CHECKING:
    from otel_errcompact.engine.events import Observation

CORPUS: Final = Path(__file__).parents[2] / "corpus"
FACTS: Final = ("format", "type", "location", "cause", "members", "tally")
MARK: Final = len(" #0123")
"""What a digest adds to a raw error that stays whole."""

WITHOUT_WHOLE: Final = DigestOptions(whole_tokens=0)
"""A digest of every error, of the short ones that stay whole too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a tool said, and what has to be found in it."""

    id: str
    format: str
    """The format that it is a case of: another one may take its text."""

    text: str
    facts: dict[str, Any]
    shown: tuple[str, ...]
    """Every string without which nobody could mend it."""

    same: str = ""
    other: str = ""


class Wrong(NamedTuple):
    """A fact that is not what it has to be."""

    case: str
    field: str
    expected: object
    found: object


def _read() -> list[Case]:
    cases = []
    for path in sorted(CORPUS.glob("*/expected.json")):
        name = path.parent.name
        for case, row in json.loads(path.read_text(encoding="utf-8")).items():
            text = path.with_name(f"{case}.txt").read_text(encoding="utf-8")
            facts = {"format": name, "members": 1, "tally": "", **row}
            cases.append(_case(f"{name}/{case}", name, text, facts))
    path = Path(__file__).with_name("second_reading.json")
    for case, row in json.loads(path.read_text(encoding="utf-8")).items():
        cases.append(_case(f"second_reading/{case}", row["format"], row["text"], row))
    return cases


def _case(id: str, format: str, text: str, row: dict[str, Any]) -> Case:
    facts = {name: row[name] for name in FACTS if name in row}
    runs = {name: row[name] for name in ("same", "other") if name in row}
    return Case(id=id, format=format, text=text, facts=facts, shown=tuple(row["shown"]), **runs)


CASES: Final = _read()
RECORDS: Final = [case for case in CASES if not case.id.startswith("second_reading/")]


def observe(text: str, digest: DigestOptions = WITHOUT_WHOLE, tool: str = "bash", **known: Any) -> Observation:
    """Return what becomes of the first failure of a run."""
    return Ledger(Options(digest=digest)).observe("run", RawError(text=text, tool=tool, **known))


def key(text: str) -> str:
    """Return the dedup key of what a command said."""
    return classify(RawError(text=text, tool="bash")).key


def wrong_facts(case: Case) -> list[Wrong]:
    """Return where type, location, cause and the like are not those that a person wrote down."""
    facts = observe(case.text).found.facts
    found = {name: getattr(facts, name) for name in FACTS} | {"location": str(facts.location)}
    return [Wrong(case.id, name, said, found[name]) for name, said in case.facts.items() if found[name] != said]


def wrong_digest(case: Case) -> list[Wrong]:
    """Return which strings that it takes to mend it the agent does not see, and whether it reads more than was said."""
    text = observe(case.text).text
    wrong = [Wrong(case.id, "shown", said, text) for said in case.shown if said not in text]
    return wrong + _too_long(case, text, len(redact(case.text)))


def wrong_whole(case: Case) -> list[Wrong]:
    """Return where a short text does not stay as it is, but for the mark of its class."""
    found = observe(case.text, DigestOptions())
    unmarked = found.text.partition(f"#{found.found.key[:4]}")[0].strip()
    # A line that begins like one of ours has a mark of its own.
    quoted = redact(quoted_lines(case.text))
    short = found.raw_tokens <= DigestOptions().whole_tokens
    wrong = [Wrong(case.id, "whole", quoted, unmarked)] if short and unmarked != quoted.strip() else []
    return wrong + _too_long(case, found.text, max(len(redact(case.text)), len(quoted)))


def _too_long(case: Case, text: str, most: int) -> list[Wrong]:
    return [Wrong(case.id, "length", most + MARK, len(text))] if len(text) > most + MARK else []


def wrong_keys(case: Case) -> list[Wrong]:
    """Return whether another run has another key, and another failure the same."""
    own = key(case.text)
    same = [key(case.same)] if case.same else []
    other = [key(case.other)] if case.other else []
    wrong = [Wrong(case.id, "same", own, found) for found in same if found != own]
    return wrong + [Wrong(case.id, "other", f"not {own}", found) for found in other if found == own]


LEAST: Final = {"strings": 0.94, "twins": 0.97, "siblings": 0.87}
"""Of the open cases: the strings that digests keep, the twins with one key and the siblings with several."""


def share_of_open(name: str) -> float:
    """Return the share of one of `LEAST` that is right."""
    cases = {row["id"]: row for row in _open_rows("cases")}
    if name == "strings":
        digests = [
            (row, observe(row["raw"], DigestOptions(), row["tool"], exit_code=row["exit_code"]).text)
            for row in cases.values()
        ]
        return fmean(string in text for row, text in digests for string in row["must"])
    same = name == "twins"
    pairs = [row for row in _open_rows("siblings") if row["same"] == same]
    return fmean((key(row["raw"]) == key(cases[row["case"]]["raw"])) == same for row in pairs)


def _open_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / "open" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def main() -> bool:
    """Print each wrong fact, the cases of each format and the open ones, and return whether something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.extract.corpus", description=__doc__)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="by default all, and the shares of the open cases")
    chosen = parser.parse_args().formats
    if unknown := set(chosen) - set(ORDER):
        parser.error(f"no format is called {', '.join(sorted(unknown))}; there are {', '.join(sorted(ORDER))}")
    any_wrong = False
    lines = [f"{'format':<14}{'cases':>6}{'right':>7}"]
    for name in chosen or sorted(ORDER):
        judged = [(case, judge(case)) for case in CASES if case.format == name]
        for wrong in (each for _, found in judged for each in found):
            any_wrong = True
            print(f"{wrong.case} | {wrong.field} | expected {wrong.expected!r:.300} | got {wrong.found!r:.300}")
        lines.append(f"{name:<14}{len(judged):>6}{sum(not found for _, found in judged):>7}")
    print(*lines, sep="\n")
    for name, least in () if chosen else LEAST.items():
        share = share_of_open(name)
        any_wrong |= share < least
        print(f"open cases: {share:.1%} of the {name} are right, at least {least:.0%} have to be")
    return any_wrong


def judge(case: Case) -> list[Wrong]:
    """Return all that is wrong."""
    return [*wrong_facts(case), *wrong_digest(case), *wrong_whole(case), *wrong_keys(case)]


if __name__ == "__main__":
    sys.exit(main())
