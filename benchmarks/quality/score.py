"""
How the library does on the held-out material of `corpus/held_out/`, as totals that show no case.

Run `python -m benchmarks.quality.score`. `--show` is for the author of those cases only. `--set open` measures on
`corpus/open/`, on which a writer of rules may tune, with `--show` to see what went wrong.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import otel_errcompact as errcompact
from benchmarks.quality.report import table
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact.errors import RawError
from otel_errcompact_lab.cli.key import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

CORPUS: Final = Path(__file__).parents[2] / "corpus"
PLACE: Final = re.compile(r"(?P<file>[\w./-]+\.\w+)?(?:[:(, ]+line |line |[:(]) ?(?P<line>\d+)(?:[:,)] ?\d*\)?)?")
"""`a/b.c:3`, `a/b.c:3:7`, `b.c(3,7)`, `b.c line 3`, `b.c, line 3`, `line 3`."""

FALLBACK: Final = frozenset({"plain", "prose", "shell"})
"""Formats that take lines of any program: no parser has recognised the text."""

Row = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Score:
    """
    How often something was right, and where it was not.
    """

    name: str
    right: int = 0
    all: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, right: object, where: str) -> None:
        """Count one answer."""
        self.all += 1
        self.right += bool(right)
        if not right:
            self.wrong.append(where)


class Group(NamedTuple):
    """
    The keys of a case and its twins, and those of its siblings.
    """

    same: list[str]
    other: list[str]


def main() -> int:
    """Measure, print the totals, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.score", description=__doc__)
    parser.add_argument("--set", choices=("held-out", "open"), default="held-out", help="which cases to measure on")
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong too: of held-out cases for their author only"
    )
    parser.add_argument("--json", action="store_true", help="print numbers instead of a table")
    arguments = parser.parse_args()
    name = arguments.set.replace("-", "_")
    cases = rows_with_more(name, "cases")
    scores, tokens = score_digests(cases)
    wrappings = importlib.import_module(f"corpus.{name}.wrappings").WRAPPINGS
    scores += _keys(cases, rows_with_more(name, "siblings"), wrappings)
    scores += _hidden(rows_with_more(name, "hidden"))
    if arguments.json:
        print(json.dumps({"scores": {each.name: [each.right, each.all] for each in scores}, "tokens": tokens}))
    else:
        rows = [(each.name, each.right, each.all, f"{100 * each.right / max(each.all, 1):.1f} %") for each in scores]
        ratio = f"{100 * tokens['digest'] / tokens['raw']:.1f} %"
        rows.append(("tokens of digests, of raw texts", tokens["digest"], tokens["raw"], ratio))
        print(table((f"{len(cases)} {arguments.set} cases", "right", "of", "share"), rows))
    if arguments.show:
        for each in scores:
            print(f"\n## {each.name}\n", *each.wrong, sep="\n")
    return 0


def _rows(folder: str, name: str) -> list[Row]:
    return [json.loads(line) for line in (CORPUS / folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def rows_with_more(folder: str, name: str) -> list[Row]:
    """
    Return the lines of `<name>.jsonl` and of its continuations, which only the open set has.
    """
    more = [file.stem for file in sorted((CORPUS / folder).glob(f"{name}_*.jsonl"))]
    return [row for each in (name, *more) for row in _rows(folder, each)]


def score_digests(cases: Sequence[Row]) -> tuple[list[Score], dict[str, int]]:
    """
    Return what digests of cases keep, the `must` strings first, and their tokens.
    """
    kept, whole = Score(name="`must` kept"), Score(name="cases with every `must` kept")
    first, misled = Score(name="`first` in the first line"), Score(name="no `must_not` in the first line")
    first_cut, misled_cut = (
        Score(name="- `first`, of texts that are cut"),
        Score(name="- `must_not`, of texts that are cut"),
    )
    placed, retry = Score(name="place kept"), Score(name="words on retrying kept")
    tokens = {"digest": 0, "raw": 0}
    for case in cases:
        text = _digest(case)
        head = text.partition("\n")[0]
        missing = [string for string in case["must"] if not is_kept(string, text)]
        for string in case["must"]:
            kept.add(string not in missing, f"{case['id']}: {string}")
        whole.add(not missing, f"{case['id']}: {missing}")
        wanted = [case["first"]] if case["first"] else case["must"]
        cut = _is_cut(case, text)
        for score in (first, first_cut) if cut else (first,):
            score.add(any(string in head for string in wanted), f"{case['id']}: {wanted} is not in {head}")
        for score in (misled, misled_cut) if cut else (misled,):
            if case["must_not"]:
                score.add(not any(string in head for string in case["must_not"]), f"{case['id']}: {head}")
        if case["location"]:
            placed.add(_is_placed(case["location"], text), f"{case['id']}: {case['location']} is not in {head}")
        if case["retry"]:
            retry.add(case["retry"] in text, f"{case['id']}: {case['retry']}")
        tokens["digest"] += estimate_tokens(text)
        tokens["raw"] += estimate_tokens(case["raw"])
    return [kept, whole, first, first_cut, misled, misled_cut, placed, retry], tokens


def _digest(case: Row) -> str:
    """
    Return what the agent reads in place of the raw error, at its first sight.
    """
    with errcompact.run() as run:
        with run.tool(case["tool"], arguments=case["arguments"]) as call:
            if case["exit_code"]:
                call.exit_code, call.result = case["exit_code"], case["raw"]
            else:
                call.fail(case["raw"])
        return call.text


def _is_cut(case: Row, text: str) -> bool:
    """
    Tell whether the digest is more than the raw text with a mark: only then is its first line of our choice.
    """
    return case["raw"].strip() not in text


def is_kept(string: str, text: str) -> bool:
    """
    Tell whether `string` stands in `text`, word for word; a place may be spelt in another way.
    """
    if string in text:
        return True
    place = PLACE.fullmatch(string)
    return place is not None and has_place(place["file"] or "", place["line"], text)


def _is_placed(place: str, text: str) -> bool:
    """
    Tell whether the file's name and the line stand in `text`, in whatever spelling.
    """
    path, _, line = place.rpartition(":")
    return has_place(path, line, text) if line.isdecimal() else Path(place).name in text


def has_place(path: str, line: str, text: str) -> bool:
    """
    Tell whether the file's name stands in `text`, and the line as that of a place.
    """
    return Path(path).name in text and re.search(rf"(?:[:(,]|line ?|^) ?{line}\b", text, re.MULTILINE) is not None


def _keys(cases: Sequence[Row], siblings: Sequence[Row], wrappings: Mapping[str, Callable[[str], str]]) -> list[Score]:
    raws = {case["id"]: case["raw"] for case in cases}
    bare = {case["id"]: case["raw"] for case in cases if _is_bare(case)}
    wrapped = [(name, how, wrap(raw)) for name, raw in bare.items() for how, wrap in wrappings.items()]
    texts = [*raws.values(), *(each["raw"] for each in siblings), *(text for *_, text in wrapped)]
    found_in = dict(zip(texts, _keys_of(texts), strict=True))
    key_of = {text: found["key"] for text, found in found_in.items()}
    apart, together = Score(name="siblings apart"), Score(name="twins together")
    alone = Score(name="- siblings apart, of outputs with one failure")
    for each in siblings:
        same = key_of[each["raw"]] == key_of[raws[each["case"]]]
        is_alone = found_in[raws[each["case"]]]["members"] == 1
        for score in (together,) if each["same"] else (apart, alone) if is_alone else (apart,):
            score.add(same == each["same"], f"{each['case']}: {each['what']}")
    over = Score(name=f"same key in {len(wrappings)} wrappings")
    by_wrapping = {how: Score(name=f"- {how}") for how in wrappings}
    for name, how, text in wrapped:
        same = key_of[text] == key_of[raws[name]]
        over.add(same, f"{name}: {how}")
        by_wrapping[how].add(same, name)
    kinds = {key_of[raw] for raw in raws.values()}
    distinct = Score(name="cases with a key of their own", right=len(kinds), all=len(set(raws.values())))
    unread = {name for name, raw in raws.items() if found_in[raw]["format"] in FALLBACK}
    groups = {name: Group([key_of[raw]], []) for name, raw in raws.items()}
    for each in siblings:
        group = groups[each["case"]]
        (group.same if each["same"] else group.other).append(key_of[each["raw"]])
    near = [
        *near_siblings("with a parser", [group for name, group in groups.items() if name not in unread]),
        *near_siblings("without", [group for name, group in groups.items() if name in unread]),
    ]
    return [apart, alone, together, *near, distinct, over, *by_wrapping.values()]


def near_siblings(kinds: str, groups: Iterable[Group]) -> list[Score]:
    """
    Return precision, recall and F1 over the pairs within each group that its labels judge.

    Two siblings of one case are no pair: each differs from the case, and no label says whether from each other.
    """
    both = claimed = of_one = 0
    for same, other in groups:
        merged = sum(count * (count - 1) // 2 for count in Counter(same).values())
        both += merged
        claimed += merged + sum(key == sibling for key in same for sibling in other)
        of_one += len(same) * (len(same) - 1) // 2
    title = f"keys with near siblings, {kinds}"
    return [
        Score(name=f"{title}: precision", right=both, all=claimed),
        Score(name=f"{title}: recall", right=both, all=of_one),
        Score(name=f"{title}: F1", right=2 * both, all=claimed + of_one),
    ]


def _is_bare(case: Row) -> bool:
    return "(then wrapped as" not in case["source"] and not case["raw"].lstrip().startswith("{")


def _keys_of(texts: Iterable[str]) -> list[Row]:
    """
    Return what `errcompact key` prints for each text: its key, its format and more.
    """
    return [key_of(RawError(text=text, tool="bash")) for text in texts]


def _hidden(rows: Sequence[Row]) -> list[Score]:
    recall = Score(name="hidden failures found (recall)")
    healthy = Score(name="healthy results left alone")
    found = Score(name="found that are failures (precision)")
    for row in rows:
        with errcompact.run() as run, run.tool(row["tool"], arguments=row["arguments"]) as call:
            if row["exit_code"] is not None:
                call.exit_code = row["exit_code"]
            call.result = row["raw"]
        where = f"{row['tool']} {json.dumps(row['arguments'])}: {row['raw'][:160]!r}"
        (recall if row["failure"] else healthy).add(call.failed == row["failure"], where)
        if call.failed:
            found.add(row["failure"], where)
    return [recall, healthy, found]


if __name__ == "__main__":
    raise SystemExit(main())
