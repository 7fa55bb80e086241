"""Log to standard error, with times and within a bound."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_LINES: Final = 100
"""Lines of a minute; `debug` asks for all."""

MAX_LINE: Final = 16_384
"""Characters of a line."""

_MINUTE_S: Final = 60.0


class BoundedHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """
    Writes some lines a minute, and how many it left out.

    A flood of bad requests would fill the disk else.
    """

    def __init__(self, max_lines: int = MAX_LINES, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(sys.stderr)
        self._max_lines = max_lines
        self._clock = clock
        self._minute = clock()
        self._written = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, if there is room for it."""
        now = self._clock()
        if now - self._minute >= _MINUTE_S:
            left_out = self._written - self._max_lines
            self._minute, self._written = now, 0
            if left_out > 0:
                about = {"name": record.name, "levelname": record.levelname, "msg": f"{left_out} lines left out"}
                self.emit(logging.makeLogRecord(about))
        self._written += 1
        if self._written <= self._max_lines:
            super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """Return a line."""
        return super().format(record)[:MAX_LINE]


def set_up_log(level: str) -> None:
    """Log to standard error; nothing else does any more."""
    handler = BoundedHandler(sys.maxsize if level == "debug" else MAX_LINES)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
