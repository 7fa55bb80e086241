"""
Run the steps of one raw error again, and compare.

Nothing is recorded while failures are counted. What no comparison shows stays empty.
"""

from __future__ import annotations

import re
from contextvars import copy_context
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from otel_errcompact.compactor.hints import find_hint
from otel_errcompact.dedup.key import list_material
from otel_errcompact.detector.kinds import find_kind
from otel_errcompact.detector.results import classify_result
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.extract.arguments import file_in_call
from otel_errcompact.extract.cleaning.characters import clean
from otel_errcompact.extract.extraction import look_into_output
from otel_errcompact.extract.glued import facts_of_parts
from otel_errcompact.extract.messages.calls import cause_of_call
from otel_errcompact.extract.naming import read_named
from otel_errcompact.extract.passed import compile_closings, strip_passed
from otel_errcompact.extract.recognition import ATTEMPTS, recognise
from otel_errcompact.extract.table import listings
from otel_errcompact.extract.text import read_text
from otel_errcompact.redaction.redact import redact
from otel_errcompact_lab.explanation.changes import find_cuts, find_masks, find_secrets, find_steps, shorten, take
from otel_errcompact_lab.explanation.model import Asked, Explanation, Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.config import Options
    from otel_errcompact.errors import Facts, FailureKind
    from otel_errcompact.extract.recognition import Attempt

_MATERIAL: Final = ("version", "type", "function", "file", "template")
_MAX_LINES: Final = 3

T = TypeVar("T")


def explain(
    text: str,
    *,
    tool: str = "",
    arguments: str = "",
    exit_code: int | None = None,
    flagged: bool | None = None,
    options: Options | None = None,
) -> Explanation:
    """
    Explain what the library makes of a run's first failure.

    Args:
        text: The raw error, as the tool returned it.
        tool: The tool's name.
        arguments: The call's arguments as JSON, or its command line.
        exit_code: The exit status, where the source reports it apart from the text.
        flagged: Whether the source flags it as an error; None if it says nothing.
        options: All options; the defaults if None.
    """
    verdict = classify_result(text, tool=tool, arguments=arguments, flagged=flagged, exit_code=exit_code)
    raw = RawError(text=text, tool=tool, arguments=arguments, exit_code=exit_code, stated=verdict.stated)
    ledger = Ledger(options)
    observed = ledger.observe("explain", raw)
    found, kind = observed.found, observed.kind
    hint, hint_words = find_hint(found.facts, may_retry=not kind.unknown)
    said = cause_of_call(text, tool, arguments)
    steps, cleaned = find_steps(text, said)
    whole, body, attempts, sources = _read_again(raw, said, ledger.roots.configured)
    take(steps, "what stands before an all-passed tally", whole, body)
    took = [attempt for attempt in attempts if not attempt.inside and attempt.facts is not None]
    return Explanation(
        outcome=verdict.outcome,
        certainty=verdict.certainty if verdict.outcome == "failure" else "none",
        reason=verdict.reason,
        closing=_find_closing(text, verdict.stated),
        kind=_name_kind(kind),
        kind_words=redact(find_kind(raw, found.facts)[1]),
        steps=tuple(steps),
        secrets=find_secrets(cleaned),
        format=found.facts.format,
        asked=tuple(map(_describe_attempt, attempts)),
        unasked=_list_unasked(attempts, took[-1].body) if took else (),
        facts=tuple(_trace_each(found, raw, body.split("\n"), sources)),
        cuts=find_cuts(body, found.facts, observed.text, text),
        digest=observed.text,
        template=found.template,
        masks=find_masks(found),
        key=found.key,
        material=dict(zip(_MATERIAL, list_material(found.facts, found.template), strict=True)),
        hint=hint,
        hint_words=hint_words,
    )


def _name_kind(kind: FailureKind) -> str:
    if kind.rejected:
        return "rejected"
    waits = "transient, perhaps executed" if kind.unknown else "transient"
    return waits if kind.transient else "executed"


def _find_closing(text: str, stated: str) -> str:
    closings = [compile_closings(listing) for listing in listings() if listing.name == stated]
    forms = [form for each in closings for form in (each.failed, each.stacks) if form is not None]
    body = redact(clean(text))
    starts = [match.start() for form in forms for match in form.finditer(body)]
    return shorten(body[max(starts) :]) if starts else ""


def _read_again(
    raw: RawError, said: str, roots: tuple[str, ...]
) -> tuple[str, str, list[Attempt], list[tuple[str, Facts]]]:
    # The steps of `facts_of_text`, in contexts in which formats note what they return.
    text = read_text(said or raw.text, exit_code=None if said else raw.exit_code, roots=roots)
    parts, of_parts = _note_attempts(lambda: facts_of_parts(text))
    failed = text if parts else replace(text, body=strip_passed(text.body))
    facts, of_text = _note_attempts(lambda: parts or recognise(failed))
    inner, of_output = _note_attempts(lambda: look_into_output(facts, roots))
    attempts = [*_put_inside("one output of several", of_parts), *of_text, *_put_inside(facts.format, of_output)]
    sources = [(_name_source(each), each.facts) for each in attempts if each.facts is not None]
    sources += [("all outputs together", facts), ("the output inside", inner)]
    return text.body, failed.body, attempts, [*sources, ("the exception that it names", read_named(inner))]


def _note_attempts(read: Callable[[], T]) -> tuple[T, list[Attempt]]:
    attempts: list[Attempt] = []

    def note() -> T:
        ATTEMPTS.set(attempts)
        return read()

    return copy_context().run(note), attempts


def _put_inside(name: str, attempts: list[Attempt]) -> list[Attempt]:
    return [attempt._replace(inside=(name, *attempt.inside)) for attempt in attempts]


def _name_source(attempt: Attempt) -> str:
    return f"format {attempt.format}{f' inside {attempt.inside[-1]}' if attempt.inside else ''}"


def _describe_attempt(attempt: Attempt) -> Asked:
    markers = next((row.markers for row in listings() if row.name == attempt.format), ())
    standing = tuple(marker for marker in markers if marker in attempt.body)
    inside, lines = "".join(attempt.inside[-1:]), attempt.body.count("\n") + 1
    return Asked(attempt.format, inside, standing, lines, attempt.facts is not None)


def _list_unasked(attempts: list[Attempt], body: str) -> tuple[str, ...]:
    asked = {attempt.format for attempt in attempts if not attempt.inside}
    rows = (row for row in listings() if row.name not in asked)
    return tuple(row.name for row in rows if any(marker in body for marker in row.markers))


def _trace_each(found: Classified, raw: RawError, lines: list[str], sources: list[tuple[str, Facts]]) -> Iterator[Fact]:
    facts, place = found.facts, found.facts.location
    at = [place.file or place.function, *([] if place.line is None else [str(place.line)])]
    for name, value, words in (
        ("type", facts.type, [facts.type]),
        ("location", str(place), at),
        ("cause", facts.cause, [facts.cause]),
        *(("details", line, [line]) for line in facts.details),
        *(("tally", line, [line]) for line in (facts.tally,) if line),
    ):
        forms = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words]
        holding = (number for number, line in enumerate(lines, 1) if value and all(form.search(line) for form in forms))
        source = _find_source(name, facts, raw, sources) if value else ""
        yield Fact(name, value, tuple(islice(holding, _MAX_LINES)), source)


def _find_source(name: str, facts: Facts, raw: RawError, sources: list[tuple[str, Facts]]) -> str:
    final = getattr(facts, name)
    of_formats = next((source for source, each in sources if getattr(each, name) == final), "")
    is_of_call = name == "location" and not of_formats and sources and file_in_call(sources[-1][1], raw.arguments)
    return "arguments of the call" if is_of_call else of_formats
