"""What a message comes down to."""

from __future__ import annotations

from typing import Final, NamedTuple

NO_MESSAGE: Final = "no message"


class Reading(NamedTuple):
    """A message read: its cause in one line, the cause as it counts for the key if that differs, and further lines."""

    cause: str
    key: str = ""
    details: tuple[str, ...] = ()

    type: str = ""
    """The type that the message states by itself, whatever raised it; then the key is whole."""
