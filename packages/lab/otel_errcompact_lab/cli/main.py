"""The entry point of `errcompact`: a fault is one line, no traceback."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Final

from otel_errcompact.exceptions import ConfigurationError, ErrcompactError, MissingExtraError
from otel_errcompact_lab.cli.direct import run_directly
from otel_errcompact_lab.cli.output import (
    FAULT,
    FINE,
    INCOMPLETE,
    INTERRUPTED,
    PROGRAM,
    READER_GONE,
    UNWRITABLE,
    USAGE,
    OneLineHandler,
    say,
)
from otel_errcompact_lab.cli.streams import OutputError, ReaderGoneError, drop_output, guard_streams

_EXTRA: Final = frozenset({"jinja2", "markupsafe", "rich", "typer"})
"""What the extra `cli` brings."""


def main() -> None:
    """
    Run the command line.

    Raises:
        SystemExit: With the exit status.
    """
    guard_streams()
    warnings.showwarning = _show_warning
    logging.getLogger().addHandler(OneLineHandler())
    sys.exit(_run_guarded())


def _run_guarded() -> int:
    try:
        status = _run_command()
        sys.stdout.flush()
    except OutputError as error:
        drop_output()
        if isinstance(error, ReaderGoneError):
            return READER_GONE
        say(str(error))
        return UNWRITABLE
    except ErrcompactError as error:
        say(str(error))
        return USAGE if isinstance(error, ConfigurationError) else INCOMPLETE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one guard of the command line
        return _explain_error(error)
    return status


def _run_command() -> int:
    status = run_directly(sys.argv[1:])
    if status is not None:
        return status
    try:
        from otel_errcompact_lab.cli.app import app

        status = app(prog_name=PROGRAM, standalone_mode=False)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _EXTRA:
            raise MissingExtraError("the command line", "cli") from error
        raise
    return status if isinstance(status, int) else FINE


def _explain_error(error: Exception) -> int:
    # Typer's own exceptions come from click in some releases, and from a copy of it in others.
    name = type(error).__name__
    if name == "Abort":
        return INTERRUPTED
    if name == "NoArgsIsHelpError":
        sys.stderr.write(f"{error}\n")
        return USAGE
    usage = _describe_usage(error)
    say(usage or _describe_fault(error))
    return USAGE if usage else FAULT


def _describe_usage(error: Exception) -> str:
    describe = getattr(error, "format_message", None)
    if describe is None:
        return ""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else PROGRAM
    place = command.removeprefix(PROGRAM).strip()
    message = " ".join(describe().split()).rstrip(".")
    return f"{place}: {message}; see '{command} --help'" if place else f"{message}; see '{command} --help'"


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(str(message))


def _describe_fault(error: Exception) -> str:
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal fault, please report it: {type(error).__name__}: {error} "
        f"(in {frame.name}, {frame.filename}:{frame.lineno})"
    )


if __name__ == "__main__":
    main()
