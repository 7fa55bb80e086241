"""Hold what a command prints, in memory and then in a file."""

from __future__ import annotations

import os

from otel_errcompact_hosts.wrapping.streams import write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    from otel_errcompact_hosts.wrapping.raw_files import RawFile

MEMORY_BYTES: Final = 64 * 1024
HEAD_BYTES: Final = 16 * 1024 * 1024
"""How much of the beginning is kept; as much is held back at most."""

TAIL_BYTES: Final = 16 * 1024 * 1024
"""How much of the end is kept of a longer output."""

MAX_CHANGES: Final = 100_000
"""How often the streams may take turns in an output that is held back."""

_CHUNK_BYTES: Final = 1024 * 1024


class Output:
    """
    The output of a command, with the order of its streams.

    Of one that is longer than `HEAD_BYTES + TAIL_BYTES` the middle is left out.
    """

    __slots__ = ("_file", "_is_kept", "_make_file", "_memory", "_order", "total")

    def __init__(self, make_file: Callable[[], RawFile]) -> None:
        self.total = 0
        self._make_file = make_file
        self._memory = bytearray()
        self._order: list[tuple[int, int]] = []
        self._file: RawFile | None = None
        self._is_kept = True

    @property
    def can_hold(self) -> bool:
        """Whether more can be held back."""
        return self._is_kept and self.total < HEAD_BYTES and len(self._order) < MAX_CHANGES

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return self._is_kept and self.total <= HEAD_BYTES + TAIL_BYTES

    def add(self, stream: int, data: bytes) -> bool:
        """Add what a stream has brought; return whether it is kept."""
        if not self._is_kept or not self._store_bytes(data):
            self._is_kept = False
            return False
        self.total += len(data)
        if self.total <= HEAD_BYTES + _CHUNK_BYTES and len(self._order) <= MAX_CHANGES:
            if self._order and self._order[-1][0] == stream:
                self._order[-1] = (stream, self._order[-1][1] + len(data))
            else:
                self._order.append((stream, len(data)))
        return True

    def replay(self) -> Iterator[tuple[int, bytes]]:
        """Yield the bytes of a held output with their streams, in order."""
        position = 0
        for stream, length in self._order:
            end = position + length
            while position < end:
                data = self._read_bytes(position, min(_CHUNK_BYTES, end - position))
                if not data:
                    return
                yield stream, data
                position += len(data)

    def read_ends(self, limit: int) -> tuple[bytes, bytes, int]:
        """Return beginning and end within a limit, and how much lies between."""
        if self.total <= limit:
            return self._read_bytes(0, self.total), b"", 0
        half = limit // 2
        return self._read_bytes(0, half), self._read_bytes(self.total - half, half), self.total - 2 * half

    def keep(self, short: str = "") -> str:
        """Keep the output in a file; return its path, if any."""
        if not self._is_kept:
            return ""
        try:
            if self._file is None:
                self._file = self._make_file()
                self._write_bytes(0, bytes(self._memory))
            if not self.is_whole:
                self._straighten_ring()
            self._file.close()
            if short:
                self._file.name_class(short)
            path = self._file.path
        except OSError:
            self.drop()
            return ""
        return path

    def drop(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.remove()
            self._file = None
        self._is_kept = False

    def _store_bytes(self, data: bytes) -> bool:
        end = self.total + len(data)
        if self._file is None and end <= MEMORY_BYTES:
            self._memory += data
            return True
        try:
            if self._file is None:
                self._file = self._make_file()
                self._write_bytes(0, bytes(self._memory))
            self._write_bytes(self.total, data)
        except OSError:
            return False
        return True

    def _write_bytes(self, position: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            place, room = _find_place(position)
            written = os.pwrite(self._descriptor, rest[:room], place)
            position, rest = position + written, rest[written:]

    def _read_bytes(self, position: int, length: int) -> bytes:
        if self._file is None:
            return bytes(self._memory[position : position + length])
        parts: list[bytes] = []
        while length > 0:
            place, room = _find_place(position)
            data = os.pread(self._descriptor, min(length, room), place)
            if not data:
                break
            parts.append(data)
            position, length = position + len(data), length - len(data)
        return b"".join(parts)

    def _straighten_ring(self) -> None:
        # The end was written in a ring; from now on it stands in order.
        tail = self._read_bytes(self.total - TAIL_BYTES, TAIL_BYTES)
        note = f"\n[errcompact: {self.total - HEAD_BYTES - TAIL_BYTES:,} bytes left out]\n".encode()
        os.lseek(self._descriptor, HEAD_BYTES, os.SEEK_SET)
        if problem := write_whole(self._descriptor, note + tail):
            raise problem

    @property
    def _descriptor(self) -> int:
        return -1 if self._file is None else self._file.descriptor


def _find_place(position: int) -> tuple[int, int]:
    # Where a byte stands in the file, and how many can follow it there.
    if position < HEAD_BYTES:
        return position, HEAD_BYTES - position
    turned = (position - HEAD_BYTES) % TAIL_BYTES
    return HEAD_BYTES + turned, TAIL_BYTES - turned
