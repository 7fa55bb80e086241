"""Unwrap an output, layer by layer, until nothing more comes off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.cleaning.answers import answer_of
from otel_errcompact.extract.cleaning.characters import clean, dedent, strip_blanks
from otel_errcompact.extract.cleaning.envelope import Opened, open_envelope
from otel_errcompact.extract.cleaning.framing import strip_framing
from otel_errcompact.extract.cleaning.layout import fold_document
from otel_errcompact.extract.cleaning.markup import strip_fence, strip_margins, strip_tags
from otel_errcompact.extract.cleaning.prefixes import strip_prefixes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_LAYERS: Final = 12
"""Layers that are taken off: a result of MCP in a fence in a log of a runner has three."""


def unwrap(source: str) -> Opened:
    """
    Return the cleaned output in `source`, and the exit status of a wrapping.

    Whatever is looked for in an output is looked for behind this: who wraps it differs from harness to harness.
    """
    text, status = source, None
    for _, opened in peel(source):
        text, status = opened.text, status or opened.exit_code
    return Opened(text, status)


def peel(source: str) -> Iterator[tuple[str, Opened]]:
    """Yield each layer that comes off, and what is left."""
    text, layer = source, _strip_layer(source, _STRIPS[:1])  # an envelope is opened before the source is bounded
    for _ in range(MAX_LAYERS + 1):
        if layer is not None:
            yield layer
            text = layer[1].text
        text = strip_blanks(clean(text))
        yield CHARACTERS, Opened(text)
        layer = _strip_layer(text, _STRIPS[1:] if layer is None and text == source else _STRIPS)
        if layer is None:
            break
    yield "indentation of JSON", Opened(fold_document(text))


def _strip_layer(text: str, strips: Sequence[tuple[str, Callable[[str], Opened | None]]]) -> tuple[str, Opened] | None:
    for name, strip in strips:
        opened = strip(text)
        if opened is not None:
            return name, opened
    return None


def _strip_starts(text: str) -> Opened | None:
    body = text
    for _, strip in STARTS:
        body = strip(body)
    return _open_if_changed(text, body)


def _strip_progress(text: str) -> Opened | None:
    return _open_if_changed(text, answer_of(text))


def _open_if_changed(text: str, body: str) -> Opened | None:
    return Opened(body) if body != text else None


CHARACTERS: Final = "characters"
LINES: Final = "starts of lines"

STARTS: Final = (("prefixes of lines", strip_prefixes), ("indentation", dedent), ("margins", strip_margins))
"""What comes off the beginnings of lines, together."""

_STRIPS: Final[tuple[tuple[str, Callable[[str], Opened | None]], ...]] = (
    ("envelope", open_envelope),
    ("tags of a harness", strip_tags),
    ("fence of Markdown", strip_fence),
    (LINES, _strip_starts),
    ("frame of a harness", strip_framing),
    ("progress before an answer", _strip_progress),
)
"""The layers, each with what takes it off; the first one that is found comes off."""
