"""What anybody would write first: keys that need no library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MASKS = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?"), "<time>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"), "<address>"),
    (re.compile(r"https?://[^\s'\"<>]{1,300}"), "<url>"),
    (re.compile(r"(?:[A-Za-z]:\\|/)[^\s:'\",)]{1,300}"), "<path>"),
    (re.compile(r"\b0x[0-9a-fA-F]{1,32}\b"), "<address>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,64}\b"), "<hex>"),
    (re.compile(r"\b\d{1,30}(?:\.\d{1,30})?(?:ms|s|us)\b"), "<duration>"),
    (re.compile(r"(?<![\w.])-?\d{1,30}(?:\.\d{1,30})?\b"), "<number>"),
)


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _masked(text: str) -> str:
    line = _last_line(text)
    for pattern, name in _MASKS:
        line = pattern.sub(name, line)
    return line


BASELINES: dict[str, Callable[[str], str]] = {
    "raw text": str,
    "last line": _last_line,
    "last line under nine masks": _masked,
}
"""Keys by name."""
