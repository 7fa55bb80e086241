"""Remember when the hooks of each host were last heard of."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_MIN_AGE_S: Final = 60
"""A session that began a moment ago may still get its first prompt."""

_HEARD: Final = "-"
_SILENT: Final = (
    "errcompact: of the session before this one nothing was heard but its start; if it made calls, its hooks do not "
    "work: 'errcompact hooks doctor {}' says why"
)


class Heard:
    """
    A small file for each host, as old as the last event.

    It holds the id of a session of which nothing but the start was heard.
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / "heard"
        self._said: dict[str, str] = {}
        """What this process has written of each host."""

    def age(self, host: str) -> float | None:
        """Return seconds since the last event; None without one."""
        try:
            return max(0.0, time.time() - (self._folder / host).stat().st_mtime)
        except OSError:
            return None

    def note(self, host: str, session: str, *, is_start: bool) -> str:
        """Note an event; return what its session should be told."""
        silent, age = (self._read(host), self.age(host) or 0) if is_start else (_HEARD, 0)
        with suppress(OSError):
            self._write(host, session if is_start else _HEARD)
        return _SILENT.format(host) if silent not in {_HEARD, session} and age >= _MIN_AGE_S else ""

    def _write(self, host: str, said: str) -> None:
        if self._said.get(host) == said:
            with suppress(FileNotFoundError):
                os.utime(self._folder / host)
                return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / host).write_text(said, encoding="utf-8")
        self._said[host] = said

    def _read(self, host: str) -> str:
        try:
            return (self._folder / host).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return _HEARD
