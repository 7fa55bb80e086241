"""What else a text states, for the key: two failures that share their first reason may differ in the next one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.masking import mask
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.evidence.choice import gives_reason
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.errors import Facts

MAX_LINES: Final = 64
"""Lines of a text that are looked at."""

MAX_REASONS: Final = 8
"""Further reasons that count."""

_LOOSE: Final = frozenset({"database", "findings", "infra", "plain", "prose", "shell"})
"""Formats of texts that no exception at hand stands for, and that have no structure to tell what belongs together."""


def key_reasons(facts: Facts, body: str) -> Facts:
    """
    Return `facts` with the templates of all further reasons in the key.

    They are a sorted set, so that neither order nor counts matter.
    """
    if facts.format not in _LOOSE or facts.key_is_whole or "\n" not in body:
        return facts
    said = facts.keyed_cause
    reasons = sorted(_find_reasons(body.split("\n")[:MAX_LINES], said))
    return replace(facts, key_cause=" | ".join((said, *reasons))) if reasons else facts


def _find_reasons(lines: Sequence[str], said: str) -> dict[str, None]:
    found: dict[str, None] = {}
    for number in range(len(lines)):
        reason = gives_reason(lines, number)
        if reason and reason not in said and said not in reason:
            found[mask(redact(clip(reason)))] = None
            if len(found) == MAX_REASONS:
                break
    return found
