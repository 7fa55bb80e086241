"""The output of a program as another one repeats it: a build's failed step, a hook, an installer's script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.statements import indentation
from otel_errcompact.extract.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from otel_errcompact.errors import Facts

MAX_LINES: Final = 400
"""Lines of an inner output that are looked at, from its end."""


def facts_of_output(lines: Sequence[str], readers: Iterable[Callable[[Text], Facts | None]]) -> Facts | None:
    """
    Return what the first reader finds that recognises an inner output; nothing if it is empty or none does.

    Args:
        lines: The output, without what the outer program has put before each line.
        readers: The extractors of the formats that the inner program may speak, in the order in which they are tried.
    """
    kept = _dedented(lines[-MAX_LINES:])
    if not kept:
        return None
    text = Text(body="\n".join(kept))
    found = (reader(text) for reader in readers)
    return next((facts for facts in found if facts is not None), None)


def _dedented(lines: Sequence[str]) -> list[str]:
    """
    Take off blank lines at both ends and the indentation that all lines have in common.
    """
    said = [number for number, line in enumerate(lines) if line.strip()]
    if not said:
        return []
    common = min(indentation(lines[number]) for number in said)
    return [line[common:] for line in lines[said[0] : said[-1] + 1]]
