"""Find keys of several lines, whole or cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.found import Found
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN: Final = lazy_pattern(
    r"----[- ]BEGIN (?:[A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-{0,5}[ -]?----?-?"
)
_END: Final = lazy_pattern(
    r"----[- ]END (?:[A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-{0,5}[ -]?----?-?"
)
_LINES_OF_KEY: Final = lazy_pattern(
    r"(?:\s*\n(?:[^\n]{0,40}?(?:[A-Za-z0-9+/=]{16,}"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\n]{0,80}"
    r"|(?<![\w+/])[A-Za-z0-9+/]{2,}(?:={1,2}|\Z))|[ \t|>+-]{0,40})"
    r"[ \t\"'|\\]{0,8}(?=\n|$))+"
)
_LINE_OF_KEY: Final = lazy_pattern(r"[^\n]{0,40}?[A-Za-z0-9+/]{32,}={0,2}[ \t\"'|\\]{0,8}$")
_LAST_LINE_OF_KEY: Final = lazy_pattern(r"[^\n]{0,40}?[A-Za-z0-9+/]{2,}={0,2}[ \t\"'|\\]{0,8}$")
_PUTTY: Final = lazy_pattern(
    r"Private-Lines: [0-9]{1,4}\n(?P<key>(?:[^\n]{0,40}?[A-Za-z0-9+/=]{8,100}[ \t\"'|]{0,8}(?:\n|$)){1,400})"
)
_PUTTY_MAC: Final = lazy_pattern(r"Private-(?:MAC|Hash): (?P<key>[0-9a-f]{20,64})")

MAX_KEY: Final = 32_768
"""Characters of a key, with what stands in front of its lines."""


def find_blocks(text: str) -> Iterator[Found]:
    """Yield private keys: PEM, PGP, SSH2 and PuTTY, whole or cut."""
    yield from _find_pem(text)
    for pattern in (_PUTTY, _PUTTY_MAC):
        for match in pattern.finditer(text):
            yield Found(match.start("key"), match.end("key"), "private_key")


def _find_pem(text: str) -> Iterator[Found]:
    at = 0
    for end in [*_END.finditer(text), None]:
        stop = end.start() if end is not None else len(text)
        begins = list(_BEGIN.finditer(text, at, stop))
        if end is not None:
            is_whole = bool(begins) and end.end() - begins[-1].start() <= MAX_KEY
            first = begins.pop().start() if is_whole else _find_first_line(text, at, stop)
            yield Found(first, end.end(), "private_key")
            at = end.end()
        for begin in begins:  # their ends were cut off
            rest = _LINES_OF_KEY.match(text, begin.end(), stop)
            yield Found(begin.start(), rest.end() if rest is not None else begin.end(), "private_key")


def _find_first_line(text: str, first: int, stop: int) -> int:
    # The beginning of the key was cut off: its lines are those above that hold nothing but letters of base64.
    start, match = text.rfind("\n", first, stop) + 1 or first, _LAST_LINE_OF_KEY.match
    found = stop
    while start > first:
        line = text.rfind("\n", first, start - 1) + 1 or first
        if not match(text, line, start - 1):
            break
        found = start = line
        match = _LINE_OF_KEY.match
    return found
