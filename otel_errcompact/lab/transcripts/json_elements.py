"""The elements of a long list, parsed one by one."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Final, TypeAlias

from otel_errcompact.lab.transcripts.json_text import refuse, without_halves
from otel_errcompact.lab.transcripts.records import Place
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.lab.transcripts.records import Value

IsRun: TypeAlias = "Callable[[object, str], bool]"
"""
Tells whether an element of a document may be read as if it were alone; of one that is in the list of a field, given the
field's name.
"""

_OPENING: Final = lazy_pattern(r'\ufeff?\s*(?:\{\s*"(?P<field>\w{1,60})"\s*:\s*)?\[\s*')
_BETWEEN: Final = lazy_pattern(r"\s*(?P<mark>,\s*|\])?")
_CHUNK_BYTES: Final = 1024 * 1024
_LONGEST_TOKEN: Final = 16
"""Distance from the end of the read text up to which an error only means that more has to be read."""

_decode_at = json.JSONDecoder().raw_decode


class Elements:
    """A document whose beginning was read."""

    def __init__(
        self, begin: bytes, read: Callable[[int], bytes], file: Place, is_run: IsRun, limit: int, first_line: int
    ) -> None:
        self._read = read
        self._file = file
        self._is_run = is_run
        self._limit = limit
        self._line = first_line
        self._column = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._position = self._counted = 0
        self._ended = self._closed = self._is_invalid = False
        self._raw: list[bytes] | None = []
        self._field = ""
        self._take(begin)
        self.are_runs = self._open()
        """Whether the document is a list of runs, by its first element."""

    def raw(self) -> bytes:
        """Return all bytes read so far, for a document of another kind."""
        return b"".join(self._raw or ())

    def values(self) -> Iterator[Value]:
        """
        Yield the elements.

        The first malformed one ends the list, since its end is unknown.
        """
        self._raw = None
        if self._is_invalid:
            self._report_invalid()
        index = 0
        while (found := self._next()) is not None:
            place = Place(self._file.path, self._line_number(), self._file.report)
            if self._field:
                yield {self._field: [found[0]]}, place
            else:
                yield found[0], place.inner(index)
            index += 1
            self._position = found[1]
            if not self._go_on():
                break
        self._drain()

    def _drain(self) -> None:
        # All bytes are counted; after a list nothing should follow.
        more = bool(self._text[self._position :].strip()) and self._closed
        self._text = ""
        while chunk := self._read(_CHUNK_BYTES):
            more = more or (self._closed and bool(chunk.strip()))
        if more and not self._field:
            self._file.problem("holds more after the end of its list, which is ignored; split it into files")

    def _open(self) -> bool:
        opening = _OPENING.match(self._text)
        if opening is None:
            return False
        self._field = opening["field"] or ""
        self._position = opening.end()
        first = self._next(quietly=True)
        return first is not None and self._is_run(first[0], self._field)

    def _next(self, *, quietly: bool = False) -> tuple[object, int] | None:
        while True:
            try:
                parsed: tuple[object, int] = _decode_at(self._text, self._position)
            except (ValueError, RecursionError) as error:
                if self._needs_more(error):
                    self._read_on()
                    continue
                if not quietly:
                    self._refuse(error)
                return None
            value, end = parsed
            return without_halves(value, self._text[self._position : end]), end

    def _needs_more(self, error: ValueError | RecursionError) -> bool:
        if self._ended or not isinstance(error, json.JSONDecodeError):
            return False
        return error.pos >= len(self._text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated")

    def _read_on(self) -> None:
        # Doubling what is read keeps the time linear: nothing is parsed more than twice.
        self._line_number()
        begin = self._text.rfind("\n", 0, self._position)
        self._column = self._position - begin - 1 if begin >= 0 else self._column + self._position
        self._text = self._text[self._position :]
        self._position = self._counted = 0
        if len(self._text) > self._limit:
            self._ended = True
        else:
            self._take(self._read(max(len(self._text), _CHUNK_BYTES)))

    def _take(self, raw: bytes) -> None:
        self._ended = not raw
        if self._raw is not None:
            self._raw.append(raw)
        pending = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError:
            self._is_invalid = True
            if self._raw is None:
                self._report_invalid()
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            text = self._decoder.decode(pending + raw, final=not raw)
        self._text += text

    def _report_invalid(self) -> None:
        place = Place(self._file.path, self._line_number(), self._file.report)
        place.problem("is not valid UTF-8 from here on; the invalid bytes read as U+FFFD")

    def _go_on(self) -> bool:
        while True:
            between = _BETWEEN.match(self._text, self._position)
            end = between.end() if between else self._position
            if end < len(self._text) or self._ended:
                break
            if between and between["mark"] == "]":
                break
            self._read_on()
        mark = between["mark"] if between else None
        if mark is None:
            message = "Expecting ',' delimiter"
            self._refuse(json.JSONDecodeError(message, self._text, end))
        self._position = end
        self._closed = mark == "]"
        return mark is not None and not self._closed

    def _refuse(self, error: ValueError | RecursionError) -> None:
        if isinstance(error, json.JSONDecodeError):
            line = self._line_number() + self._text.count("\n", self._position, error.pos)
            error.colno += self._column if error.lineno == 1 else 0
        else:
            line = self._line_number()
        if len(self._text) > self._limit:
            Place(self._file.path, line, self._file.report).problem(
                f"is longer than {self._limit:,} bytes and is skipped, with what follows; split it into JSON lines"
            )
            return
        refuse(error, Place(self._file.path, line, self._file.report), self._text)

    def _line_number(self) -> int:
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._line
