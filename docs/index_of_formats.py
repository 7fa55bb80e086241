"""Write the light index of formats from their objects. `make docs` calls it, a test compares."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Final

from docs.literals_of_patterns import find_literals
from otel_errcompact.extract.format import Listing
from otel_errcompact.extract.formats import ORDER

PAGE: Final = Path(__file__).parents[1] / "otel_errcompact" / "extract" / "index.py"

_HEAD: Final = '''\
"""What is known of the built-in formats before they are loaded. Made from `formats/*.py` by `make docs`."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.format import Hint, Listing

INDEX: Final[tuple[Listing, ...]] = (
'''


def index() -> str:
    """Return the module with a row for each format, in the order in which they are tried."""
    return _HEAD + "".join(f"    {row!r},\n" for row in map(_row, ORDER)) + ")\n"


def _row(name: str) -> Listing:
    found = import_module(f"otel_errcompact.extract.formats.{name}").FORMAT
    known = Listing(**{field.name: getattr(found, field.name) for field in fields(Listing)})
    return replace(known, clues=_clues_of((*known.closings, *known.stacks)), clues_of_passes=_clues_of(known.passes))


def _clues_of(patterns: tuple[str, ...]) -> tuple[str, ...]:
    literals = [find_literals(pattern) for pattern in patterns]
    return tuple(dict.fromkeys(literal for each in literals for literal in each)) if all(literals) else ()
