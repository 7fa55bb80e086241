"""Write what the agent reads: digests of calls, and a run's block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.digest.options import DigestOptions
from otel_errcompact.digest.shown import ALL_FORGOTTEN, NOTHING_SHOWN, Shown
from otel_errcompact.digest.situation import Situation
from otel_errcompact.digest.untrusted import cut_middle, encodable, one_line, plain_lines, quote
from otel_errcompact.runtime.forks import load_name

if TYPE_CHECKING:
    from otel_errcompact.digest.block import CLOSING, OPENING, render_block
    from otel_errcompact.digest.inline import Digest, render_inline, render_refusal

_MODULES: Final = {
    ".block": ("CLOSING", "OPENING", "render_block"),
    ".inline": ("Digest", "render_inline", "render_refusal"),
}
"""What writes, loaded at the first failure."""

__all__ = [
    "ALL_FORGOTTEN", "CLOSING", "NOTHING_SHOWN", "OPENING", "Digest", "DigestOptions", "Shown", "Situation",
    "cut_middle", "encodable", "one_line", "plain_lines", "quote", "render_block", "render_inline", "render_refusal",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    return load_name(__name__, _MODULES, name)
