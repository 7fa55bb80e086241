"""
The programs whose telemetry is known, a module for each.

To know another one takes a module and a row here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.telemetry.emitters import (
    claude_code,
    codex,
    copilot,
    gemini_cli,
    genai,
    opencode,
)

if TYPE_CHECKING:
    from otel_errcompact.hosts.telemetry.emitters.emitter import Emitter
    from otel_errcompact.hosts.telemetry.entries import Entry

ORDER: Final[tuple[Emitter, ...]] = (
    claude_code.EMITTER,
    codex.EMITTER,
    gemini_cli.EMITTER,
    opencode.EMITTER,
    *copilot.EMITTERS,
    genai.EMITTER,
)
"""The first one that owns an entry reads it; the last one is for all programs."""


def find_emitter(entry: Entry) -> Emitter:
    """Return the emitter of an entry."""
    return next(emitter for emitter in ORDER if emitter.owns(entry))
