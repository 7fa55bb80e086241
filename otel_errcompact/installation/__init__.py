"""INSTALLATION: what an application, a configurator or the environment sets up."""

from __future__ import annotations

from collections import deque
from typing import Final

DECIDED: Final[deque[bool]] = deque(maxlen=1)
"""Not empty once code, auto-instrumentation or the first use has decided whether to install."""
