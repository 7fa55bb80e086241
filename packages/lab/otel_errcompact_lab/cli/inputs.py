"""Raw errors from files and standard input, one at a time."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from otel_errcompact.errors import RawError
from otel_errcompact_lab.cli.sources import STANDARD_INPUT, describe_unreadable, is_standard_input_open
from otel_errcompact_lab.transcripts.file_values import read_stream
from otel_errcompact_lab.transcripts.records import Place, documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_lab.cli.output import Problems

MAX_BYTES: Final = 64 * 1024 * 1024
"""The longest raw error, or line, that is read; longer ones are reported and skipped."""

_NAME: Final = "standard input"
_BOM: Final = b"\xef\xbb\xbf"
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
            for text in self._read_texts(file, problems):
                yield RawError(text=text, tool=self.tool, exit_code=self.exit_code)

    def _read_texts(self, file: Path, problems: Problems) -> Iterator[str]:
        is_standard = str(file) == STANDARD_INPUT
        place = Place(_NAME if is_standard else str(file), 0, problems.take)
        if is_standard and not is_standard_input_open(problems):
            return
        if not is_standard and (problem := describe_unreadable(file)):
            place.problem(problem)
            return
        try:
            with nullcontext(sys.stdin.buffer) if is_standard else file.open("rb") as stream:
                yield from self._read_fields(stream, place) if self.field else self._read_whole(stream, place)
        except OSError as error:
            place.problem(f"cannot be read ({error.strerror}); check the path and its permissions")

    def _read_fields(self, stream: BinaryIO, file: Place) -> Iterator[str]:
        for found in documents(read_stream(stream, file, limit=self.max_bytes)):
            text = found.fields.get(self.field)
            if isinstance(text, str):
                yield text
            else:
                found.place.inner(self.field).problem("must be a text; the line is skipped")

    def _read_whole(self, stream: BinaryIO, file: Place) -> Iterator[str]:
        raw = stream.read(self.max_bytes + 1)
        if len(raw) > self.max_bytes:
            file.problem(f"is longer than {self.max_bytes:,} bytes and is skipped; cut it with tail -c")
        elif not raw.strip() and self.exit_code is None:
            file.problem("is empty; a raw error is expected, or an exit code with --exit-code")
        elif b"\0" in raw[:_LOOKED_AT]:
            file.problem("is binary or UTF-16, and is skipped; a raw error is expected as UTF-8 text")
        else:
            yield raw.removeprefix(_BOM).decode(errors="replace")
