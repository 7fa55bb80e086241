"""Characters that time lines may take on the page."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Room:
    """Characters that are left for the time lines of all runs."""

    left: int


@dataclass(slots=True)
class Share:
    """
    The room that one run takes.

    Args:
        room: What is left for all runs.
        most: The most that this run may take.
    """

    room: Room
    most: int
    taken: int = field(default=0, init=False)

    def take(self, size: int) -> bool:
        """Take room if there is enough, and return whether there was."""
        if self.taken + size > self.most or size > self.room.left:
            return False
        self.taken += size
        self.room.left -= size
        return True

    def give_back(self, size: int) -> None:
        """Give room back to all runs."""
        self.taken -= size
        self.room.left += size
