"""When a run escalates, and what the library may do."""

from __future__ import annotations

from typing import Final, Literal

from otel_errcompact.runtime.models import FrozenModel, setting

Threshold = Literal["same", "rejected", "loop", "consecutive", "total"]
Mode = Literal["observe", "advise", "enforce"]
"""What the library may do: count, record and alert; also write digests, notices and refusals; also ask and halt."""

MODES: Final[tuple[Mode, ...]] = ("observe", "advise", "enforce")

THRESHOLDS: Final[tuple[Threshold, ...]] = ("same", "rejected", "loop", "consecutive", "total")
ASKING: Final[frozenset[Threshold]] = frozenset({"same", "rejected", "loop"})
"""Thresholds that ask the escalation handler, whatever `Thresholds.halts` holds."""


class Thresholds(FrozenModel):
    """
    Sets the counts at which a run escalates.

    All but `total` count turns: failures that the agent could not have read yet count once.
    """

    same: int = setting(default=3, ge=1)
    """Failures of one class in one operation since that operation last succeeded, where the calls were executed."""

    rejected: int = setting(default=5, ge=1)
    """The same where nothing was executed: input that was refused, unknown tools, commands that do not exist."""

    loop: int = setting(default=4, ge=1)
    """Failures and refusals of identical calls of an agent since any of its calls succeeded; none that may pass."""

    loop_halt: int = setting(default=6, ge=1)
    """The same count, at which a run is halted that no handler has answered for."""

    refuse: int = setting(default=2, ge=1)
    """Failures of identical calls, none of them transient, after which the next one is refused."""

    refuse_seconds: int = setting(default=300, ge=1)
    """For how long after its last failure a call is refused, in seconds; then it may be made once, as a probe."""

    wait_seconds: int = setting(default=300, ge=0)
    """Seconds without a success after which failures that may pass, such as time-outs, count for `same` as well."""

    consecutive: int = setting(default=6, ge=1)
    """Failures in a row that stay, of any class, with no success between; an alert."""

    total: int = setting(default=30, ge=1)
    """Occurrences in the run: the error budget; an alert."""

    halts: frozenset[Threshold] = frozenset()
    """Thresholds that halt the run where no handler decides, and that ask the handler where there is one."""

    def asks(self, threshold: Threshold) -> bool:
        """Return whether the escalation handler is asked when `threshold` is reached."""
        return threshold in ASKING or threshold in self.halts
