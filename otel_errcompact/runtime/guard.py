"""The one guard between our own faults and the application."""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Final

from otel_errcompact.exceptions import ControlFlow

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

LOG_INTERVAL_S: Final = 60.0
MAX_LOGGED: Final = 64

_logger = logging.getLogger("otel_errcompact")


class Guard:
    """
    Keeps our own faults away from the application; counts and logs them.

    Use it as `with guard.stage("observe"):`. `ControlFlow` passes, since it was asked for.

    Args:
        clock: Seconds, monotonic.
        on_failure: Called with the stage of each failure; its own exceptions are dropped.
    """

    strict: ClassVar[bool] = False
    """Raise instead of swallowing, as in our own tests."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, on_failure: Callable[[str], object] | None = None
    ) -> None:
        self.failures: Counter[str] = Counter()
        self.on_failure = on_failure
        self._clock = clock
        self._logged_at: dict[str, float] = {}

    def stage(self, name: str) -> _Stage:
        """Return a reusable context manager that swallows, counts and logs faults."""
        return _Stage(self, name)

    def record_failure(self, stage: str, error: BaseException, *, fatal: bool = True, what: str = "") -> None:
        """
        Count and log one failure.

        A fault of ours is logged at most once a minute. Where the machine refuses, that is one line, once, for the
        person who can change it.

        Args:
            stage: Where it happened.
            error: What was raised.
            fatal: Whether it is a fault of ours; one of the user's own callback is counted but never raised.
            what: What has failed, and with what, where that is the user's own; each is logged by itself.

        Raises:
            BaseException: `error` itself, where it is fatal and `strict` is set.
        """
        self.failures[stage] += 1
        if isinstance(error, OSError) and not what:
            if self.failures[stage] == 1:
                _logger.warning("%s: %s", stage, "; ".join([str(error), *getattr(error, "__notes__", ())]))
        elif self._may_log(what):
            shown = what or f"internal failure in {stage}"
            _logger.error(
                "%s (%d so far); the application is not affected", shown, self.failures.total(), exc_info=error
            )
        if self.on_failure is not None:
            try:
                self.on_failure(stage)
            except Exception:  # noqa: BLE001 - nothing is left that could report it
                self.failures["on_failure"] += 1
        if fatal and self.strict:
            raise error

    def count(self, stage: str) -> None:
        """Count what is no fault and is logged elsewhere."""
        self.failures[stage] += 1

    def record_loss(self, stage: str, number: int, how: str = "lost") -> None:
        """
        Count losses that are no fault; log at most once a minute.

        Args:
            stage: Where it happened.
            number: How many.
            how: What has become of them.
        """
        self.failures[stage] += number
        if self._may_log():
            _logger.warning("%s: %d %s so far; the application is not affected", stage, self.failures[stage], how)

    def _may_log(self, what: str = "") -> bool:
        now = self._clock()
        if now - self._logged_at.get(what, float("-inf")) < LOG_INTERVAL_S:
            return False
        if len(self._logged_at) >= MAX_LOGGED:
            self._logged_at.clear()
        self._logged_at[what] = now
        return True


class _Stage:
    __slots__ = ("_guard", "_name")

    def __init__(self, guard: Guard, name: str) -> None:
        self._guard = guard
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception) or isinstance(error, ControlFlow):
            return False
        self._guard.record_failure(self._name, error)
        return True
