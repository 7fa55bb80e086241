"""The signals, without the names that `signal` builds at its import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Final
else:
    import _signal as signal

__all__ = ["ENDING", "signal"]

ENDING: Final = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
"""Those by which hosts and people end commands."""
