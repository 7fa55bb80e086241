"""Panics of Rust programs, errors that `main` returned, and overflowed stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import Facts, Format, Location, Text, details, form
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.rust import PANICKED, Panic, failure_of_main, panics_of
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

_OVERFLOW: Final = form(
    r"\n *(?P<cause>thread '[^'\n]{1,300}')(?: \([0-9]{1,12}\))? (?P<what>has overflowed its stack)"
)
_NO_CAUSE: Final = "Any { .. }"
_MAX_OTHERS: Final = 3


def read(text: Text) -> Facts | None:
    """Return the facts of the first panic in `text`, of the error that `main` returned, or of an overflowed stack."""
    body = f"\n{text.body}"
    found = [panic for panic in panics_of(body) if not panic.failure.message.endswith(_NO_CAUSE)]
    if found:
        return _facts_of_panics(found)
    overflow = _OVERFLOW.search(body)
    if overflow is not None:
        return Facts(type="stack overflow", cause=f"{overflow['cause']} {overflow['what']}")
    returned = failure_of_main(body)
    return facts_of((returned,)) if returned is not None else None


def _facts_of_panics(panics: Sequence[Panic]) -> Facts:
    facts = facts_of((panics[0].failure,))
    others = [facts_of((panic.failure,)) for panic in panics[1 : 1 + _MAX_OTHERS]]
    lines = [f"also {_format_place(other.location)}{other.cause}" for other in others if other.cause != facts.cause]
    return replace(facts, details=details((*facts.details, *lines))) if lines else facts


def _format_place(place: Location) -> str:
    return f"at {place}: " if place else ""


FORMAT: Final = Format(
    name="rust",
    read=read,
    markers=(PANICKED, "\nCaused by:\n", " { kind: ", ", kind: ", '\nError: "', "has overflowed its stack"),
    stacks=(r"Error: \S[^\n]{0,400}\n\nCaused by:$", r"thread '[^'\n]{1,200}' (?:\([0-9]+\) )?panicked at "),
)
