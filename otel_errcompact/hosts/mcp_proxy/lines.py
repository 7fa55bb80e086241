"""Lines out of chunks of bytes, however long they are."""

from __future__ import annotations


class LineBuffer:
    """Puts chunks together to lines, each with its line end."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, chunk: bytes) -> list[bytes]:
        """
        Return the lines that a chunk completes.

        Args:
            chunk: What was read; empty at the end, which completes what is left.
        """
        if not chunk:
            rest, self._parts = b"".join(self._parts), []
            return [rest + b"\n"] if rest.strip() else []
        if b"\n" not in chunk:
            self._parts.append(chunk)
            return []
        *lines, rest = b"".join((*self._parts, chunk)).split(b"\n")
        self._parts = [rest] if rest else []
        return [line + b"\n" for line in lines]
