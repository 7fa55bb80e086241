"""Read and write settings files in one step, through links."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_BYTES: Final = 16_000_000


def read_file(path: Path) -> bytes | None:
    """Return the content of a settings file; None if there is none."""
    try:
        if not path.exists():
            return None
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise ConfigurationError(f"{path} is no settings file; nothing was changed")
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}; nothing was changed") from error


def write_file(path: Path, content: bytes, *, expected: bytes | None, mode: int = 0o666) -> tuple[Path, ...]:
    """
    Write a settings file in one step, with mode and owner.

    Args:
        path: The file; where it is a link, what it leads to is written.
        content: The new content.
        expected: What the file was when the change was made; None if it was not there.
        mode: That of a new file, as far as the umask lets it.

    Returns:
        The folders that were made, outermost first.

    Raises:
        ConfigurationError: It cannot be written, or another program has changed it in the meantime.
    """
    real = path.resolve()
    made = tuple(reversed([folder for folder in real.parents if not folder.exists()]))
    fresh = real.with_name(f".{real.name}.errcompact-{os.getpid()}")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if read_file(real) != expected:
            raise ConfigurationError(f"{path} was changed by another program in the meantime; run the command again")
        _write_fresh(fresh, content, real.stat() if expected is not None else None, mode)
        fresh.replace(real)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}; nothing was changed") from error
    finally:
        with suppress(OSError):
            fresh.unlink()
    return made


def _write_fresh(path: Path, content: bytes, like: os.stat_result | None, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        if like is not None and hasattr(os, "fchown"):
            with suppress(PermissionError):  # another owner's file in a group that may write
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def delete_file(path: Path, *, expected: bytes) -> None:
    """Delete a settings file that an installation has made."""
    if read_file(path) != expected:
        raise ConfigurationError(f"{path} was changed by another program in the meantime; run the command again")
    try:
        path.resolve().unlink()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be deleted: {error.strerror}; nothing was changed") from error


def remove_folders(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Remove folders that are empty, and return those that are not."""
    left: list[Path] = []
    for folder in sorted(set(folders), key=lambda each: len(each.parts), reverse=True):
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            left.append(folder)
    return tuple(left)
