"""Rows over texts whose needed strings a person wrote down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from benchmarks.field.reading import read_in_turn
from benchmarks.field.row import Row, Scores, add_saved
from benchmarks.field.texts import has_any_place, places_in
from benchmarks.quality.data import load
from benchmarks.quality.score import CORPUS, Score, is_kept, rows_with_more, score_digests
from otel_errcompact.digest.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.quality.data import Kind

LONG: Final = 400
"""Tokens beyond which an error is long."""


def measure_cases(data: Path) -> Row:
    """Return row 1: errors from public issue threads."""
    kept, whole, saved = Score(name="needed strings kept"), Score(name="cases whole"), Score(name="tokens saved")
    file = data / "field" / "cases.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        case = json.loads(line)
        raw = (file.parent / "cases" / f"{case['id']}.txt").read_text(encoding="utf-8")
        shown = _read_case(case, raw)
        missing = [string for string in case["needed"] if not is_kept(string, shown)]
        for string in case["needed"]:
            kept.add(string not in missing, f"{case['id']}: {string}")
        whole.add(not missing, f"{case['id']} ({case['tool']}): {missing}")
        add_saved(saved, raw, shown)
    return Row(
        name="1 field cases",
        leaves_out="twins and siblings (keys); a needed string that is there in other words counts as lost",
        scores=(kept, whole, saved),
    )


def _read_case(case: dict[str, Any], raw: str) -> str:
    if "shell" not in case["reach"] and case["reach"] != "log line":
        return read_in_turn([raw], tool=case["cmd"].replace(" ", "_"))[0]
    return read_in_turn([raw], arguments=json.dumps({"command": case["cmd"]}), exit_code=case["rc"])[0]


def measure_labels(data: Path) -> Row:
    """Return row 8: what must survive of the labelled kinds and of the corpus."""
    scores = Scores()
    for kind in _kinds(data):
        shown = read_in_turn(kind.variants[:1])[0]
        for string in kind.must_survive:
            scores["labelled kinds"].add(string in shown, f"{kind.name}: {string}")
    for name, raw, strings in _corpus():
        shown = read_in_turn([raw])[0]
        for string in strings:
            # What a format words itself stands in no text that stays whole.
            scores["corpus"].add(string in shown or raw.strip() in shown, f"{name}: {string}")
    of_sets = []
    for name in ("open", "held_out"):
        kept, *_ = score_digests(rows_with_more(name, "cases"))[0]
        shows = name == "open"
        of_sets.append(Score(name=f"corpus/{name}", right=kept.right, all=kept.all, wrong=kept.wrong if shows else []))
    return Row(
        name="8 strings that must survive, first digest",
        leaves_out="commands of `corpus/`, which no record names; the words of texts that stay whole; which held-out "
        "strings are lost",
        scores=(*scores.values(), *of_sets),
    )


def measure_long(data: Path) -> Row:
    """Return row 9: tokens saved on long errors."""
    once, four = Score(name="tokens saved, once"), Score(name="tokens saved, four sights")
    for kind in _kinds(data):
        if estimate_tokens(kind.variants[0]) > LONG:
            shown = read_in_turn(kind.variants)
            add_saved(once, kind.variants[0], shown[0])
            for raw, text in zip(kind.variants, shown, strict=True):
                add_saved(four, raw, text)
    return Row(
        name=f"9 labelled kinds over {LONG} tokens",
        leaves_out="kinds that are shorter; tokens are a quarter of the characters",
        scores=(once, four),
    )


def measure_places_of_corpus() -> Score:
    """Return how often a digest keeps one of the places that a text of the corpus names."""
    score = Score(name="corpus")
    for name, raw, _ in _corpus():
        places = places_in(raw)
        if places:
            score.add(has_any_place(places, read_in_turn([raw])[0]), name)
    return score


def _kinds(data: Path) -> Sequence[Kind]:
    try:
        return load(data).kinds
    except FileNotFoundError:
        return ()


def _corpus() -> Iterator[tuple[str, str, list[str]]]:
    for path in sorted(CORPUS.glob("*/expected.json")):
        for case, row in json.loads(path.read_text(encoding="utf-8")).items():
            yield f"{path.parent.name}/{case}", path.with_name(f"{case}.txt").read_text(encoding="utf-8"), row["shown"]
