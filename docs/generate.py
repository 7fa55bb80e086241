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
from otel_errcompact.otel import semconv
from otel_errcompact.otel.conventions import convention_of
from otel_errcompact.otel.spans import boundary_call, conversation_of, failures_of, read
from otel_errcompact.replay.traces import RebuiltSpan
from otel_errcompact.transcripts import read as read_transcript
from otel_errcompact.transcripts.model import RecordedTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.otel.spans import EndedSpan

FOLDER = Path(__file__).parent
CORPUS = FOLDER.parent / "tests" / "corpus"
RECORDED = FOLDER.parent / "tests" / "otel" / "recorded" / "spans"

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


_INSTRUMENTATIONS = """\
# Instrumentations

Made from `otel_errcompact/otel/conventions.py` and the spans recorded in `tests/otel/recorded/` by `make docs`.

Whoever makes the spans, the processor counts each failure of a tool or a model once. This is what the spans of each
instrumentation told of a tool that raised, or of a model call that failed where no tool was called; what is missing
here is missing in the spans, and an integration or `run.tool()` knows it. Where no run is told it is the trace.

| framework | spans by | scope | recorded | tells | does not tell |
|---|---|---|---|---|---|
"""

_TOLD = ("tool", "call id", "arguments", "run", "type", "text", "stack")
_MODEL_TOLD = ("run", "type", "text", "stack")


def _instrumentations() -> str:
    """Return a line for each framework and instrumentation, by its recordings."""
    pairs = sorted({path.stem.rpartition("-")[0] for path in RECORDED.glob("*.jsonl")})
    rows = [_instrumentation(*pair.split("-")) for pair in pairs]
    notes = sorted({f"- {name}: {note}." for name, note in map(_note, _scopes()) if note})
    return _INSTRUMENTATIONS + "\n".join(rows) + "\n\n" + "\n".join(notes) + "\n"


def _instrumentation(framework: str, instrumentation: str) -> str:
    traces = [trace for path in _paths(framework, instrumentation) for trace in _traces(path)]
    spans = [(trace, read(RebuiltSpan(span, span.scope_name))) for trace in traces for span in trace.spans]
    failed = [(trace, span) for trace, span in spans if span.failed and boundary_call(span) is not None]
    tools = [
        (trace, span)
        for trace, span in failed
        if (call := boundary_call(span)) and call.tool not in semconv.MODEL_OPERATIONS
    ]
    told = set[str]().union(*(_told(trace, span) for trace, span in tools or failed))
    asked = _TOLD if tools or not failed else _MODEL_TOLD
    packages = str(traces[0].spans[0].resource["recorded.packages"]).replace("==", " ").split()
    recorded = ", ".join(f"{name} {version}" for name, version in zip(packages[::2], packages[1::2], strict=True))
    missing = [one for one in asked if one not in told] if failed else ["any call of a tool"]
    scopes = "<br>".join(f"`{scope}`" for scope in sorted({span.scope for _, span in spans}))
    tells = ", ".join(one for one in asked if one in told) if failed else "the failures of agents"
    return f"| {framework} | {instrumentation} | {scopes} | {recorded} | {tells} | {', '.join(missing)} |"


def _told(trace: RecordedTrace, span: EndedSpan) -> Iterator[str]:
    """Yield what a failed call says; its run may stand on a span around it."""
    call = boundary_call(span)
    failures, _ = failures_of(span)
    runs = (conversation_of(read(RebuiltSpan(other, other.scope_name))) for other in trace.spans)
    found = {
        "tool": call is not None and call.tool,
        "call id": call is not None and call.call_id,
        "arguments": call is not None and call.arguments,
        "run": any(runs),
        "type": any(failure.type for failure in failures),
        "text": any(failure.message for failure in failures),
        "stack": any(failure.traced for failure in failures),
    }
    return (name for name, told in found.items() if told)


def _note(scope: str) -> tuple[str, str]:
    row = convention_of(scope)
    return row.name, row.note


def _scopes() -> set[str]:
    return {span.scope_name for path in RECORDED.glob("*.jsonl") for trace in _traces(path) for span in trace.spans}


def _paths(framework: str, instrumentation: str) -> list[Path]:
    return sorted(RECORDED.glob(f"{framework}-{instrumentation}-*.jsonl"))


def _traces(path: Path) -> list[RecordedTrace]:
    records = read_transcript(path, on_problem=_refuse)
    return [record for record in records if isinstance(record, RecordedTrace)]


def _refuse(problem: Exception) -> None:
    raise problem


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


PAGES: Final[dict[Path, Callable[[], str]]] = {
    FOLDER / "masking.md": _masking,
    FOLDER / "formats.md": _formats,
    FOLDER / "instrumentations.md": _instrumentations,
}
"""Every generated page and what writes it."""

if __name__ == "__main__":
    for page, write in PAGES.items():
        content = write()
        page.write_text(content, encoding="utf-8")
        sys.stdout.write(f"{page.name}: {len(content)} characters\n")
