"""Unwrap an output, layer by layer, until nothing more comes off."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.cleaning.answers import answer_of
from otel_errcompact.extract.cleaning.characters import clean, dedent, strip_blanks
from otel_errcompact.extract.cleaning.envelope import Opened, open_envelope
from otel_errcompact.extract.cleaning.framing import strip_framing
from otel_errcompact.extract.cleaning.layout import fold_document
from otel_errcompact.extract.cleaning.margins import strip_margins
from otel_errcompact.extract.cleaning.markup import strip_fence, strip_tags
from otel_errcompact.extract.cleaning.prefixes import strip_prefixes

MAX_LAYERS: Final = 12
"""Layers that are taken off: a result of MCP in a fence in a log of a runner has three."""


def unwrap(source: str) -> Opened:
    """
    Return the cleaned output in `source`, and the exit status of a wrapping.

    Whatever is looked for in an output is looked for behind this: who wraps it differs from harness to harness.
    """
    opened = open_envelope(source)  # before the source is bounded
    text, status = (source, None) if opened is None else opened
    text = strip_blanks(clean(text))
    is_looked_at = opened is None and text == source
    for _ in range(MAX_LAYERS):
        opened = _peel(text, is_looked_at=is_looked_at)
        if opened is None:
            break
        text, status = strip_blanks(clean(opened.text)), status or opened.exit_code
        is_looked_at = False
    return Opened(fold_document(text), status)


def _peel(text: str, *, is_looked_at: bool) -> Opened | None:
    """
    Return a text without its outermost layer, nothing if it has none.

    Args:
        text: The text.
        is_looked_at: Whether it is known to be no envelope.
    """
    opened = (None if is_looked_at else open_envelope(text)) or strip_tags(text) or strip_fence(text)
    if opened is not None:
        return opened
    body = strip_margins(dedent(strip_prefixes(text)))
    if body != text:
        return Opened(body)
    opened = strip_framing(text)
    if opened is not None:
        return opened
    body = answer_of(text)
    return Opened(body) if body != text else None
