"""
What redaction takes of texts that hold no secrets: `python -m benchmarks.secrets.alarms FOLDER...`.

Each line of each text file under the folders is redacted alone; of JSON and JSON lines, each line of each string.
Printed is how many lines change, by the kind that they were taken for, with samples. Whether a line holds a secret is
for the reader to judge.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MARK = r"\[REDACTED:([^\]]*)\]"
AROUND = 60
"""Characters that are printed on each side of what was redacted."""


@dataclass
class Alarms:
    """
    What was read, and what of it was redacted.

    Attributes:
        files: Files that were read.
        unreadable: Files that hold no text.
        lines: Lines that are not empty.
        distinct: Lines that differ from all before.
        changed: Lines that redaction changes.
        by_kind: Distinct lines that were changed, with what became of them, by kind.
    """

    files: int = 0
    unreadable: int = 0
    lines: int = 0
    distinct: int = 0
    changed: int = 0
    by_kind: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))


def read(paths: Iterable[Path]) -> Alarms:
    """Return what redaction does to each line of the files."""
    found, counts = Alarms(), Counter[str]()
    for path in paths:
        try:
            text = path.read_bytes().decode("utf-8")
        except (UnicodeDecodeError, OSError):
            found.unreadable += 1
            continue
        if "\0" in text:
            found.unreadable += 1
            continue
        found.files += 1
        counts.update(line for part in _texts(path, text) for line in part.splitlines() if line.strip())
    found.lines, found.distinct = counts.total(), len(counts)
    for line, times in counts.items():
        redacted = redact(line)
        if redacted != line:
            found.changed += times
            # Texts about redaction hold marks already.
            for kind in sorted(Counter(re.findall(MARK, redacted)) - Counter(re.findall(MARK, line))) or ["other"]:
                found.by_kind[kind].append((line, redacted))
    return found


def files(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the files under the folders, in a stable order; a file is one of itself."""
    for folder in folders:
        yield from [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and return the exit code: 2 where a folder is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.secrets.alarms",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=3, metavar="N", help="print N lines of each kind")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which lines")
    options = parser.parse_args(arguments)
    missing = [str(folder) for folder in options.folders if not folder.exists()]
    if missing:
        print(f"no such folder: {', '.join(missing)}", file=sys.stderr)
        return 2
    found = read(files(options.folders))
    changed = sum(len(lines) for lines in found.by_kind.values())
    print(f"{found.changed:,} of {found.lines:,} lines change ({found.changed / max(1, found.lines):.3%}),", end=" ")
    print(f"{found.distinct:,} distinct, in {found.files:,} files; {found.unreadable:,} files hold no text.\n")
    print(f"| kind | distinct lines, {changed:,} |\n|---|---:|")
    for kind, lines in _sorted(found):
        print(f"| {kind} | {len(lines):,} |")
    for kind, lines in _sorted(found) if options.show else ():
        print(f"\n{kind}")
        for raw, redacted in Random(options.seed).sample(lines, min(options.show, len(lines))):
            print(f"  - {_part(raw, raw, redacted)}\n  + {_part(redacted, raw, redacted)}")
    return 0


def _sorted(found: Alarms) -> list[tuple[str, list[tuple[str, str]]]]:
    return sorted(found.by_kind.items(), key=lambda item: (-len(item[1]), item[0]))


def _part(text: str, raw: str, redacted: str) -> str:
    at = next((at for at, (one, other) in enumerate(zip(raw, redacted, strict=False)) if one != other), 0)
    return text[max(0, at - AROUND) : at + 2 * AROUND].strip()


def _texts(path: Path, text: str) -> Iterator[str]:
    try:
        if path.suffix == ".json":
            yield from _strings(json.loads(text))
            return
        if path.suffix in (".jsonl", ".ndjson"):
            parsed = [json.loads(line) for line in text.splitlines() if line.strip()]
            for one in parsed:
                yield from _strings(one)
            return
    except ValueError:
        # What only has the name of JSON is read as text.
        pass
    yield text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


if __name__ == "__main__":
    raise SystemExit(main())
