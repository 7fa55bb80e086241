"""Files of the command line, refused where reading could not end."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from otel_errcompact_lab.cli.output import Problems

STANDARD_INPUT: Final = "-"

_NAME: Final = "standard input"
DEVICE: Final = Path("/dev/stdin")


def list_readable(paths: Iterable[Path], problems: Problems) -> Iterator[Path]:
    """Yield files and folders that can be read, standard input included."""
    for path in paths:
        if str(path) == STANDARD_INPUT:
            if _keep_standard_input(problems):
                yield DEVICE
        elif problem := describe_unreadable(path):
            problems.report(str(path), 0, problem)
        else:
            yield path


def describe_unreadable(path: Path) -> str:
    """Return why reading a path could not end; empty if it can."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            return f"is a link to a missing file ({path.readlink()}); name another file"
        return ""
    except OSError:
        return ""
    # A shell's <(...) has a writer; its name leads to no file.
    if stat.S_ISFIFO(mode) and os.path.lexists(os.path.realpath(path)):
        return f"is a named pipe, which may have no writer; read it as standard input: - < {path}"
    return ""


def check_appendable(path: Path, option: str) -> None:
    """
    Refuse a file that no line can be appended to.

    Raises:
        ConfigurationError: It is no regular file, or cannot be written.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ConfigurationError(f"{option} {path}: is no regular file; name another file")
        # Raw errors may hold secrets: a new file is for the user alone.
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    except OSError as error:
        raise ConfigurationError(f"{option} {path}: {error.strerror}; name another file") from error


def is_standard_input_open(problems: Problems) -> bool:
    """Return whether standard input can be read; prompt at a terminal."""
    if sys.stdin is None:
        problems.report(_NAME, 0, "is closed; name a file, or pipe text into this command")
        return False
    if sys.stdin.isatty():
        say("reading from the terminal; end with Ctrl-D")
    return True


def _keep_standard_input(problems: Problems) -> bool:
    # Readers of transcripts open a file by its name, at its beginning.
    if not is_standard_input_open(problems):
        return False
    if not DEVICE.exists():
        problems.report(_NAME, 0, "holds no transcript on this system; name a file")
        return False
    is_file = stat.S_ISREG(os.fstat(0).st_mode)
    if not is_file or os.lseek(0, 0, os.SEEK_CUR):
        try:
            with tempfile.TemporaryFile() as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
                copy.seek(0)
                os.dup2(copy.fileno(), 0)
        except OSError as error:
            problems.report(_NAME, 0, f"cannot be copied ({error.strerror}); let TMPDIR name a folder with room")
            return False
    return True
