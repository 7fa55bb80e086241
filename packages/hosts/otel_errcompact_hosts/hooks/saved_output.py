"""Read the outputs that hosts, or our shell prefix, keep in files."""

from __future__ import annotations

import json
import os
import stat
import time
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_hosts.payloads import parse_record, record_of

MAX_BYTES: Final = 4_000_000
"""Bytes of an output that are read; of a larger one the end is, where a program says why it failed."""

_NAME: Final = lazy_pattern(
    r"(?:/[^/\x00-\x1f]{1,255}){0,40}/(?:[0-9]{1,20}-copilot-tool-output-[0-9a-f-]{1,80}\.txt"
    r"|output-[0-9]{8}-[0-9]{6}-[0-9-]{1,30}(?:\.[0-9a-f]{4,16})?\.log"
    r"|tool-output/tool_[0-9A-Za-z]{1,80}|tasks/[0-9A-Za-z]{1,80}\.output|rollout-[0-9T-]{1,40}-[0-9a-f-]{36}\.jsonl)"
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


def find_command(transcript: str, call_id: str) -> dict[str, object]:
    """
    Return what a transcript of Codex holds of an ended command.

    A hook is told no exit status. Codex writes the transcript beside its hooks, so that the line may come a moment
    later.
    """
    mark = f'"type":"CommandExecution","id":{json.dumps(call_id)}'
    for pause in _PAUSES_S:
        time.sleep(pause)
        text = read_saved(transcript)
        found = text.rfind(mark)
        if found >= 0:
            line = text[text.rfind("\n", 0, found) + 1 :].partition("\n")[0]
            return record_of(record_of(parse_record(line, limit=MAX_BYTES), "payload"), "item")
        if not text:
            break
    return {}


_PAUSES_S: Final = (0.0, 0.02, 0.04, 0.08)
"""Together well below what a hook waits."""
