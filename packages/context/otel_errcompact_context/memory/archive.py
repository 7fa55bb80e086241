"""Where the whole of what is cut is kept, before it is cut."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from otel_errcompact.digest import encodable
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact_context.memory.sweeping import NAME, SPARED, Sweeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_logger: Final = logging.getLogger("otel_errcompact")

DEFAULT_MAX_CHARACTERS: Final = 100_000_000
"""What a `MemoryArchive` holds unless told otherwise."""

_State: TypeAlias = tuple[int, int, int, int]
"""A file as it was found: its size, its number, when it was written to, and when anything of it changed."""

_READ_ONLY: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Archive(Protocol):
    """Keeps texts, and gives them back."""

    def keep(self, text: str) -> str:
        """
        Keep a text and return its place: what stands in the context's marker, and what `read` takes; one line.

        Raises:
            OSError: The text could not be kept, so that it must not be cut.
        """
        ...

    def read(self, place: str) -> str:
        """
        Return what was kept there.

        Raises:
            OSError: Nothing is kept there, or it cannot be read.
        """
        ...


def find_text(archive: Archive, place: str) -> str | None:
    """Return what is kept at a place, if it can be read."""
    try:
        return archive.read(place)
    except OSError:
        return None


class FolderArchive:
    """
    Keeps each text as a file, named by its content.

    The place of a text is the file's absolute path: a model that can open files looks up there what was cut. Any
    number of threads and processes can share a folder. Only the user can read what is kept. The log names the folder
    once, when the first text is kept: as a warning if the folder is new.

    Args:
        path: The folder; it is made when the first text comes.
        max_bytes: How much it may hold: beyond, texts are removed that were not used for a day, the oldest first. 0
            for any amount.
        max_days: How long a text stays after it was kept or read last; 0 for ever.
        redacts: Whether secrets are taken out of a text before it is kept.
        clock: Seconds since the epoch.

    Raises:
        ValueError: The folder's name cannot stand in a line of a prompt.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_bytes: int = 0,
        max_days: float = 0,
        redacts: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path: Final[Path] = Path(path).absolute()
        """Where the folder is, whatever the working directory becomes."""
        name = str(self.path)
        if name.splitlines() != [name] or encodable(name) != name:
            raise ValueError(f"{name!r} cannot be named in a prompt; choose a folder whose path is one line of UTF-8")
        self._redacts = redacts
        self._prefix = os.path.join(name, "")  # noqa: PTH118 - the text before a file's name
        self._whole: BoundedTable[str, _State] = BoundedTable(SPARED)
        """The files that were found whole, as they were then."""
        reset_in_child(self._whole.clear)
        self._sweeper = Sweeper(self.path, max_bytes, max_days, clock)
        self._is_told = False
        self._level = logging.INFO

    def keep(self, text: str) -> str:
        """
        Keep a text and return the path of its file.

        Raises:
            OSError: The text could not be kept: the disk is full, or the folder must not be written to.
        """
        content = (redact(text) if self._redacts else text).encode("utf-8", "surrogatepass")
        place = f"{self._prefix}{_hash_content(content)}.txt"
        self._sweeper.mark_used(place)
        try:
            is_new = not self._has_whole(place, content)
            if is_new:
                self._write_file(Path(place), content)
                self._sweeper.touch(place)
        except OSError as error:
            raise _explain_error(error, f"cannot keep {len(content):,} bytes in {self.path}") from error
        self._log_folder()
        self._sweeper.sweep_if_due(len(content) if is_new else 0)
        return place

    def still_keeps(self, places: Iterable[str]) -> bool:
        """
        Return whether texts are known to be whole, and marked as used.

        Then none of them needs to be kept again.
        """
        known, is_marked = self._whole.entries, self._sweeper.is_marked
        for place in places:
            state = known.get(place)
            if state is None or state != _state_of(place) or not is_marked(place):
                return False
        return True

    def read(self, place: str) -> str:
        """
        Return the text that is kept there.

        Raises:
            OSError: Nothing is kept there, it lies outside the folder, or it is not what was kept.
        """
        folder, name = os.path.split(place)
        if folder != str(self.path) or not NAME.fullmatch(name):
            raise PermissionError(errno.EACCES, f"{place!r} is no place in {self.path}")
        try:
            content = _read_content(place)
        except FileNotFoundError as error:
            raise OSError(error.errno, self._explain_missing(place)) from error
        except OSError as error:
            raise _explain_error(error, f"cannot read {place}") from error
        if f"{_hash_content(content)}.txt" != name:
            raise OSError(errno.EIO, f"{place} was changed after it was kept")
        self._sweeper.mark_used(place)
        return content.decode("utf-8", "surrogatepass")

    def _has_whole(self, place: str, content: bytes) -> bool:
        # The model can open and change a kept file: one whose state has changed is read again.
        state = _state_of(place)
        if state is None or state[0] != len(content):
            return False
        if self._whole.get(place) == state:
            return True
        try:
            is_whole = _read_content(place) == content
        except OSError:
            return False
        if is_whole:
            self._whole.put(place, state)
        return is_whole

    def _log_folder(self) -> None:
        if not self._is_told:
            self._is_told = True
            bounds = f"; {self._sweeper.bounds} is removed" if self._sweeper.bounds else ""
            _logger.log(self._level, "what is cut from message lists is kept in %s%s", self.path, bounds)

    def _explain_missing(self, place: str) -> str:
        if not self._sweeper.bounds:
            return f"nothing is kept at {place}"
        return f"nothing is kept at {place}: it never was, or it was removed, as {self._sweeper.bounds} is"

    def _write_file(self, file: Path, content: bytes) -> None:
        # The file appears under its name when all of it is on the disk, and not before.
        if not self.path.is_dir():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A folder that was not there before is something that the user should hear of.
            self._level = logging.WARNING
        descriptor, unfinished = tempfile.mkstemp(prefix=".", suffix=".part", dir=self.path)
        try:
            with open(descriptor, "wb", buffering=0) as stream:  # noqa: PTH123 - a descriptor has no path
                rest = memoryview(content)
                while rest:
                    rest = rest[stream.write(rest) :]
            Path(unfinished).replace(file)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(unfinished).unlink()
            raise


class MemoryArchive:
    """
    Keeps texts in memory, for tests and short programs.

    Args:
        max_characters: How much it holds together.
    """

    def __init__(self, max_characters: int = DEFAULT_MAX_CHARACTERS) -> None:
        self._free = max_characters
        self._places: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._lock = ReentrantLock()
        reset_in_child(self._renew_lock)

    def keep(self, text: str) -> str:
        """
        Keep a text and return its place.

        Raises:
            OSError: The archive is full.
        """
        with self._lock:
            place = self._places.get(text)
            if place is None:
                if len(text) > self._free:
                    message = f"cannot keep {len(text):,} characters in memory: {self._free:,} are free"
                    raise OSError(errno.ENOSPC, message)
                self._free -= len(text)
                place = self._places[text] = f"memory:{len(self._places) + 1:08}"
                self._texts[place] = text
            return place

    def read(self, place: str) -> str:
        """
        Return the text that is kept there.

        Raises:
            OSError: Nothing is kept there.
        """
        try:
            return self._texts[place]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, f"nothing is kept at {place!r}") from None

    def _renew_lock(self) -> None:
        self._lock = ReentrantLock()


def _state_of(place: str) -> _State | None:
    try:
        found = os.lstat(place)
    except OSError:
        return None
    return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _hash_content(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _read_content(file: str | Path) -> bytes:
    with open(os.open(file, _READ_ONLY), "rb") as stream:  # noqa: PTH123 - a link must not lead out of the folder
        return stream.read()


def _explain_error(error: OSError, what: str) -> OSError:
    return OSError(error.errno, f"{what}: {error.strerror or error}")
