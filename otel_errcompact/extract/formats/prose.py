"""The last resort: text of any kind, of which the first and the last telling line are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Facts
from otel_errcompact.extract.clipping import MAX_CAUSE, clip, details
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.shell_statements import exit_line
from otel_errcompact.extract.statements import is_telling, strip_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.text import Text

NO_OUTPUT: Final = "no output"


def read(text: Text) -> Facts:
    """Return facts of any text at all."""
    lines = [line for line in text.lines if line]
    telling = [line for line in lines if is_telling(line)]
    first, last = _ends(lines, telling)
    others = (line for line in telling if line != first)
    cause = clip(strip_timestamp(first)) or " ".join(text.message[:MAX_CAUSE].split())
    # Whether a harness reports the status depends on the harness: it is the type only where nothing else is known.
    return Facts(
        type=text.type or ("error" if cause else exit_line(text)) or "error",
        cause=cause or NO_OUTPUT,
        details=details((last, *others, exit_line(text) if cause or text.type else "")),
        key_cause=f"{clip(first)} | {clip(last)}" if last else "",
    )


def _ends(lines: Sequence[str], telling: Sequence[str]) -> tuple[str, str]:
    """Return the first telling line and, where it is another one, the last that is not indented."""
    if not lines:
        return "", ""
    first = telling[0] if telling else lines[0]
    last = next((line for line in reversed(telling) if not line[0].isspace()), first)
    return first, "" if last == first else last


FORMAT: Final = Format(
    name="prose",
    read=read,
    markers=(),
    signs=(),
)
