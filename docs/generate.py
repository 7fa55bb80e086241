"""Write the pages of this folder that are made from tables in the code. `make docs` calls it, a test compares."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from opentelemetry.trace import format_trace_id

from docs import index_of_formats, picture, public_names
from otel_errcompact.config import Options
from otel_errcompact.dedup.outages import OUTAGES
from otel_errcompact.dedup.rules import RULES, MaskRule
from otel_errcompact.engine.events import Observation
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.otel import semconv
from otel_errcompact.otel.spans.conventions import find_convention
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.tools import ORDER
from otel_errcompact_lab.replay.traces import RebuiltSpan, in_order
from otel_errcompact_lab.transcripts import read as read_transcript
from otel_errcompact_lab.transcripts.model import RecordedTrace

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace import Span

    from otel_errcompact.dedup.outages import Outage
    from otel_errcompact_lab.transcripts.model import RecordedSpan

FOLDER = Path(__file__).parent
RECORDED = FOLDER.parent / "tests" / "otel" / "recorded" / "spans"

_MASKING = """\
# What is masked, and what is kept

Made from the tables of `otel_errcompact/dedup/` by `make docs`; their tests hold more texts of each row.

At each place of a message the first rule that matches decides. A row with an arrow shows a text and what becomes of it;
one without a text that stays: codes, statuses, limits and versions decide what a failure is. Names that platforms make,
in which another try differs, are masked part by part (`dedup/names.py` has their forms); what people name stays.

"""

_OUTAGES = """
## Outages

A host that answers 401, 407, 429 or 5xx does so for each of its pages, and a device that is full, read-only or broken
for each file. There the path is left out of the template, so that one outage is one class. Other statuses and errnos
(404, 410, 422, ENOENT, EACCES) keep it.

"""

_FORMATS = """\
# Formats

Made from `otel_errcompact/tools/` by `make docs`, in the order in which formats are tried. `errcompact digest FILE`
shows the digest of an output.

"""

_INSTRUMENTATIONS = """\
# Instrumentations

Made from the spans recorded in `tests/otel/recorded/` by `make docs`.

Whatever makes the spans, each failure of a tool or a model counts once. Of tool, call id, arguments, run, type, text
and stack each line says what the spans do not show of a tool that raised, or of a failed model call where no tool was
called, by framework and by what makes its spans. An integration or `run.tool()` knows it.

"""


def _instrumentations() -> str:
    """Return a line for each framework and instrumentation, by its recordings."""
    pairs = sorted({tuple(path.stem.split("-")[:2]) for path in RECORDED.glob("*.jsonl")})
    rows = [
        f"- {framework}: {', '.join(f'{by} ({_missing(framework, by)})' for framework, by in made)}"
        for framework, made in groupby(pairs, key=itemgetter(0))
    ]
    notes = sorted({f"- {name}: {note}." for name, note in map(_note, _scopes()) if note})
    return _INSTRUMENTATIONS + "\n".join(rows) + "\n\n" + "\n".join(notes) + "\n"


def _missing(framework: str, instrumentation: str) -> str:
    paths = sorted(RECORDED.glob(f"{framework}-{instrumentation}-*.jsonl"))
    failed = [observation for path in paths for observation in _observed(path) if observation.raw.boundary]
    tools = [observation for observation in failed if observation.raw.tool not in semconv.MODEL_OPERATIONS]
    best = max(tools or failed, key=lambda one: sum(_list_shown(one).values()), default=None)
    shown = _list_shown(best) if best is not None else {"all but failures of agents": False}
    return ", ".join(name for name, is_shown in shown.items() if not is_shown) or "nothing"


def _list_shown(observation: Observation) -> dict[str, bool]:
    raw = observation.raw
    of_call = {"tool": bool(raw.tool), "call id": bool(raw.call_id), "arguments": bool(raw.arguments)}
    return {
        **({} if raw.tool in semconv.MODEL_OPERATIONS else of_call),
        "run": raw.span is not None and observation.run_id != format_trace_id(raw.span.trace_id),
        "type": bool(raw.type),
        "text": bool(raw.message),
        "stack": "Traceback (most recent call last)" in raw.text,
    }


def _observed(path: Path) -> list[Observation]:
    """Play a recording through the processor, and return what it has counted."""
    ledger, observed = Ledger(Options()), list[Observation]()
    ledger.listeners.add(Listener({Observation: observed.append}))
    processor = ErrorCompactionSpanProcessor(ledger)
    for trace in _traces(path):
        spans = [RebuiltSpan(_early(span), span.scope_name) for span in trace.spans]
        whole = [RebuiltSpan(span, span.scope_name) for span in trace.spans]
        for index, ends in in_order(trace.spans):
            if ends:
                processor.on_end(whole[index])
            else:
                processor.on_start(cast("Span", spans[index]))
    return observed


def _early(span: RecordedSpan) -> RecordedSpan:
    """A recorded span with the attributes that it had when the first span inside it started."""
    names = span.attributes.get("recorded.early", span.attributes["recorded.at_start"])
    return replace(span, attributes={name: value for name, value in span.attributes.items() if name in str(names)})


def _note(scope: str) -> tuple[str, str]:
    row = find_convention(scope)
    return row.name, row.note


def _scopes() -> set[str]:
    return {span.scope_name for path in RECORDED.glob("*.jsonl") for trace in _traces(path) for span in trace.spans}


def _traces(path: Path) -> list[RecordedTrace]:
    records = read_transcript(path, on_problem=_refuse)
    return [record for record in records if isinstance(record, RecordedTrace)]


def _refuse(problem: Exception) -> None:
    raise problem


def _masking() -> str:
    return _MASKING + "".join(map(_mask_item, RULES)) + _OUTAGES + "".join(map(_mask_item, OUTAGES))


def _mask_item(row: MaskRule | Outage) -> str:
    # What a rule that only keeps leaves to others is masked by them.
    only_keeps = isinstance(row, MaskRule) and not (row.placeholder or row.by_parts)
    example = " → ".join(row.masks[0]) if row.masks and not only_keeps else row.keeps[0]
    return f"- `{row.name}`: `` {example} ``\n"


def _formats() -> str:
    return _FORMATS + "".join(f"- `{name}`: {_summary(name)}\n" for name in ORDER)


def _summary(name: str) -> str:
    module = importlib.import_module(f"otel_errcompact.tools.{name}")
    return " ".join((module.__doc__ or "").split("\n\n")[0].split()).rstrip(".")


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
