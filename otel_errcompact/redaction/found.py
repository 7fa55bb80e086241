"""Where secrets stand in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable


class Found(NamedTuple):
    """One secret in a text."""

    start: int
    """The place of its first character."""

    end: int
    """The place behind its last character."""

    kind: str
    """The word in its place: `[REDACTED:<kind>]`."""


MARK: Final = "[REDACTED:"
"""How what stands in place of a secret begins; its kind and "]" follow."""


class Place(NamedTuple):
    """A pattern with the secret in its group `secret`."""

    clues: tuple[str, ...]
    """Strings of which one stands in each text, in lower case, that the pattern matches in."""

    pattern: re.Pattern[str]

    kind: str
    """The word in its place: `[REDACTED:<kind>]`."""

    issued: bool = False
    """Whether a machine made the secret: letters and digits in one."""


Places = tuple[tuple[tuple[str, ...], tuple[Place, ...]], ...]
"""Groups of places, by strings of which one stands, in lower case, in all texts that a place of the group is in."""


_GENERAL: Final = frozenset({"secret", "api_key"})
"""Kinds that say less than another kind of the same secret."""


def replace_found(text: str, found: Iterable[Found]) -> str:
    """Return `text` with each secret replaced; overlapping ones are one secret."""
    parts: list[str] = []
    at = 0
    merged: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if merged and one.start < merged[-1].end:
            before = merged[-1]
            kind = one.kind if before.kind in _GENERAL else before.kind
            merged[-1] = Found(before.start, max(one.end, before.end), kind)
        else:
            merged.append(one)
    for start, end, kind in merged:
        parts += (text[at:start], f"{MARK}{kind}]")
        at = end
    return "".join((*parts, text[at:]))
