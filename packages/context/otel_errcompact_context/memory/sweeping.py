"""Bounds of size and age for a folder of kept texts."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME: Final = lazy_pattern(r"[0-9a-f]{32}\.txt")
"""The names of kept texts; other files of the folder are not ours."""

DAY_S: Final = 86_400
SPARED: Final = 10_000
"""So many texts that this process kept or read last are not removed for the folder's size: a context may name them."""

MARK_S: Final = 60
"""How old the time of a file's last use may be: a text that is used at each turn is not marked each time."""

_UNFINISHED: Final = lazy_pattern(r"\..*\.part")
_PARTS: Final = 16
"""The folder is looked through when one part in so many of its size was written, and left that much smaller."""

_PAUSE_S: Final = 3_600


class _Kept(NamedTuple):
    used: float
    """When it was kept or read last, in seconds since the epoch."""

    size: int
    name: str


class Sweeper:
    """
    Removes the oldest texts of a folder.

    Of what is beyond the size, texts that any process has used within a day stay, and so do those that this process
    used last: the bound gives way rather than a text that a context names.
    """

    def __init__(self, folder: Path, max_bytes: int, max_days: float, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_days = max_days
        self._clock = clock
        self.bounds: Final = _describe_bounds(max_bytes, max_days)
        """The bounds in words; empty without any."""
        self._used: BoundedTable[str, float] = BoundedTable(SPARED)
        """When the file of each was given the time of its use, those used last at the end."""
        self._written = 0
        self._swept = float("-inf")
        reset_in_child(self._used.clear)

    def mark_used(self, place: str) -> None:
        """
        Record that a text is kept or read now.

        Its file is given the time, unless it was within a minute.
        """
        if not self.bounds:
            return
        is_marked = self.is_marked(place)
        marked = self._used.pop(place)  # its place in the order is the newest then
        self._used.put(place, marked if is_marked and marked is not None else self._clock())
        if not is_marked:
            self.touch(place)

    def is_marked(self, place: str) -> bool:
        """Return whether a file has the time of its use, to a minute."""
        marked = self._used.get(place)
        return not self.bounds or (marked is not None and 0 <= self._clock() - marked < MARK_S)

    def touch(self, place: str) -> None:
        """Give a file the time of its use."""
        if self.bounds:
            now = self._clock()
            with contextlib.suppress(OSError):
                os.utime(place, (now, now))

    def sweep_if_due(self, written: int) -> None:
        """Remove what is beyond the bounds, once in a while."""
        self._written += written
        now = self._clock()
        is_much = self._max_bytes and self._written * _PARTS >= self._max_bytes
        if self.bounds and (is_much or now >= self._swept + _PAUSE_S):
            self._written, self._swept = 0, now
            with contextlib.suppress(OSError):
                self._sweep_folder(now)

    def _sweep_folder(self, now: float) -> None:
        kept = sorted(self._list_files(now))
        total = sum(one.size for one in kept)
        too_old = now - MARK_S - self._max_days * DAY_S if self._max_days else float("-inf")
        goal = self._max_bytes - self._max_bytes // _PARTS if total > self._max_bytes > 0 else total
        for one in kept:
            spared = one.used > now - MARK_S - DAY_S or str(self._folder / one.name) in self._used.entries
            if one.used < too_old or (total > goal and not spared):
                total -= one.size
                self._remove_file(one)

    def _list_files(self, now: float) -> list[_Kept]:
        found: list[_Kept] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process removes as well
                    state = entry.stat(follow_symlinks=False)
                    if NAME.fullmatch(entry.name):
                        found.append(_Kept(state.st_mtime, state.st_size, entry.name))
                    elif _UNFINISHED.fullmatch(entry.name) and state.st_mtime < now - DAY_S:
                        os.unlink(entry.path)  # noqa: PTH108 - what a process that was killed has left behind
        return found

    def _remove_file(self, one: _Kept) -> None:
        file = self._folder / one.name
        with contextlib.suppress(OSError):
            # Another process may have used it in the meantime.
            if file.stat().st_mtime == one.used:
                file.unlink()


def _describe_bounds(max_bytes: int, max_days: float) -> str:
    parts = [f"what was not used for {max_days:g} days"] * bool(max_days)
    parts += [f"the oldest beyond {max_bytes:,} bytes"] * bool(max_bytes)
    return " and ".join(parts)
