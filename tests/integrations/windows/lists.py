"""What every integration's window is tested with: a small one, and results that do not fit into it."""

from __future__ import annotations

from typing import Any

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import ContextWindow, MemoryArchive
from otel_errcompact_context.guard.guard import OverflowGuard

ROOM = 1_500
LINES = "\n".join(f"line {number} of a long result" for number in range(60))
"""About 420 tokens."""


def small(**options: Any) -> OverflowGuard:
    """A guard of a window that has room for three results."""
    fields = {"window_tokens": 2_000, "reserve_tokens": 500, "keep_results": 1, **options}
    window = ContextWindow(
        ContextOptions(**fields), archive=MemoryArchive(), count_tokens=estimate_tokens, observers=()
    )
    return OverflowGuard(window, validate=False)


class TooLongError(Exception):
    """As providers say it."""

    def __init__(self) -> None:
        super().__init__("Error code: 400 - prompt is too long: 3000 tokens > 1000 maximum")
