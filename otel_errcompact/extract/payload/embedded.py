"""Payloads inside a text: where they stand, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.payload.literals import find_values
from otel_errcompact.extract.payload.walk import read_body
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.extract.payload.error import Body

_MAX_FENCE: Final = 20
_FENCE_BEFORE: Final = lazy_pattern(r"\s{0,64}```\w{0,12}\s{0,64}\Z")
_FENCE_BEHIND: Final = lazy_pattern(r"\A\s{0,64}```\s{0,64}")


class Embedded(NamedTuple):
    """A body found inside a text, and what stands around it."""

    body: Body
    before: str
    after: str


def find_body(text: str) -> Embedded | None:
    """Return the first error body in `text`, or nothing."""
    for value, start, end in find_values(text):
        body = read_body(value) if value else None
        if body is not None:
            before, after = text[:start], text[end:]
            if "```" in before[-_MAX_FENCE:]:
                before = before[:-_MAX_FENCE] + _FENCE_BEFORE.sub("", before[-_MAX_FENCE:])
                after = _FENCE_BEHIND.sub("", after)
            return Embedded(body, before, after)
    return None
