"""The entry point of `errcompact`: a fault is one line, no traceback."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from typing import Final

from otel_errcompact.exceptions import ConfigurationError, ErrcompactError, MissingExtraError
from otel_errcompact.lab.cli.output import PROGRAM, OneLineHandler, say

USAGE: Final = 2
"""The exit code of an argument that is not allowed."""

FAULT: Final = 70
"""The exit code of a fault of our own, as sysexits.h has it."""

_EXTRA: Final = frozenset({"jinja2", "markupsafe", "rich", "typer"})
"""What the extra `cli` brings."""


def main() -> None:
    """
    Run the command line.

    Raises:
        SystemExit: With the exit code.
    """
    warnings.showwarning = _show_warning
    logging.getLogger().addHandler(OneLineHandler())
    try:
        _run()
    except ErrcompactError as error:
        say(str(error))
        sys.exit(USAGE if isinstance(error, ConfigurationError) else 1)
    except Exception as error:  # noqa: BLE001 - the one guard of the command line
        say(_fault(error))
        sys.exit(FAULT)


def _run() -> None:
    try:
        from otel_errcompact.lab.cli.app import app

        app(prog_name=PROGRAM)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _EXTRA:
            raise MissingExtraError("the command line", "cli") from error
        raise


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(str(message))


def _fault(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal fault, please report it: {type(error).__name__}: {error} "
        f"(in {frame.name}, {frame.filename}:{frame.lineno})"
    )


if __name__ == "__main__":
    main()
