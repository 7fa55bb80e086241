"""Read the outputs that Copilot or our shell prefix keeps in files."""

from __future__ import annotations

import os
import stat
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

MAX_BYTES: Final = 4_000_000
"""Bytes of an output that are read; of a larger one the end is, where a program says why it failed."""

_NAME: Final = lazy_pattern(
    r"(?:/[^/\x00-\x1f]{1,255}){0,40}"
    r"/(?:[0-9]{1,20}-copilot-tool-output-[0-9a-f-]{1,80}\.txt|output-[0-9]{8}-[0-9]{6}-[0-9-]{1,30}(?:\.[0-9a-f]{4,16})?\.log)"
)
"""Only such files: the path stands in the output of a tool, which may name any file."""


def read_saved(path: str) -> str:
    """Return an output that was saved; empty if it is none."""
    if not path or _NAME.fullmatch(path) is None:
        return ""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    with os.fdopen(file, "rb") as saved:
        found = os.fstat(saved.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            return ""
        saved.seek(max(0, found.st_size - MAX_BYTES))
        return saved.read(MAX_BYTES).decode("utf-8", "replace")
