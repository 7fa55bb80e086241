"""Keep whole outputs in a private folder, the oldest removed."""

from __future__ import annotations

import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Final

FOLDER_VARIABLE: Final = "OTEL_ERRCOMPACT_EXEC_FOLDER"
MAX_FILES: Final = 200
MAX_BYTES: Final = 256 * 1024 * 1024
SUFFIX: Final = ".log"
"""What a file's name ends with; before it may stand the name of a failure's class, behind a full stop."""

_PREFIX: Final = "output-"
_TRIES: Final = 8
_OTHERS: Final = 0o077


class RawFile:
    """An open file for an output, which only its user can read."""

    __slots__ = ("descriptor", "path")

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path

    def close(self) -> None:
        """Close and keep it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def name_class(self, short: str) -> None:
        """Name it by its failure's class, of which it is the newest."""
        named = f"{self.path.removesuffix(SUFFIX)}.{short}{SUFFIX}"
        os.rename(self.path, named)  # noqa: PTH104 - pathlib costs more
        self.path = named
        os.utime(named)

    def remove(self) -> None:
        """Close it, and remove it from the folder."""
        self.close()
        _unlink(self.path)


def make_raw_file(environ: Mapping[str, str], directory: str = "") -> RawFile:
    """Make a file in the first folder outside of the working directory."""
    problem: OSError | None = None
    for folder in list_folders(environ):
        if _lies_in(folder, directory):
            continue
        try:
            _make_private(folder)
            return _make_file(folder)
        except OSError as error:
            problem = error
    raise problem or FileNotFoundError("no folder outside of the working directory")


def remove_oldest(newest: str, *, max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES) -> None:
    """Remove the oldest outputs beside a file, down to the bounds."""
    folder, _, own = newest.rpartition("/")
    found: list[tuple[float, int, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(_PREFIX) and entry.name.endswith(SUFFIX) and entry.name != own:
                    known = entry.stat(follow_symlinks=False)
                    found.append((known.st_mtime, known.st_size, entry.path))
        count, size = 1, os.stat(newest).st_size  # noqa: PTH116 - as above
        for _, its_size, path in sorted(found, reverse=True):
            count, size = count + 1, size + its_size
            if count > max_files or size > max_bytes:
                _unlink(path)
    except OSError:
        return


def _unlink(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108 - as above
    except OSError:
        return


def list_folders(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the folders that outputs may be in, the first choice first."""
    if named := environ.get(FOLDER_VARIABLE, ""):
        yield os.path.abspath(named)  # noqa: PTH100 - as above
    if state := find_state_home(environ):
        yield f"{state}/otel-errcompact/exec"
    yield f"{environ.get('TMPDIR', '').rstrip('/') or '/tmp'}/otel-errcompact-{os.getuid()}"  # noqa: S108 - made private


def find_state_home(environ: Mapping[str, str]) -> str:
    """Return where programs keep what outlives a restart; empty without a home."""
    home = os.path.expanduser("~")  # noqa: PTH111 - as above
    if sys.platform == "darwin":
        return f"{home}/Library/Application Support" if home.startswith("/") else ""
    named = environ.get("XDG_STATE_HOME", "")
    if named.startswith("/"):
        return named.rstrip("/")
    return f"{home.rstrip('/')}/.local/state" if home.startswith("/") else ""


def _lies_in(folder: str, directory: str) -> bool:
    if not directory:
        return False
    real, around = os.path.realpath(folder), os.path.realpath(directory)
    return real == around or real.startswith(around.rstrip("/") + "/")


def _make_private(folder: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is not a folder of this user")
    if found.st_mode & _OTHERS:
        os.chmod(folder, 0o700)  # noqa: PTH101 - as above


def _make_file(folder: str) -> RawFile:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    when = time.strftime("%Y%m%d-%H%M%S")
    for number in range(_TRIES):
        path = f"{folder}/{_PREFIX}{when}-{os.getpid()}{f'-{number}' if number else ''}{SUFFIX}"
        try:
            return RawFile(os.open(path, flags, 0o600), path)
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder} has files of all names that were tried")
