"""The text of a raw error, unwrapped and cleaned once for all extractors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.extract.cleaning.unwrapping import unwrap
from otel_errcompact.extract.clipping import MAX_DETAIL
from otel_errcompact.extract.format import Text
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from otel_errcompact.errors import RawError


def read_text(raw: RawError, roots: tuple[str, ...] = ()) -> Text:
    """Clean the text of a raw error; what is known only of its message stands in for a missing text."""
    return read_source(raw.text, raw.type, raw.message, raw.exit_code, roots)


def read_source(text: str, kind: str, message: str, exit_code: int | None, roots: tuple[str, ...] = ()) -> Text:
    """Do the same for the parts of a raw error that matter to an extractor: by them it is remembered."""
    output = unwrap(text or message)
    return Text(
        # Here, before anything is cut into lines and facts: half a key shows no longer that it is one.
        body=redact(output.text),
        type=" ".join(kind[:MAX_DETAIL].split()).removeprefix("__main__."),
        message=redact(message),
        exit_code=exit_code or output.exit_code,
        roots=roots,
    )
