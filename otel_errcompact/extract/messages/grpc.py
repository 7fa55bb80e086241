"""The status of a failed gRPC call, as Python's client prints it in the message of its exception."""

from __future__ import annotations

from typing import Final, NamedTuple

from otel_errcompact.extract.clipping import clip
from otel_errcompact.runtime.lazy import lazy_pattern

MARKER: Final = "StatusCode."

_STATUS: Final = lazy_pattern(r"StatusCode\.(?P<code>[A-Z_]{2,30})\n\s{0,40}details = \"(?P<details>.*)")
_LINES: Final = ("debug_error_string = ", ">")


class Status(NamedTuple):
    """What ended a call."""

    code: str
    details: str

    def __str__(self) -> str:
        return f"{self.code}: {self.details}" if self.details else self.code


def read_status(message: str) -> Status | None:
    """Return the status that `message` prints over several lines, or nothing if it prints none."""
    start = message.find(MARKER)
    found = _STATUS.match(message, start) if start >= 0 else None
    if found is None:
        return None
    first, *more = (found["details"] + message[found.end() :]).split("\n")
    lines = [first]
    for line in more:
        if lines[-1].endswith('"') or line.strip().startswith(_LINES):
            break
        lines.append(line)
    return Status(found["code"], clip(" ".join(" ".join(lines).split()).removesuffix('"')))
