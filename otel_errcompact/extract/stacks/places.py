"""Names of places: a bare file name means the folder of the head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.extract.stacks.frames import is_own_frame, library_place
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from otel_errcompact.errors import Location
    from otel_errcompact.extract.stacks.frames import Frame


class Places:
    """
    The names of places below one head.

    After a place in another folder all names are whole, since lines may be left out.
    """

    def __init__(self, head: Location) -> None:
        self._folder: str | None = _folder_of(head.file)

    def name(self, frame: Frame) -> str:
        """Name a frame, without the folder where only that one was named."""
        if not is_own_frame(frame):
            return str(library_place(frame))
        place = frame.place()
        folder = _folder_of(place.file)
        if folder and folder == self._folder:
            return str(replace(place, file=place.file[len(folder) :]))
        if folder:
            self._folder = None
        return str(place)


def _folder_of(file: str) -> str:
    return file[: max(file.rfind("/"), file.rfind("\\")) + 1]
