"""Write the pages of this folder that are made from tables in the code. `make docs` calls it, a test compares."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from opentelemetry.trace import format_trace_id

from docs import index_of_formats, picture, public_names
from otel_errcompact.config import Options
from otel_errcompact.dedup.names import NAME_FORMS
from otel_errcompact.dedup.outages import OUTAGES
from otel_errcompact.dedup.rules import RULES
from otel_errcompact.digest.options import DigestOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.errors import RawError
from otel_errcompact.lab.replay.traces import RebuiltSpan, in_order
from otel_errcompact.lab.transcripts import read as read_transcript
from otel_errcompact.lab.transcripts.model import RecordedTrace
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.conventions import find_convention
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.tools import ORDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.sdk.trace import Span

    from otel_errcompact.dedup.rules import MaskRule
    from otel_errcompact.engine.observations import Observation
    from otel_errcompact.lab.transcripts.model import RecordedSpan

FOLDER = Path(__file__).parent
CORPUS = FOLDER.parent / "corpus"
RECORDED = FOLDER.parent / "tests" / "otel" / "recorded" / "spans"

_MASKING = """\
# What is masked, and what is kept

Made from `otel_errcompact/dedup/rules.py`, `names.py` and `outages.py` by `make docs`; the examples are also their
tests.

A message becomes its template in one pass: at each place the first rule that matches decides. A text under "becomes"
is masked as shown; a text under "stays" is left as it is. Rules whose token is "kept" protect what a later rule would
mask: codes, statuses, limits and versions decide what a failure is.

| rule | token | becomes | stays |
|---|---|---|---|
"""

_NAMES = """
## Parts of names

The rule `name` masks a name part by part, and so does each segment of a path. Most rows are names that platforms make:
another try has another one. Such a name is known by its form, or by the label or path before it; what two names that
people give differ in stays.

| form | token | becomes | stays |
|---|---|---|---|
"""

_OUTAGES = """
## Outages

A host that answers 401, 407, 429 or 5xx does so for each of its pages, and a device that is full, read-only or broken
for each file. There the path is left out of the template, so that one outage is one class. Other statuses and errnos
(404, 410, 422, ENOENT, EACCES) keep it.

| level | token | becomes | stays |
|---|---|---|---|
"""

_FORMATS = """\
# Formats

Made from `otel_errcompact/tools/` by `make docs`, in the order in which formats are tried:
what may hold the output of others comes first. The digests are those of real outputs under `corpus/`, with
`digest.whole_tokens` at 0: by default an output of up to 400 tokens stays whole.

| format | what it reads |
|---|---|
"""


_INSTRUMENTATIONS = """\
# Instrumentations

Made from `otel_errcompact/otel/spans/conventions.py` and the spans recorded in `tests/otel/recorded/` by `make docs`.

Whatever makes the spans, the processor counts each failure of a tool or a model once. This is what the spans of each
instrumentation showed of a tool that raised, or of a model call that failed where no tool was called; what is missing
here is missing in the spans, and an integration or `run.tool()` knows it. Where no run is named it is the trace.

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
    paths = sorted(RECORDED.glob(f"{framework}-{instrumentation}-*.jsonl"))
    spans = [span for path in paths for trace in _traces(path) for span in trace.spans]
    failed = [observation for path in paths for observation in _observed(path) if observation.raw.boundary]
    tools = [observation for observation in failed if observation.raw.tool not in semconv.MODEL_OPERATIONS]
    best = max(tools or failed, key=lambda one: sum(_told(one).values()), default=None)
    told = _told(best) if best is not None else {"the failures of agents": True, "any call": False}
    packages = str(spans[0].resource["recorded.packages"]).replace("==", " ").split()
    cells = (
        framework,
        instrumentation,
        "<br>".join(f"`{scope}`" for scope in sorted({span.scope_name for span in spans})),
        ", ".join(f"{name} {version}" for name, version in zip(packages[::2], packages[1::2], strict=True)),
        ", ".join(name for name, is_told in told.items() if is_told),
        ", ".join(name for name, is_told in told.items() if not is_told),
    )
    return f"| {' | '.join(cells)} |"


def _told(observation: Observation) -> dict[str, bool]:
    raw = observation.raw
    of_call = {"tool": bool(raw.tool), "call id": bool(raw.call_id), "arguments": bool(raw.arguments)}
    return {
        **({} if raw.tool in semconv.MODEL_OPERATIONS else of_call),
        "run": raw.span is not None and observation.run_id != format_trace_id(raw.span.trace_id),
        "type": bool(raw.type),
        "text": bool(raw.message),
        "stack": "Traceback (most recent call last)" in raw.text,
    }


class _Observed(Listener):
    """What a ledger has counted."""

    def __init__(self) -> None:
        self.all: list[Observation] = []

    def on_observed(self, observation: Observation) -> None:
        """Keep it."""
        self.all.append(observation)


def _observed(path: Path) -> list[Observation]:
    """Play a recording through the processor, and return what it has counted."""
    ledger, observed = Ledger(Options()), _Observed()
    ledger.add_listener(observed)
    processor = ErrorCompactionSpanProcessor(ledger)
    for trace in _traces(path):
        spans = [RebuiltSpan(_early(span), span.scope_name) for span in trace.spans]
        whole = [RebuiltSpan(span, span.scope_name) for span in trace.spans]
        for index, ends in in_order(trace.spans):
            if ends:
                processor.on_end(whole[index])
            else:
                processor.on_start(cast("Span", spans[index]))
    return observed.all


def _early(span: RecordedSpan) -> RecordedSpan:
    """A recorded span with the attributes that it had when the first span inside it started."""
    names = span.attributes.get("recorded.early", span.attributes["recorded.at_start"])
    return replace(span, attributes={name: value for name, value in span.attributes.items() if name in str(names)})


def _note(scope: str) -> tuple[str, str]:
    row = find_convention(scope)
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
    rows = [_mask_row(rule.name, _placeholder(rule), rule.masks, rule.keeps) for rule in RULES]
    names = [_mask_row(form.name, form.token or "kept", form.masks, form.keeps) for form in NAME_FORMS if form.keeps]
    outages = [_mask_row(outage.name, outage.left or "nothing", outage.masks, outage.keeps) for outage in OUTAGES]
    return "\n".join((_MASKING + "\n".join(rows), _NAMES + "\n".join(names), _OUTAGES + "\n".join(outages), ""))


def _mask_row(name: str, token: str, masks: Iterable[tuple[str, str]], keeps: Iterable[str]) -> str:
    shown = token if token in {"kept", "nothing", "by its parts"} else _lines(token)
    return f"| `{name}` | {shown} | {_lines(*(f'{a} → {b}' for a, b in masks))} | {_lines(*keeps)} |"


def _placeholder(rule: MaskRule) -> str:
    if rule.placeholder:
        return rule.placeholder
    return "by its parts" if rule.by_parts else "kept"


def _formats() -> str:
    rows = [f"| [`{name}`](#{name}) | {_summary(name)} |" for name in ORDER]
    examples = [f"\n## {name}\n\n{_example(name)}" for name in ORDER]
    return _FORMATS + "\n".join(rows) + "\n" + "\n".join(examples) + "\n"


def _summary(name: str) -> str:
    module = importlib.import_module(f"otel_errcompact.tools.{name}")
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
    options = Options(digest=DigestOptions(whole_tokens=0))
    observation = Ledger(options).observe("docs", RawError(text=path.read_text(encoding="utf-8"), tool="bash"))
    return observation.raw_tokens, observation.digest_tokens, observation.text


def _lines(*texts: str) -> str:
    """Return texts as code in one cell of a table."""
    return "<br>".join(f"`` {text} ``".replace("|", "\\|") for text in texts)


PAGES: Final[dict[Path, Callable[[], str]]] = {
    FOLDER / "masking.md": _masking,
    FOLDER / "formats.md": _formats,
    FOLDER / "instrumentations.md": _instrumentations,
    index_of_formats.PAGE: index_of_formats.index,
    public_names.PAGE: public_names.page,
    **picture.PAGES,
}
"""Every generated page and what writes it."""

if __name__ == "__main__":
    for page, write in PAGES.items():
        content = write()
        page.write_text(content, encoding="utf-8")
        sys.stdout.write(f"{page.name}: {len(content)} characters\n")
