"""Write the pages of this folder that are made from tables in the code. `make docs` calls it, a test compares."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.errors import RawError
from otel_errcompact.extract import EXTRACTORS
from otel_errcompact.ledger import Ledger
from otel_errcompact.masking import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent
CORPUS = FOLDER.parent / "tests" / "corpus"

_MASKING = """\
# What is masked, and what is kept

Made from `otel_errcompact/masking.py` by `make docs`; the examples are also its tests.

A message becomes its template in one pass: at each place the first rule that matches decides. A text under "becomes"
is masked as shown; a text under "stays" is left as it is. Rules whose token is "kept" protect what a later rule would
mask: codes, statuses, limits and versions decide what a failure is.

| rule | token | becomes | stays |
|---|---|---|---|
"""

_FORMATS = """\
# Formats

Made from the table in `otel_errcompact/extract/__init__.py` by `make docs`, in the order in which formats are tried:
what may hold the output of others comes first. The digests are those of real outputs under `tests/corpus/`.

| format | what it reads |
|---|---|
"""


def _masking() -> str:
    rows = [
        f"| `{rule.name}` | {_token(rule.replacement)} | {_lines(*(f'{a} → {b}' for a, b in rule.masks))} | "
        f"{_lines(*rule.keeps)} |"
        for rule in RULES
    ]
    return _MASKING + "\n".join(rows) + "\n"


def _token(replacement: object) -> str:
    if isinstance(replacement, str):
        return _lines(replacement)
    return "kept" if getattr(replacement, "__name__", "") == "_keep" else "by its parts"


def _formats() -> str:
    rows = [f"| [`{extractor.name}`](#{extractor.name}) | {_summary(extractor.name)} |" for extractor in EXTRACTORS]
    examples = [f"\n## {extractor.name}\n\n{_example(extractor.name)}" for extractor in EXTRACTORS]
    return _FORMATS + "\n".join(rows) + "\n" + "\n".join(examples) + "\n"


def _summary(name: str) -> str:
    module = importlib.import_module(f"otel_errcompact.extract.formats.{name}")
    return " ".join((module.__doc__ or "").split("\n\n")[0].split()).rstrip(".").replace("|", "\\|")


def _example(name: str) -> str:
    """Return the digest of the recorded output that it shortens most."""
    recorded = CORPUS / name / "expected.json"
    if not recorded.exists():
        return "Examples stand in its tests."
    cases = json.loads(recorded.read_text(encoding="utf-8"))
    observed = {case: _observe(CORPUS / name / f"{case}.txt") for case in cases}
    case = max(observed, key=lambda case: (observed[case][0] - observed[case][1], case))
    before, after, text = observed[case]
    return f"`{case}`, {before} tokens raw, {after} as a digest:\n\n```text\n{text}\n```"


def _observe(path: Path) -> tuple[int, int, str]:
    observation = Ledger(Options()).observe("docs", RawError(text=path.read_text(encoding="utf-8"), tool="bash"))
    return observation.raw_tokens, observation.digest_tokens, observation.text


def _lines(*texts: str) -> str:
    """Return texts as code in one cell of a table."""
    return "<br>".join(f"`` {text} ``".replace("|", "\\|") for text in texts)


PAGES: Final[dict[Path, Callable[[], str]]] = {FOLDER / "masking.md": _masking, FOLDER / "formats.md": _formats}
"""Every generated page and what writes it."""

if __name__ == "__main__":
    for page, write in PAGES.items():
        content = write()
        page.write_text(content, encoding="utf-8")
        sys.stdout.write(f"{page.name}: {len(content)} characters\n")
