"""The callers of a call that telemetry wraps: a traceback that begins inside an instrumentation lacks them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.stacks.frames import is_own, is_plumbing

if TYPE_CHECKING:
    from types import FrameType, TracebackType

MAX_CALLERS: Final = 256


def callers_of(traceback: TracebackType | None) -> tuple[FrameType, ...]:
    """
    Return the callers above a traceback from the innermost own one on, outermost first.

    An instrumentation records an exception before it reaches the code that called: its traceback begins inside the
    instrumentation. Empty where it does not, where a frame of it is the user's own, or where the call is over.
    """
    if traceback is None or not is_plumbing(traceback.tb_frame.f_code.co_filename):
        return ()
    step: TracebackType | None = traceback
    while step is not None:
        if is_own(step.tb_frame.f_code.co_filename, step.tb_frame.f_code.co_name):
            return ()
        step = step.tb_next
    if not _is_running(traceback.tb_frame):
        return ()
    callers: list[FrameType] = []
    frame = traceback.tb_frame.f_back
    while frame is not None and len(callers) < MAX_CALLERS:
        callers.append(frame)
        if is_own(frame.f_code.co_filename, frame.f_code.co_name):
            return tuple(reversed(callers))
        frame = frame.f_back
    return ()


def _is_running(called: FrameType) -> bool:
    # Tell whether a frame is on the stack of this thread: only then its callers are where they called it.
    frame = inspect.currentframe()
    while frame is not None and frame is not called:
        frame = frame.f_back
    return frame is not None
