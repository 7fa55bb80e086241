"""Temporary folders named once: below one that was named before, a path shows that its beginning is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import CUT
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.errors import Facts

_MARKS: Final = ("/tmp/", "/var/folders/", "\\Temp\\")  # noqa: S108 - looked for in texts, never opened
_ROOT: Final = lazy_pattern(
    r"(?<![\w.~-])(?:(?:/private)?/(?:tmp|var/tmp|var/folders/\w{1,9}/\w{1,60}/T)/[\w.+-]{1,120}/"
    r"|[A-Za-z]:\\(?:Users\\[^\\\s]{1,60}\\AppData\\Local\\)?Temp\\[\w.+-]{1,120}\\)(?=[\w.])"
)


def fold_temporary(facts: Facts) -> Facts:
    """
    Return facts whose lines name each temporary folder once, in the order in which a digest shows them.

    Twenty-seven such folders cost more tokens in a digest than all that it lacked.
    """
    lines = (facts.cause, *facts.details, *[line for line, _ in facts.evidence])
    if not has_any("\n".join(lines), _MARKS):
        return facts
    named = {found[0] for found in _ROOT.finditer(f"{facts.location.file}\n{facts.cause}")}
    details = _fold_lines(facts.details, named)
    evidence = _fold_lines([line for line, _ in facts.evidence], named)
    return replace(
        facts,
        details=tuple(details),
        evidence=tuple(old._replace(line=line) for old, line in zip(facts.evidence, evidence, strict=True)),
    )


def _fold_lines(lines: Sequence[str], named: set[str]) -> list[str]:
    folded: list[str] = []
    for line in lines:
        roots = {found[0] for found in _ROOT.finditer(line)}
        for root in roots & named:
            line = line.replace(root, f"{CUT}{root[-1]}")  # noqa: PLW2901 - one folder after the other
        folded.append(line)
        named |= roots
    return folded
