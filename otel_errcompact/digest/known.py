"""Evidence that the agent has read or written before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.dedup.masking import mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Evidence, RawError

MAX_USUAL: Final = 500
"""Lines of a tool's usual answer that evidence is compared with."""

MAX_SENT: Final = 65_536
"""Characters of a call's arguments that evidence is compared with."""

_COMPARED: Final = 60
"""Characters of a line by which it is known; evidence is clipped."""


def drop_known(evidence: Sequence[Evidence], raw: RawError) -> Sequence[Evidence]:
    """
    Return the evidence without lines that the agent knows.

    It knows what it has sent itself, and what the tool usually answers.
    """
    if evidence and raw.usual:
        known = {mask(line.strip()) for line in raw.usual.split("\n", MAX_USUAL)[:MAX_USUAL]}
        evidence = [found for found in evidence if mask(found.line) not in known]
    if evidence and raw.arguments and "\n" in raw.text and len(raw.arguments) <= MAX_SENT:
        sent = {line.strip()[:_COMPARED] for text in _texts_of(raw.arguments) for line in text.split("\n")}
        evidence = [found for found in evidence if found.line[:_COMPARED] not in sent]
    return evidence


def _texts_of(arguments: str) -> Iterator[str]:
    try:
        sent = cast("object", json.loads(arguments))
    except (ValueError, RecursionError):
        yield arguments
        return
    values = cast("dict[str, Any]", sent).values() if isinstance(sent, dict) else (sent,)
    for value in values:
        if isinstance(value, str):
            yield value
