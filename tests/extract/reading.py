"""How the tests of the formats read a text: as users do, or through one format."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from benchmarks.quality.ours import forget
from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import Facts, RawError
from otel_errcompact.extract.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable


def extract(raw: RawError) -> Facts:
    forget()
    return classify(raw).facts


def facts(*lines: str, **known) -> Facts:
    """Return the facts of a raw error, whichever format takes it."""
    return extract(RawError(text="\n".join(lines), **known))


def format_of(text: str) -> str:
    """Return the name of the format that takes a raw error."""
    return facts(text).format


def facts_as(form: str) -> Callable[..., Facts]:
    """Return what reads a raw error, and fails unless just this format takes it."""

    def read(*lines: str, **known) -> Facts:
        found = facts(*lines, **known)
        assert found.format == form
        return found

    return read


def facts_alone(form: str) -> Callable[..., Facts | None]:
    """Return what asks a single format for the facts of a raw error, whatever others would make of it."""
    found = import_module(f"otel_errcompact.tools.{form}").FORMAT

    def read(text: str, **known) -> Facts | None:
        facts = found.read(read_text(text, **known))
        return None if facts is None else replace(facts, format=found.name)

    return read


def key(*lines: str, **known) -> str:
    """Return the dedup key of a raw error."""
    return classify(RawError(text="\n".join(lines), **known)).key


def said(found: Facts | None) -> tuple[str, str, str]:
    """Return what tells failures apart: type, location and cause."""
    assert found is not None
    return found.type, str(found.location), found.cause
