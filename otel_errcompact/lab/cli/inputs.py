"""Raw errors from files and standard input, one at a time."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from otel_errcompact.errors import RawError
from otel_errcompact.lab.cli.sources import STANDARD_INPUT, describe_unreadable, is_standard_input_open

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.lab.cli.output import Problems

MAX_BYTES: Final = 64 * 1024 * 1024
"""The longest raw error, or line, that is read; longer ones are reported and skipped."""

_NAME: Final = "standard input"
_CHUNK_BYTES: Final = 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_SHOWN: Final = 40
_LOOKED_AT: Final = 8000
"""The bytes in which a zero byte shows that a file is no text, as git does it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """The source of raw errors, and their common properties."""

    files: Sequence[Path]
    """The files; `-` is standard input, and so is no file at all."""

    field: str = ""
    """The field that holds the raw error, if every line is a JSON object; empty if every file is one raw error."""

    tool: str = ""
    exit_code: int | None = None
    max_bytes: int = MAX_BYTES

    def raw_errors(self, problems: Problems) -> Iterator[RawError]:
        """Yield the raw errors in order; report and skip what is malformed."""
        for file in self.files or (Path(STANDARD_INPUT),):
            yield from self._read(file, problems)

    def _read(self, file: Path, problems: Problems) -> Iterator[RawError]:
        if str(file) == STANDARD_INPUT:
            if is_standard_input_open(problems):
                yield from self._parse(sys.stdin.buffer, _NAME, problems)
            return
        if problem := describe_unreadable(file):
            problems.report(str(file), 0, problem)
            return
        try:
            with file.open("rb") as stream:
                yield from self._parse(stream, str(file), problems)
        except OSError as error:
            problems.report(str(file), 0, f"cannot be read ({error.strerror}); check the path and its permissions")

    def _parse(self, stream: BinaryIO, name: str, problems: Problems) -> Iterator[RawError]:
        texts = self._fields(stream, name, problems) if self.field else self._whole(stream, name, problems)
        for text in texts:
            yield RawError(text=text, tool=self.tool, exit_code=self.exit_code)

    def _whole(self, stream: BinaryIO, name: str, problems: Problems) -> Iterator[str]:
        raw = stream.read(self.max_bytes + 1)
        if len(raw) > self.max_bytes:
            problems.report(name, 0, f"is longer than {self.max_bytes:,} bytes and is skipped; cut it with tail -c")
        elif not raw.strip() and self.exit_code is None:
            problems.report(name, 0, "is empty; a raw error is expected, or an exit code with --exit-code")
        elif b"\0" in raw[:_LOOKED_AT]:
            problems.report(name, 0, "is binary or UTF-16, and is skipped; a raw error is expected as UTF-8 text")
        else:
            yield raw.removeprefix(_BOM).decode(errors="replace")

    def _fields(self, stream: BinaryIO, name: str, problems: Problems) -> Iterator[str]:
        for number, line in enumerate(_lines(stream, self.max_bytes), start=1):
            if len(line) > self.max_bytes:
                problems.report(name, number, f"is longer than {self.max_bytes:,} bytes and is skipped")
            elif line.strip():
                try:
                    yield _field_of(line.removeprefix(_BOM).rstrip(), self.field)
                except _MalformedError as malformed:
                    problems.report(name, number, str(malformed))


class _MalformedError(ValueError):
    """A line lacks the expected value."""


def _field_of(line: bytes, field: str) -> str:
    value = _load(line)
    if not isinstance(value, dict):
        raise _MalformedError(f"must be a JSON object, not {_show(value)}; it is skipped")
    found = cast("dict[str, object]", value).get(field)
    if not isinstance(found, str):
        wrong = f"must be a text, not {_show(found)}" if field in value else "is missing"
        raise _MalformedError(f"field {field!r} {wrong}; the line is skipped")
    return found


def _load(line: bytes) -> object:
    try:
        return cast("object", json.loads(line.decode()))
    except json.JSONDecodeError as error:
        raise _MalformedError(f"is not valid JSON ({error.msg} at column {error.colno}); it is skipped") from None
    except UnicodeDecodeError as error:
        raise _MalformedError(f"is not valid UTF-8 (byte {error.start + 1}); it is skipped") from None
    except (ValueError, RecursionError):
        raise _MalformedError("holds a number that is too long, or nests too deeply; it is skipped") from None


def _lines(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    # Of a line beyond `limit` only the beginning, which is longer than `limit` too.
    while line := stream.readline(limit + 1):
        yield line
        while len(line) > limit and not line.endswith(b"\n"):
            rest = stream.readline(_CHUNK_BYTES)
            if not rest or rest.endswith(b"\n"):
                break


def _show(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
