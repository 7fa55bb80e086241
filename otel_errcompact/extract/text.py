"""The text of a raw error, unwrapped and cleaned once for all extractors."""

from __future__ import annotations

from otel_errcompact.extract.cleaning.unwrapping import unwrap
from otel_errcompact.extract.clipping import MAX_DETAIL
from otel_errcompact.extract.format import Text
from otel_errcompact.redaction.redact import redact


def read_text(
    text: str, kind: str = "", message: str = "", exit_code: int | None = None, roots: tuple[str, ...] = ()
) -> Text:
    """Open the text of an error, or its message where it is missing, without secrets."""
    output = unwrap(text or message)
    return Text(
        # Here, before anything is cut into lines and facts: half a key shows no longer that it is one.
        body=redact(output.text),
        type=" ".join(kind[:MAX_DETAIL].split()).removeprefix("__main__."),
        message=redact(message),
        exit_code=exit_code or output.exit_code,
        roots=roots,
    )
