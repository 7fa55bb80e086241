"""What each step of cleaning, redaction, compaction and masking takes away."""

from __future__ import annotations

import json
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup import masking
from otel_errcompact.dedup.key import MAX_CAUSE
from otel_errcompact.digest.inline import write_whole
from otel_errcompact.digest.untrusted import one_line
from otel_errcompact.extract.cleaning.characters import CLEANING, WINDOW, strip_blanks
from otel_errcompact.extract.cleaning.unwrapping import CHARACTERS, LINES, STARTS, peel, unwrap
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.redaction.assigned import find_assigned
from otel_errcompact.redaction.blocks import find_blocks
from otel_errcompact.redaction.columns import find_in_columns
from otel_errcompact.redaction.issued import find_issued
from otel_errcompact.redaction.names import find_stems
from otel_errcompact.redaction.places import find_placed
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.explanation.model import Cut, Mask, Secret, Step

if TYPE_CHECKING:
    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.errors import Facts

_PARTS: Final = {CHARACTERS: (*CLEANING, ("blanks around", strip_blanks)), LINES: STARTS}
"""Layers of several steps."""

_MARK: Final = lazy_pattern(r"\[REDACTED:(\w{1,20})\]")
_MAX_EXAMPLE: Final = 160
_KINDS: Final = {
    Kind.AROUND: "progress, success, rules",
    Kind.FRAME: "frames of a stack",
    Kind.SOURCE: "source lines",
    Kind.TRAILER: "closing words",
    Kind.OTHER: "other words",
    Kind.WARNING: "warnings",
    Kind.TELLING: "words of failure",
}


def find_steps(text: str, said: str) -> tuple[list[Step], str]:
    """Return the steps of cleaning `text`, or `said` instead, and its result."""
    steps: list[Step] = []
    cleaned = unwrap(said or text).text
    is_shown = redact(cleaned) == cleaned  # else a layer may show what redaction finds once it has come off
    text = take(steps, "bare words about the call", text, said or text, is_shown=is_shown)
    for layer, opened in peel(text):
        for name, strip in _PARTS.get(layer, ()):
            text = take(steps, name, text, strip(text), is_shown=is_shown)
        text = take(steps, layer, text, opened.text, is_shown=is_shown)
    return steps, text


def take(steps: list[Step], name: str, before: str, after: str, *, is_shown: bool = True) -> str:
    """Add a step if it changes a text; return what it leaves."""
    if after != before:
        example = ""
        if is_shown and len(before) <= 2 * WINDOW:
            left = set(redact(after).split("\n"))
            example = next((line for line in redact(before).split("\n") if line.strip() and line not in left), "")
        steps.append(Step(name, len(before), len(after), shorten(example)))
    return after


def shorten(text: str) -> str:
    """Return the first line of a text, harmless and short."""
    return one_line(text.partition("\n")[0], _MAX_EXAMPLE)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the kinds of secrets that redaction replaces in a text."""
    lower = text.lower()
    stems = find_stems(lower)
    rules = {
        "issued": find_issued(text),
        "blocks": find_blocks(text),
        "places": find_placed(text, lower, stems),
        "assigned": find_assigned(text, lower, stems),
        "columns": find_in_columns(text, lower, stems),
    }
    counts = Counter(_MARK.findall(redact(text))) - Counter(_MARK.findall(text))
    return tuple(
        Secret(kind, count, tuple(name for name, found in rules.items() if any(each.kind == kind for each in found)))
        for kind, count in counts.items()
    )


def find_cuts(body: str, facts: Facts, digest: str, raw: str) -> tuple[Cut, ...]:
    """Return the lines that a digest lacks, by kind."""
    if write_whole(raw) in digest:
        return ()
    read = " ".join(digest.split())
    weighed = {" ".join(line.split()) for line, _ in facts.evidence}
    cuts: dict[str, list[str]] = {}
    for line in (" ".join(line.split()) for line in body.split("\n")):
        # A whole answer in JSON is read with its escapes.
        if line and line not in read and json.dumps(line)[1:-1] not in read:
            kind = "evidence left out" if line in weighed else _KINDS[kind_of(line)]
            kind = "only the cause is read" if facts.cause in line else kind
            cuts.setdefault(kind, []).append(line)
    return tuple(Cut(kind, len(lines), shorten(lines[0])) for kind, lines in cuts.items())


def find_masks(found: Classified) -> tuple[Mask, ...]:
    """Return what the template of a class masks, in order."""
    cause = found.facts.keyed_cause[:MAX_CAUSE]
    masks = [Mask(*each) for each in masking.find_masks(cause)]
    masked = masking.mask(cause)
    kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(masked, found.template, strict=False)))
    tail = [Mask("tail", masked[kept:], found.template[kept:])] if masked != found.template else []
    return (*masks, *tail)
