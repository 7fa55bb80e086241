"""Write what the agent reads: digests of calls, and a run's block."""

from __future__ import annotations

from otel_errcompact.digest.block import CLOSING, OPENING, render_block
from otel_errcompact.digest.inline import Digest, render_inline, render_refusal
from otel_errcompact.digest.options import DigestOptions
from otel_errcompact.digest.shown import ALL_FORGOTTEN, NOTHING_SHOWN, Shown
from otel_errcompact.digest.situation import Situation
from otel_errcompact.digest.untrusted import cut_middle, encodable, one_line, plain_lines, quote

__all__ = [
    "ALL_FORGOTTEN", "CLOSING", "NOTHING_SHOWN", "OPENING", "Digest", "DigestOptions", "Shown", "Situation",
    "cut_middle", "encodable", "one_line", "plain_lines", "quote", "render_block", "render_inline", "render_refusal",
]  # fmt: skip
