"""Where the whole of what is cut is kept, before it is cut."""

from __future__ import annotations

from typing import Protocol


class Archive(Protocol):
    """
    Keeps texts, and gives them back.
    """

    def keep(self, text: str) -> str:
        """
        Keep a text and return its place: what stands in the context's marker, and what `read` takes.

        Raises:
            OSError: The text could not be kept, so that it must not be cut.
        """
        ...

    def read(self, place: str) -> str:
        """
        Return what was kept there.

        Raises:
            OSError: Nothing is kept there, or it cannot be read.
        """
        ...
