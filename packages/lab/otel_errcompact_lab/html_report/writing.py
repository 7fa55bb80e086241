"""Writing the page to its file, whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.html_report.rendering import SIGNATURE, html_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact_lab.html_report.collector import PageData
    from otel_errcompact_lab.html_report.comparison import Comparison

_PRIVATE: Final = 0o600
"""As the trajectory file: raw errors are in it."""


def check_output(path: Path) -> None:
    """
    Refuse a path that the page must not be written to.

    Raises:
        ConfigurationError: Something that is no such page is there, or the folder cannot be written to.
    """
    try:
        mode = _mode_of(path)
        if mode is not None and not stat.S_ISREG(mode):
            raise ConfigurationError(f"--output {path}: is no regular file; name another one")
        if mode is not None and not _is_page(path):
            raise ConfigurationError(f"--output {path}: exists and is no errcompact page; remove it or name another")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _refuse_output(path, error) from error


def write_page(page: PageData, path: Path, comparison: Comparison | None = None) -> int:
    """
    Write the page and return its size in bytes.

    The file is readable by its owner alone, unless an older page whose place it takes was readable by others.

    Raises:
        ConfigurationError: The disk refuses; an older page is still there.
    """
    try:
        return _write_whole(html_of(page, comparison), path)
    except OSError as error:
        raise _refuse_output(path, error) from error


def _write_whole(pieces: Iterable[str], path: Path) -> int:
    mode = _mode_of(path)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as file:
        try:
            for piece in pieces:
                file.write(piece.encode())
            size = file.tell()
            file.close()
            Path(file.name).chmod(_PRIVATE if mode is None else stat.S_IMODE(mode))
            Path(file.name).replace(path)
        except BaseException:
            file.close()
            with suppress(OSError):
                os.unlink(file.name)  # noqa: PTH108 - as tempfile names it
            raise
    return size


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE.encode()


def _refuse_output(path: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(f"--output {path}: cannot be written ({error.strerror or error}); name another file")
