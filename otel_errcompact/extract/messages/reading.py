"""What a message comes down to."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """A message read: its cause in one line, the cause as it counts for the key if that differs, and further lines."""

    cause: str
    key: str = ""
    details: tuple[str, ...] = ()
