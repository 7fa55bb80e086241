"""
Files as sequences of values.

A transcript is JSON lines or a text of a known kind, read one line at a time, an archive, or one JSON document, which
is read whole.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from io import BufferedReader
from typing import TYPE_CHECKING, Final, TypeAlias

from otel_errcompact_lab.transcripts.json_text import ARCHIVE, decode, parse, read_archive
from otel_errcompact_lab.transcripts.records import AIDER, SPECSTORY, Place, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from otel_errcompact_lab.transcripts.records import OnProblem, Value

MAX_VALUE_BYTES: Final = 256 * 1024 * 1024
"""The longest line, or document, that is parsed; longer ones are reported and skipped."""

_HEAD_LINES: Final = 32
"""Lines that are read to tell JSON lines with a broken beginning from a document."""

_SHORT_BYTES: Final = 64 * 1024
"""Up to this length a first line is parsed to see whether it is whole."""

_ENDS: Final = frozenset({b"{}", b"[]"})
_CHUNK_BYTES: Final = 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"

_TEXT: Final = re.compile(f"^(?:\ufeff)?({re.escape(AIDER)}|{re.escape(SPECSTORY)})".encode(), re.MULTILINE)
_PEEK_BYTES: Final = 128 * 1024
"""In how much of a file such a line is looked for."""

_Line: TypeAlias = "tuple[int, bytes]"


def read_values(
    path: Path,
    *,
    on_problem: OnProblem,
    on_bytes: Callable[[int], None] | None = None,
    limit: int = MAX_VALUE_BYTES,
) -> Generator[Value]:
    """
    Read the JSON values of a file, or its text.

    Args:
        path: The file.
        on_problem: Takes each malformed line, or what is wrong with the file as a whole.
        on_bytes: Takes the number of bytes read since its last call.
        limit: The longest line or document that is parsed.

    Yields:
        Each value with its place.
    """
    file = Place(str(path), 0, on_problem)
    try:
        with BufferedReader(path.open("rb", buffering=0), _PEEK_BYTES) as stream:
            begin = stream.peek(_PEEK_BYTES)
            if begin.startswith(ARCHIVE):
                yield from read_archive(stream, file, limit)
                if on_bytes is not None:
                    on_bytes(path.stat().st_size)
            elif known := _TEXT.search(begin):
                yield Text(known[1].decode(), _Source(stream, file, on_bytes, limit).text()), file
            else:
                yield from read_stream(stream, file, on_bytes, limit)
    except OSError as error:
        file.problem(f"cannot be read ({error.strerror}); check the path and its permissions")


def read_stream(
    stream: BinaryIO, file: Place, on_bytes: Callable[[int], None] | None = None, limit: int = MAX_VALUE_BYTES
) -> Iterator[Value]:
    """Read the JSON values of an open file, as `read_values`."""
    return _Source(stream, file, on_bytes, limit).values()


@dataclass(slots=True)
class _Source:
    stream: BinaryIO
    file: Place
    on_bytes: Callable[[int], None] | None
    limit: int
    is_skipped: bool = False

    def values(self) -> Iterator[Value]:
        """
        Yield the values of the file.

        JSON lines have a whole value in the first line, or a broken one and a whole one later.
        """
        lines = self._lines()
        first = next((line for line in lines if line[1].strip()), None)
        if first is None:
            if not self.is_skipped:
                self.file.problem("is empty; nothing was recorded")
            return
        head = [first]
        are_lines = _is_whole(first[1])
        # In a document over many lines an object in one line is indented, or in a list.
        if not are_lines and not first[1].startswith(b"["):
            for line in itertools.islice(lines, _HEAD_LINES - 1):
                head.append(line)
                if are_lines := line[1].startswith(b'{"') and _is_whole(line[1]):
                    break
        yield from self._json_lines(itertools.chain(head, lines)) if are_lines else self._document(head)

    def text(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text without their ends."""
        for number, line in self._lines():
            yield number, decode(line.rstrip(b"\r\n"), Place(self.file.path, number, self.file.report))

    def _lines(self) -> Iterator[_Line]:
        for number in itertools.count(1):
            line = self._advance(self.stream.readline(self.limit + 1))
            if not line:
                return
            if len(line) <= self.limit:
                yield number, line.removeprefix(_BOM)
                continue
            while line and not line.endswith(b"\n"):
                line = self._advance(self.stream.readline(_CHUNK_BYTES))
            self._skip(Place(self.file.path, number, self.file.report))

    def _json_lines(self, lines: Iterable[_Line]) -> Iterator[Value]:
        for number, line in lines:
            if line.strip():
                yield from parse(line, Place(self.file.path, number, self.file.report))

    def _document(self, head: list[_Line]) -> Iterator[Value]:
        text = b"".join(line for _, line in head)
        if not text.lstrip().startswith((b"{", b"[")):
            self.file.problem("is no transcript: JSON in UTF-8 is expected, an object a line or one document")
            return
        text += self._advance(self.stream.read(max(self.limit + 1 - len(text), 1)))
        if len(text) > self.limit:
            self._skip(self.file)
        else:
            yield from parse(text, self.file, first_line=head[0][0])

    def _skip(self, place: Place) -> None:
        self.is_skipped = True
        place.problem(f"is longer than {self.limit:,} bytes and is skipped; split it into JSON lines")

    def _advance(self, read: bytes) -> bytes:
        if read and self.on_bytes is not None:
            self.on_bytes(len(read))
        return read


def _is_whole(line: bytes) -> bool:
    # Of a long line the ends are proof enough.
    text = line.strip()
    if text[:1] + text[-1:] not in _ENDS:
        return False
    return len(text) > _SHORT_BYTES or next(parse(text, Place("", 0, lambda _: None)), None) is not None
