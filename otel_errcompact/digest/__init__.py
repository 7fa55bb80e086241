"""From history to the text the agent reads: inline for one failed call, and the block of recent errors."""

from __future__ import annotations

from otel_errcompact.digest.block import CLOSING, OPENING, block
from otel_errcompact.digest.inline import inline, refusal
from otel_errcompact.digest.options import DigestOptions
from otel_errcompact.digest.standing import Standing
from otel_errcompact.digest.untrusted import encodable, one_line, plain_lines

__all__ = [
    "CLOSING",
    "OPENING",
    "DigestOptions",
    "Standing",
    "block",
    "encodable",
    "inline",
    "one_line",
    "plain_lines",
    "refusal",
]
