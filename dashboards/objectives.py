"""What is promised: the figures that dashboards draw a line at and alerts fire on."""

from __future__ import annotations

from typing import Final

RUN_OBJECTIVE: Final = 0.95
"""The share of runs that must end well: neither failed nor halted."""

ALLOWED_BAD_RUNS: Final = round(1 - RUN_OBJECTIVE, 6)
"""The error budget, as a share of all runs."""

MAX_SHARE: Final = 0.10
"""The share of digests in what agents send to their models above which errors are a cost of their own."""
