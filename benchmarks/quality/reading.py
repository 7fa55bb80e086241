"""
A blind reading: does a reader with the digest alone know as much as one with the raw error?

Three steps, each a command; `benchmarks/quality/README.md` says who reads what, and in which order:

    python -m benchmarks.quality.reading packets CASES FOLDER    errors to digests.md and raw.md
    python -m benchmarks.quality.reading sheet FOLDER            both readers' answers, shuffled, to sheet.md
    python -m benchmarks.quality.reading table FOLDER            grades to a table
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, Final

import otel_errcompact as errcompact
from benchmarks.quality.report import table
from otel_errcompact.digest.tokens import estimate_tokens

GRADES: Final = ("full", "short", "wrong")
READERS: Final = ("digests", "raw")

Row = dict[str, Any]


def main() -> int:
    """Make what the step asked for needs, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.reading",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    steps = parser.add_subparsers(dest="step", required=True)
    packets = steps.add_parser("packets", help="write the errors for both readers")
    packets.add_argument("cases", type=Path, help="lines of JSON with tool, arguments, exit_code and raw")
    packets.add_argument("--number", type=int, default=40, metavar="N", help="errors to read")
    packets.add_argument("--seed", type=int, default=1, help="which ones")
    packets.add_argument("--short", action="store_true", help="errors that stay whole too")
    sheet = steps.add_parser("sheet", help="write the answers for the grader")
    result = steps.add_parser("table", help="print the grades")
    for step in (packets, sheet, result):
        step.add_argument("folder", type=Path, help="where packets, answers and grades are")
    arguments = parser.parse_args()
    if arguments.step == "packets":
        _write_packets(arguments)
    elif arguments.step == "sheet":
        _write_sheet(arguments.folder)
    else:
        print(_make_table(arguments.folder))
    return 0


def _write_packets(arguments: argparse.Namespace) -> None:
    cases = _read_lines(arguments.cases)
    shown = [(case, _digest(case)) for case in cases]
    if not arguments.short:
        shown = [(case, text) for case, text in shown if case["raw"].strip() not in text]
    chosen = random.Random(arguments.seed).sample(shown, min(arguments.number, len(shown)))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for reader, texts in (
        ("digests", [text for _, text in chosen]),
        ("raw", [case["raw"] for case, _ in chosen]),
    ):
        heads = (f"tool `{case['tool']}`, arguments `{case['arguments']}`" for case, _ in chosen)
        parts = (
            f"## {number}\n\n{head}\n\n~~~~\n{text}\n~~~~\n"
            for number, (head, text) in enumerate(zip(heads, texts, strict=True), 1)
        )
        (arguments.folder / f"{reader}.md").write_text("\n".join(parts), encoding="utf-8")
    tokens = [sum(estimate_tokens(case["raw"]) for case, _ in chosen), sum(estimate_tokens(text) for _, text in chosen)]
    print(f"{len(chosen)} errors, {tokens[0]:,} tokens raw, {tokens[1]:,} as digests")


def _digest(case: Row) -> str:
    with errcompact.run() as run:
        with run.tool(case["tool"], arguments=case["arguments"]) as call:
            if case["exit_code"]:
                call.exit_code, call.result = case["exit_code"], case["raw"]
            else:
                call.fail(case["raw"])
        return call.text


def _write_sheet(folder: Path) -> None:
    """Write the answers of both readers in an order that does not tell whose they are, and that order."""
    answers = {reader: {row["case"]: row for row in _read_lines(folder / f"{reader}.jsonl")} for reader in READERS}
    raws = (folder / "raw.md").read_text(encoding="utf-8").split("\n## ")
    order: list[Row] = []
    parts: list[str] = []
    for number, raw in enumerate(raws, 1):
        readers = random.Random(number).sample(READERS, 2)
        order.append({"case": number, "a": readers[0], "b": readers[1]})
        said = (
            f"**{letter}** cause: {answer['cause']}\nplace: {answer['place']}\naction: {answer['action']}\n"
            for letter, answer in (("A", answers[readers[0]][number]), ("B", answers[readers[1]][number]))
        )
        parts.append("\n".join((f"## {raw.removeprefix('## ')}", *said)))
    (folder / "sheet.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "order.jsonl").write_text("".join(json.dumps(row) + "\n" for row in order), encoding="utf-8")


def _make_table(folder: Path) -> str:
    order = {row["case"]: row for row in _read_lines(folder / "order.jsonl")}
    counts = {reader: Counter[str]() for reader in READERS}
    for row in _read_lines(folder / "grades.jsonl"):
        for letter in ("a", "b"):
            counts[order[row["case"]][letter]][row[letter]] += 1
    rows = [(f"with the {reader}", *(counts[reader][grade] for grade in GRADES)) for reader in READERS]
    return table((f"{len(order)} errors", *GRADES), rows)


def _read_lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    raise SystemExit(main())
