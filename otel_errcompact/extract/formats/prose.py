"""The last resort: any text, with the cause chosen among its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Facts
from otel_errcompact.extract.clipping import MAX_CAUSE, clip, details
from otel_errcompact.extract.evidence.choice import choose_cause
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.shell_statements import exit_line
from otel_errcompact.extract.statements import code_of

if TYPE_CHECKING:
    from otel_errcompact.extract.text import Text

NO_OUTPUT: Final = "no output"


def read(text: Text) -> Facts:
    """Return facts of any text at all."""
    chosen = choose_cause(text.body)
    cause = clip(chosen.message) if chosen is not None else ""
    cause = cause or clip(" ".join(text.body[:MAX_CAUSE].split())) or " ".join(text.message[:MAX_CAUSE].split())
    # Whether a harness reports the status depends on the harness: it is the type only where nothing else is known.
    return Facts(
        type=text.type or code_of(cause) or ("error" if cause else exit_line(text)) or "error",
        cause=cause or NO_OUTPUT,
        location=chosen.place if chosen is not None else NOWHERE,
        details=details((*(chosen.items if chosen else ()), exit_line(text) if cause or text.type else "")),
        key_cause=chosen.key if chosen is not None else "",
    )


FORMAT: Final = Format(
    name="prose",
    read=read,
    markers=(),
)
