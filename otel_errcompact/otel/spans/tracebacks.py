"""The stack text of an exception, as Python prints it."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact import late
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.foreign import origin_of, qualified_name_of, string_of, traceback_of
from otel_errcompact.runtime.forks import reset_in_child

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER: Final = "Traceback (most recent call last):"
MAX_FRAMES: Final = 2_048
MAX_NESTED: Final = 64

_CAUSED: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"
_GUESSED: Final = (NameError, AttributeError, ImportError)

_frames: Final[BoundedTable[tuple[object, ...], str]] = BoundedTable(MAX_FRAMES)
reset_in_child(_frames.clear)


class _KnownFrames(traceback.StackSummary):
    """
    Frames that keep their text.

    To underline a part of a line Python compiles the line again, and a failure in a loop fails in the same lines.
    """

    def format_frame_summary(self, frame_summary: Any, **options: Any) -> str:
        """Return the text of one frame."""
        frame = frame_summary
        place = (frame.filename, frame.lineno, frame.name, frame.line, frame.colno, frame.end_colno, frame.end_lineno)
        text = _frames.get(place)
        if text is None:
            text = super().format_frame_summary(frame, **options)
            _frames.put(place, text)
        return text


def print_exception(exception: BaseException) -> tuple[str, dict[int, str]]:
    """
    Return the traceback text, and each exception's own message by `id`.

    An exception's `__str__` is the application's code: it may take long, return another text each time, and raise.
    """
    try:
        found = traceback.TracebackException(type(exception), exception, exception.__traceback__, compact=True)
        _keep_frames(found)
        return "".join(found.format()), _read_messages(found, exception)
    except Exception:  # noqa: BLE001 - so do attributes, notes and metaclasses, which Python's printing reads bare
        messages: dict[int, str] = {}
        return "".join(_print_plainly(exception, messages)), messages


def _read_messages(found: Any, exception: BaseException) -> dict[int, str]:
    messages: dict[int, str] = {}
    waiting: list[tuple[Any, BaseException | None]] = [(found, exception)]
    while waiting and len(messages) < MAX_NESTED:
        printed, link = waiting.pop()
        if printed is None or link is None:
            continue
        # To the messages of these newer Pythons append their guesses.
        text = None if issubclass(type(link), _GUESSED) else getattr(printed, "_str", None)
        messages[id(link)] = string_of(link) if text is None else text
        waiting += (printed.__cause__, link.__cause__), (printed.__context__, link.__context__)
        waiting += zip(getattr(printed, "exceptions", None) or (), getattr(link, "exceptions", ()), strict=False)
    return messages


def _print_plainly(exception: BaseException, messages: dict[int, str]) -> Iterator[str]:
    """Print an exception that Python cannot print."""
    origin, is_cause = origin_of(exception)
    message = messages[id(exception)] = string_of(exception)
    if origin is not None and id(origin) not in messages and len(messages) < MAX_NESTED:
        yield from _print_plainly(origin, messages)
        yield _CAUSED if is_cause else _DURING
    yield f"{HEADER}\n"
    yield from traceback.format_tb(traceback_of(exception))
    yield f"{qualified_name_of(type(exception))}: {message}\n"


def insert_callers(text: str, exception: BaseException) -> str:
    """
    Return a stack text with the callers that an instrumentation cut off.

    These are the innermost frame of the application and all that it has called.
    """
    callers = late.callers_of(traceback_of(exception))
    start = f"\n{text}".rfind(f"\n{HEADER}\n")
    if not callers or start < 0:
        return text
    at = start + len(HEADER) + 1
    steps = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in callers)
    return f"{text[:at]}{''.join(steps.format())}{text[at:]}"


def _keep_frames(exception: Any) -> None:
    waiting: list[Any] = [exception]
    seen = 0
    while waiting and seen < MAX_NESTED:
        found, seen = waiting.pop(), seen + 1
        found.stack = _KnownFrames(found.stack)
        waiting += filter(None, (found.__cause__, found.__context__, *(found.exceptions or ())))
