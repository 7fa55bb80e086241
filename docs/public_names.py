"""Write the page of the public names from their docstrings. `make docs` calls it, a test compares."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parent / "reference" / "api.md"
FACES: Final = ("otel_errcompact", "otel_errcompact_context")

_HEAD: Final = """\
# Python API

Made from the docstrings of the public names by `make docs`. The documentation site shows each with its signature and
the whole docstring. Import names that stand here from the package that heads them; all other names may change.
"""


def page() -> str:
    """Return a section for each public name: a heading, and the first paragraph of its docstring."""
    parts, told = [_HEAD], set[str]()
    for face in FACES:
        parts.append(f"\n## From `{face}`\n\n{_first_paragraph(import_module(face))}\n")
        names = sorted(set(import_module(face).__all__) - told, key=_order)
        parts += [_section(face, name) for name in names]
        told |= set(names)
    return "".join(parts)


def _order(name: str) -> tuple[bool, str]:
    """Functions come before classes."""
    return name[0].isupper(), name


def _section(face: str, name: str) -> str:
    full = f"{face}.{name}".removeprefix("otel_errcompact.")
    return f"\n### `{full}`\n\n{_first_paragraph(getattr(import_module(face), name))}\n"


def _first_paragraph(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n\n")[0]
