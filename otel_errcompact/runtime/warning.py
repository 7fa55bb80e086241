"""Warn at the application's own line."""

from __future__ import annotations

import warnings

_OWN = __name__.partition(".")[0]


def warn(message: str) -> None:
    """Warn at the line of the application that led here."""
    # `skip_file_prefixes` does this from Python 3.12 on. Imported here, since most programs are never warned.
    from inspect import currentframe

    level, frame = 0, currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _OWN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level + 1)
