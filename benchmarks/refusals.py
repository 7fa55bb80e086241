"""
How well refusals of too long contexts are told from others: `python -m benchmarks.refusals [FOLDER]`.

The folder holds `refusals.jsonl` and `lookalikes.jsonl`, a body with its `id`, `status` and, of a refusal, its
`limit_tokens` on each line; it is not part of this repository. Each body is tried as it came, as text of JSON, and as
an SDK's exception writes it out.

- recall: of the refusals, those that are taken for one;
- false alarms: of the look-alikes, those that are taken for a refusal;
- limits: of the refusals, those of which the limit that is told was read, and no other.

A request that is too large for a whole minute's tokens is a refusal here, for no wait makes it pass. Where the data has
it among the look-alikes, its label counts as a refusal's, and the program says so.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_errcompact_context.providers.overflow import overflow_in_body

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_RECALL = 0.95
MOST_ALARMS = 1 / 60
_LARGER_THAN_RATE = re.compile(r"request too large\b.*\btokens per min", re.IGNORECASE | re.DOTALL)
DATA = Path(__file__).parents[1].parent / "shared" / "data" / "overflow"

WAYS: dict[str, Callable[[Any], Any]] = {
    "as it came": lambda body: body,
    "as text": lambda body: body if isinstance(body, str) else json.dumps(body),
    "as an SDK's error": lambda body: body if isinstance(body, str) else f"Error code: 400 - {body!r}",
}


def main() -> int:
    """Print the figures, and return the exit code: 1 where they are below the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    folder: Path = parser.parse_args().folder
    if not (folder / "refusals.jsonl").is_file():
        print(f"no refusals.jsonl at {folder}: name the folder that holds it", file=sys.stderr)
        return 2
    refusals, others = (_read(folder / name) for name in ("refusals.jsonl", "lookalikes.jsonl"))
    relabelled = [one for one in others if _LARGER_THAN_RATE.search(json.dumps(one["body"]))]
    others = [one for one in others if one not in relabelled]
    refusals += relabelled
    for one in relabelled:
        print(f"a look-alike by its label, counted as a refusal: {one['id']}", file=sys.stderr)
    print("| way | recall | false alarms | limits |\n|---|---|---|---|")
    limited = [one for one in refusals if "limit_tokens" in one]
    lowest = 1.0
    alarms = 0
    for way, write in WAYS.items():
        found = [overflow_in_body(write(one["body"]), one.get("status")) for one in refusals]
        seen = [one for one in found if one is not None]
        wrong = [one for one in others if overflow_in_body(write(one["body"]), one.get("status")) is not None]
        limits = sum(
            one is not None and one.limit_tokens == refusal["limit_tokens"]
            for one, refusal in zip(found, refusals, strict=True)
            if "limit_tokens" in refusal
        )
        lowest, alarms = min(lowest, len(seen) / len(refusals)), max(alarms, len(wrong))
        shares = _share(len(wrong), others), _share(limits, limited)
        print(f"| {way} | {_share(len(seen), refusals)} | {shares[0]} | {shares[1]} |")
        for told, one in zip(refusals, found, strict=True):
            if one is None:
                print(f"missed: {told['id']}", file=sys.stderr)
        for one in wrong:
            print(f"false alarm: {one['id']}", file=sys.stderr)
    return int(lowest < LEAST_RECALL or alarms > MOST_ALARMS * len(others))


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _share(part: int, whole: list[dict[str, Any]]) -> str:
    return f"{part} of {len(whole)} ({part / max(1, len(whole)):.0%})"


if __name__ == "__main__":
    sys.exit(main())
