"""The log of the service, on standard error."""

from __future__ import annotations

import logging
import sys
from typing import Final

LEVELS: Final = ("debug", "info", "warning", "error")


def set_up_log(level: str) -> None:
    """
    Log to standard error, with times; nothing else does any more.

    Args:
        level: The name of the lowest level that is logged.
    """
    form = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level.upper(), format=form, stream=sys.stderr, force=True)
