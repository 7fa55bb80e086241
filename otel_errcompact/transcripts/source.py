"""
Files as sequences of JSON values.

A transcript is either JSON lines, read one line at a time, or one JSON document, which is read whole.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Final, TypeAlias

from otel_errcompact.transcripts.records import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from otel_errcompact.transcripts.records import OnProblem, Value

MAX_VALUE_BYTES: Final = 256 * 1024 * 1024
"""The longest line, or document, that is parsed; longer ones are reported and skipped."""

_HEAD_LINES: Final = 32
"""How many lines are looked at to tell JSON lines with a broken beginning from a document."""

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
    limit: int = MAX_VALUE_BYTES,
) -> Generator[Value]:
    """
    Read the JSON objects and lists of a file: those of its lines, or the one document it is.

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
        with path.open("rb") as stream:
            yield from _Source(stream, file, on_bytes, limit).values()
    except OSError as error:
        file.problem(f"cannot be read ({error.strerror}); check the path and its permissions")


class _Source:
    """
    An open file.
    """

    def __init__(self, stream: BinaryIO, file: Place, on_bytes: Callable[[int], None] | None, limit: int) -> None:
        self._stream = stream
        self._file = file
        self._on_bytes = on_bytes
        self._limit = limit
        self._skipped = False

    def values(self) -> Iterator[Value]:
        """
        Read as JSON lines if the first line is a whole value, or if it is broken and a later one is whole.
        """
        lines = self._lines()
        first = next((line for line in lines if line[1].strip()), None)
        if first is None:
            if not self._skipped:
                self._file.problem("is empty; nothing was recorded")
            return
        if _is_whole(first[1]):
            yield from self._json_lines(itertools.chain((first,), lines))
            return
        head = [first, *itertools.islice(lines, _HEAD_LINES - 1)]
        if _is_broken_json_lines(head):
            yield from self._json_lines(itertools.chain(head, lines))
        else:
            yield from self._document(head)

    def _lines(self) -> Iterator[_Line]:
        number = 0
        while line := self._stream.readline(self._limit + 1):
            number += 1
            self._advance(line)
            if len(line) <= self._limit:
                yield number, line.removeprefix(_BOM)
            else:
                self._skip_rest(line)
                self._too_long(self._at_line(number))

    def _json_lines(self, lines: Iterator[_Line]) -> Iterator[Value]:
        for number, line in lines:
            if line.strip():
                yield from _parse(line, self._at_line(number))

    def _document(self, head: list[_Line]) -> Iterator[Value]:
        begin = b"".join(line for _, line in head)
        if not begin.lstrip().startswith((b"{", b"[")):
            self._file.problem("is no transcript: JSON in UTF-8 is expected, an object a line or one document")
            return
        rest = self._stream.read(max(self._limit + 1 - len(begin), 1))
        self._advance(rest)
        if len(begin) + len(rest) > self._limit:
            self._too_long(self._file)
        else:
            yield from _parse(begin + rest, self._file, first_line=head[0][0])

    def _skip_rest(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(_CHUNK_BYTES)
            self._advance(line)

    def _too_long(self, place: Place) -> None:
        self._skipped = True
        place.problem(f"is longer than {self._limit:,} bytes and is skipped; split it into JSON lines")

    def _advance(self, read: bytes) -> None:
        if self._on_bytes is not None:
            self._on_bytes(len(read))

    def _at_line(self, number: int) -> Place:
        return Place(self._file.path, number, self._file.report)


def _is_whole(line: bytes) -> bool:
    """
    Tell whether a line is a JSON object or list of its own. Of a long line the ends are proof enough.
    """
    text = line.strip()
    if text[:1] + text[-1:] not in _ENDS:
        return False
    return len(text) > _SHORT_BYTES or next(_parse(text, Place("", 0, lambda _: None)), None) is not None


def _is_broken_json_lines(head: list[_Line]) -> bool:
    """
    Tell JSON lines with a broken first line from a document over many lines, where objects in one line are indented.
    """
    first, *others = (line for _, line in head)
    return not first.startswith(b"[") and any(line.startswith(b'{"') and _is_whole(line) for line in others)


def _parse(raw: bytes, place: Place, *, first_line: int = 1) -> Iterator[Value]:
    text = _decode(raw.rstrip(), place)
    try:
        value = _load(text)
    except json.JSONDecodeError as error:
        # The parser counts the lines of the document only.
        where = Place(place.path, place.line or first_line - 1 + error.lineno, place.report)
        cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
        cure = "it was cut off; record it again or remove it" if cut else "mend or remove it"
        where.problem(f"is not valid JSON ({error.msg}: column {error.colno}) and is skipped: {cure}")
    except ValueError:
        place.problem("holds a number of thousands of digits and is skipped")
    except RecursionError:
        place.problem("nests too deeply and is skipped")
    else:
        yield value, place


def _decode(raw: bytes, place: Place) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        place.problem(f"is not valid UTF-8 (byte {error.start + 1}); the invalid bytes read as U+FFFD")
        return raw.decode(errors="replace")


def _load(text: str) -> object:
    value: object = json.loads(text)
    if "\\ud" in text or "\\uD" in text:
        # Programs that cut text between two surrogates leave halves, which no exporter and no terminal can encode.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        value = json.loads(whole)
    return value
