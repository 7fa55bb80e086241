"""The contexts and honest lines of a half."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from benchmarks.secrets.kind import is_held_out
from benchmarks.secrets.unseen.consoles import CONSOLES
from benchmarks.secrets.unseen.documents import DOCUMENTS
from benchmarks.secrets.unseen.honest import TEMPLATES, write
from benchmarks.secrets.unseen.records import RECORDS
from benchmarks.secrets.unseen.talk import TALK
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from benchmarks.secrets.context import Context

HALVES = ("a", "b")
FILLS = 12
"""Times that each template is filled in."""


@dataclass(frozen=True)
class Honesty:
    """
    Lines that hold no secret, and those of them that redaction changes.
    """

    lines: frozenset[str]
    changed: dict[str, str]
    """What each changed line became; the whole text where lines were joined."""


def contexts(half: str) -> tuple[Context, ...]:
    """Return the contexts of `half`."""
    return tuple(each for each in (*CONSOLES, *RECORDS, *DOCUMENTS, *TALK) if half_of(each.name) == half)


def half_of(name: str) -> str:
    """Return `a` or `b`."""
    return HALVES[is_held_out(name)]


def honesty(half: str, seed: int) -> Honesty:
    """Return what redaction does to the honest texts of `half`."""
    lines: set[str] = set()
    changed: dict[str, str] = {}
    for template in TEMPLATES:
        if half_of(template) != half:
            continue
        for text in sorted({write(template, Random(f"{template}/{seed}/{number}")) for number in range(FILLS)}):
            raw, redacted = text.split("\n"), redact(text)
            after = redacted.split("\n")
            lines.update(raw)
            if len(raw) == len(after):
                changed |= {one: other for one, other in zip(raw, after, strict=True) if one != other}
            else:
                changed |= dict.fromkeys(set(raw) - set(after), redacted)
    return Honesty(frozenset(lines), changed)
