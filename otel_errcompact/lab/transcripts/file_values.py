"""
Files as sequences of JSON values.

A transcript is JSON lines or a text of a known kind, read one line at a time, an archive, or one JSON
document. A document is read whole, unless it is a long list of runs: then it is read element by element.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from otel_errcompact.lab.transcripts.json_elements import Elements
from otel_errcompact.lab.transcripts.json_text import ARCHIVE, decode, parse, read_archive
from otel_errcompact.lab.transcripts.records import Place, TextLine, is_list

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from otel_errcompact.lab.transcripts.json_elements import IsRun
    from otel_errcompact.lab.transcripts.records import OnProblem, Value

MAX_VALUE_BYTES: Final = 256 * 1024 * 1024
"""The longest line, or document, that is parsed; longer ones are reported and skipped."""

LONG_BYTES: Final = 16 * 1024 * 1024
"""From this length on a document of many runs is read one by one."""

_HEAD_LINES: Final = 32
"""Lines that are read to tell JSON lines with a broken beginning from a document."""

_TEXT_LINES: Final = 4_096
"""Further lines among which a known text may begin."""

_SHORT_BYTES: Final = 64 * 1024
"""Up to this length a first line is parsed to see whether it is whole."""

_ENDS: Final = frozenset({b"{}", b"[]"})
_CHUNK_BYTES: Final = 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"

_Line: TypeAlias = "tuple[int, bytes]"


def read_values(
    path: Path,
    *,
    on_problem: OnProblem,
    on_bytes: Callable[[int], None] | None = None,
    texts: tuple[str, ...] = (),
    is_run: IsRun | None = None,
    limit: int = MAX_VALUE_BYTES,
    long: int = LONG_BYTES,
) -> Generator[Value]:
    """
    Read the JSON values or the lines of a file.

    Args:
        path: The file.
        on_problem: Takes each malformed line, or what is wrong with the file as a whole.
        on_bytes: Takes the number of bytes read since its last call.
        texts: How texts begin that are known.
        is_run: Tells of an element of a document, and the name of the field whose list it is in, whether it may be read
            as if it were alone; no element may without it.
        limit: The longest line, document or element that is parsed.
        long: From which length on the elements of a document are read one by one.

    Yields:
        Each value with its place.
    """
    file = Place(str(path), 0, on_problem)
    try:
        with path.open("rb") as stream:
            if stream.peek(len(ARCHIVE)).startswith(ARCHIVE):
                yield from read_archive(stream, file, limit)
                if on_bytes is not None:
                    on_bytes(path.stat().st_size)
            else:
                yield from _Source(stream, file, on_bytes, texts, is_run, limit, min(long, limit)).values()
    except OSError as error:
        file.problem(f"cannot be read ({error.strerror}); check the path and its permissions")


@dataclass(slots=True)
class _Source:
    """An open file."""

    stream: BinaryIO
    file: Place
    on_bytes: Callable[[int], None] | None
    texts: tuple[str, ...]
    is_run: IsRun | None
    limit: int
    long: int
    is_skipped: bool = False

    def values(self) -> Iterator[Value]:
        """
        Yield the values of the file.

        JSON lines have a whole value in the first line, or a broken one and a whole one later.
        """
        number, begin = self._begin()
        if len(begin) > self.long:
            begin, elements = self._elements(begin, number)
            if elements is not None:
                yield from elements.values()
                return
        lines = self._lines(number, begin)
        first = next((line for line in lines if line[1].strip()), None)
        if first is None:
            if not self.is_skipped:
                self.file.problem("is empty; nothing was recorded")
        elif begins := self._beginning_in((first,)):
            yield from self._text(itertools.chain((first,), lines), begins)
        elif _is_whole(first[1]):
            yield from self._json_lines(itertools.chain((first,), lines))
        else:
            yield from self._lines_or_document(first, lines)

    def _lines_or_document(self, first: _Line, lines: Iterator[_Line]) -> Iterator[Value]:
        head = [first, *self._head(lines, _HEAD_LINES)]
        if self.texts and not first[1].lstrip().startswith((b"{", b"[")):
            head += self._head(lines, _TEXT_LINES)
            if begins := self._beginning_in(head):
                yield from self._text(itertools.chain(head, lines), begins)
                return
        if _is_broken_json_lines(head):
            yield from self._json_lines(itertools.chain(head, lines))
        else:
            yield from self._document(head)

    def _begin(self) -> _Line:
        # Of a long first line only the beginning.
        number, line = 1, self._readline(self.long)
        while line and not line.strip():
            number, line = number + 1, self._readline(self.long)
        return number, line

    def _readline(self, limit: int) -> bytes:
        line = self.stream.readline(limit + 1)
        self._advance(line)
        return line

    def _lines(self, number: int, line: bytes) -> Iterator[_Line]:
        while line:
            if not line.endswith(b"\n"):
                line += self._readline(self.limit - len(line))
            if len(line) <= self.limit:
                yield number, line.removeprefix(_BOM)
            else:
                self._skip_rest(line)
                self._too_long(self._at_line(number))
            number, line = number + 1, self._readline(self.limit)

    def _head(self, lines: Iterator[_Line], number: int) -> Iterator[_Line]:
        length = 0
        for line in itertools.islice(lines, number - 1):
            yield line
            length += len(line[1])
            if length > self.long:
                return

    def _beginning_in(self, lines: Iterable[_Line]) -> str:
        return next((text for _, line in lines for text in self.texts if line.startswith(text.encode())), "")

    def _text(self, lines: Iterator[_Line], begins: str) -> Iterator[Value]:
        for number, line in lines:
            place = self._at_line(number)
            value = TextLine(decode(line.rstrip(b"\r\n"), place))
            value.begins = begins
            yield value, place

    def _json_lines(self, lines: Iterator[_Line]) -> Iterator[Value]:
        for number, line in lines:
            if line.strip():
                yield from self._runs(parse(line, self._at_line(number)))

    def _document(self, head: list[_Line]) -> Iterator[Value]:
        begin = b"".join(line for _, line in head)
        if not begin.lstrip().startswith((b"{", b"[")):
            self.file.problem("is no transcript: JSON in UTF-8 is expected, an object a line or one document")
            return
        begin += self._read(self.long + 1 - len(begin))
        if len(begin) > self.long:
            begin, elements = self._elements(begin, head[0][0])
            if elements is not None:
                yield from elements.values()
                return
        rest = self._read(self.limit + 1 - len(begin))
        if len(begin) + len(rest) > self.limit:
            self._too_long(self.file)
        else:
            yield from self._runs(parse(begin + rest, self.file, first_line=head[0][0]))

    def _elements(self, begin: bytes, number: int) -> tuple[bytes, Elements | None]:
        # Where the document is no list of runs, everything read of it is returned.
        if self.is_run is None:
            return begin, None
        elements = Elements(begin, self._read, self.file, self.is_run, self.limit, number)
        return (b"", elements) if elements.are_runs else (elements.raw(), None)

    def _runs(self, values: Iterator[Value]) -> Iterator[Value]:
        for value, place in values:
            if is_list(value) and value and self.is_run is not None and self.is_run(value[0], ""):
                yield from ((element, place.inner(index)) for index, element in enumerate(value))
            else:
                yield value, place

    def _read(self, length: int) -> bytes:
        read = self.stream.read(max(length, 1))
        self._advance(read)
        return read

    def _skip_rest(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self.stream.readline(_CHUNK_BYTES)
            self._advance(line)

    def _too_long(self, place: Place) -> None:
        self.is_skipped = True
        place.problem(f"is longer than {self.limit:,} bytes and is skipped; split it into JSON lines")

    def _advance(self, read: bytes) -> None:
        if read and self.on_bytes is not None:
            self.on_bytes(len(read))

    def _at_line(self, number: int) -> Place:
        return Place(self.file.path, number, self.file.report)


def _is_whole(line: bytes) -> bool:
    # Of a long line the ends are proof enough.
    text = line.strip()
    if text[:1] + text[-1:] not in _ENDS:
        return False
    return len(text) > _SHORT_BYTES or next(parse(text, Place("", 0, lambda _: None)), None) is not None


def _is_broken_json_lines(head: list[_Line]) -> bool:
    # In a document over many lines an object in one line is indented.
    first, *others = (line for _, line in head)
    return not first.startswith(b"[") and any(line.startswith(b'{"') and _is_whole(line) for line in others)
