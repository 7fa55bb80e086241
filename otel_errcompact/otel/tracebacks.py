"""The stack text of an exception, as Python prints it."""

from __future__ import annotations

import sys
import traceback
from typing import Any, Final, cast

from otel_errcompact.bounded import BoundedTable
from otel_errcompact.extract.callers import callers_of
from otel_errcompact.forks import reset_in_child

HEADER: Final = "Traceback (most recent call last):"
MAX_FRAMES: Final = 2_048
MAX_NESTED: Final = 64

_frames: Final[BoundedTable[tuple[object, ...], str]] = BoundedTable(MAX_FRAMES)
reset_in_child(_frames.clear)


class _KnownFrames(traceback.StackSummary):
    """
    Frames that keep their text: to find out what to underline Python compiles the line again, and what fails in a loop
    fails in the same lines.
    """

    def format_frame_summary(self, frame_summary: Any, **options: Any) -> str:
        """Return the text of one frame."""
        frame, anew = frame_summary, cast("Any", super())  # Python 3.10 has no such method
        place = (frame.filename, frame.lineno, frame.name, frame.line, frame.colno, frame.end_colno, frame.end_lineno)
        text = _frames.get(place)
        if text is None:
            text = str(anew.format_frame_summary(frame, **options))
            _frames.put(place, text)
        return text


def stack_text(exception: BaseException) -> str:
    """Return what `traceback.format_exception` gives, as one text."""
    found = traceback.TracebackException(type(exception), exception, exception.__traceback__, compact=True)
    if sys.version_info >= (3, 11):  # before that nothing is underlined
        _remember(found)
    return "".join(found.format())


def with_callers(text: str, exception: BaseException) -> str:
    """
    Return a stack text with the callers that it lacks because an instrumentation recorded it: the innermost own one,
    and what that has called.
    """
    callers = callers_of(exception.__traceback__)
    start = f"\n{text}".rfind(f"\n{HEADER}\n")
    if not callers or start < 0:
        return text
    at = start + len(HEADER) + 1
    steps = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in callers)
    return f"{text[:at]}{''.join(steps.format())}{text[at:]}"


def _remember(exception: Any) -> None:
    waiting: list[Any] = [exception]
    seen = 0
    while waiting and seen < MAX_NESTED:
        found, seen = waiting.pop(), seen + 1
        found.stack = _KnownFrames(found.stack)
        waiting += filter(None, (found.__cause__, found.__context__, *(found.exceptions or ())))
