"""The last resort: any text, with the cause chosen among its lines."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.masking import mask
from otel_errcompact.extract.clipping import MAX_CAUSE
from otel_errcompact.extract.evidence.choice import bound, choose_line
from otel_errcompact.extract.evidence.kinds import is_content, kind_of
from otel_errcompact.extract.evidence.places import find_place
from otel_errcompact.extract.grammar import Facts, Format, Lines, Text, clip, details
from otel_errcompact.extract.shell_statements import exit_line
from otel_errcompact.extract.statements import code_of, strip_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_OUTPUT: Final = "no output"

_MAX_KEYED: Final = 24
"""Lines that count for the key."""

_BESIDE: Final = 3
"""Lines from the chosen one on that may name its place."""


def read(text: Text) -> Facts:
    """Return facts of any text at all."""
    number = choose_line(text.body)
    at = number or 0
    cause = clip(strip_timestamp(text.lines[at].strip())) if number is not None else ""
    cause = cause or clip(" ".join(text.body[:MAX_CAUSE].split())) or " ".join(text.message[:MAX_CAUSE].split())
    # Whether a harness reports the status depends on the harness: it is the type only where nothing else is known.
    return Facts(
        type=text.type or code_of(cause) or ("error" if cause else exit_line(text)) or "error",
        cause=cause or NO_OUTPUT,
        location=find_place(text.lines[at : at + _BESIDE]),
        details=details((exit_line(text) if cause or text.type else "",)),
        key_cause=" | ".join(dict.fromkeys(map(mask, (cause, *islice(_find_keyed(text.lines, at), _MAX_KEYED))))),
    )


def _find_keyed(lines: Lines, chosen: int) -> Iterator[str]:
    # What is told before it and behind the last line of its kind has no part; the next line names what it is about.
    kind = kind_of(lines[chosen])
    last = max(number for number in bound(len(lines)) if kind_of(lines[number]) is kind)
    for line in lines[chosen + 1 : last + 2]:
        if is_content(line):
            yield clip(strip_timestamp(line.strip()))


FORMAT: Final = Format(name="prose", read=read, markers=())
