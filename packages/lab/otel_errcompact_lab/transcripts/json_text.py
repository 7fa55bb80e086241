"""JSON as text and in archives; faults are reported with their place."""

from __future__ import annotations

import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import Place, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from otel_errcompact_lab.transcripts.records import Value


_DECODER: Final = json.JSONDecoder()
_SPACE: Final = lazy_pattern(r"\s+")


def parse(raw: bytes, place: Place, *, first_line: int = 1) -> Iterator[Value]:
    """
    Parse a line or a document.

    Yields:
        The value, or each of several that follow one another; none if one is broken.
    """
    text = decode(raw.rstrip(), place)
    try:
        values = [without_halves(value, text) for value in _values_in(text)]
    except (ValueError, RecursionError) as error:
        # The parser counts the lines of the document only.
        line = place.line or (first_line - 1 + error.lineno if isinstance(error, json.JSONDecodeError) else 0)
        refuse(error, Place(place.path, line, place.report), text)
    else:
        yield from ((value, place) for value in values)


def _values_in(text: str) -> list[object]:
    # Programs that write at the same time, or without a line end, leave several objects on one line.
    try:
        return [json.loads(text)]
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or not text.startswith("{", error.pos):
            raise
    values: list[object] = []
    position = _skip_space(text, 0)
    while position < len(text):
        value, end = _DECODER.raw_decode(text, position)
        values.append(value)
        position = _skip_space(text, end)
    return values


def _skip_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def refuse(error: ValueError | RecursionError, place: Place, text: str) -> None:
    """Report why a text is no JSON."""
    if isinstance(error, json.JSONDecodeError):
        cut = error.pos >= len(text) or error.msg.startswith("Unterminated")
        cure = "it was cut off; record it again or remove it" if cut else "mend or remove it"
        place.problem(f"is not valid JSON ({error.msg}: column {error.colno}) and is skipped: {cure}")
    elif isinstance(error, RecursionError):
        place.problem("nests too deeply and is skipped")
    else:
        place.problem("holds a number of thousands of digits and is skipped")


def decode(raw: bytes, place: Place) -> str:
    """Decode bytes; report those that are not UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        place.problem(f"is not valid UTF-8 (byte {error.start + 1}); the invalid bytes read as U+FFFD")
        return raw.decode(errors="replace")


def without_halves(value: object, text: str) -> object:
    """
    Return a value without lone surrogates, which nothing can encode.

    Programs that cut text between two surrogates leave such.
    """
    if "\\ud" not in text and "\\uD" not in text:
        return value
    return json.loads(
        json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


ARCHIVE: Final = b"PK\x03\x04"
"""The first bytes of an archive."""

_HEADER: Final = "header.json"
_SAMPLES: Final = "samples/"


def read_archive(stream: BinaryIO, file: Place, limit: int) -> Iterator[Value]:
    """Yield a log for each sample, and report what cannot be read."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = dict.fromkeys(archive.namelist())
            headers = _parse_sample(archive, _HEADER, file, limit) if _HEADER in names else iter(())
            about = next((fields_of(header).get("eval") for header, _ in headers), None)
            samples = [name for name in names if name.startswith(_SAMPLES)]
            for name in samples:
                for sample, place in _parse_sample(archive, name, file, limit):
                    yield {"eval": about, "samples": [sample]}, place
            if not samples:
                file.problem("is an archive without samples; name a log of Inspect AI")
    except (NotImplementedError, RuntimeError):
        file.problem(
            "is compressed as this Python cannot read it, as with zstd before Python 3.14; write it as JSON with "
            "'inspect log convert --to json'"
        )
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        file.problem(f"is a broken archive ({error}); record it again or remove it")


def _parse_sample(archive: zipfile.ZipFile, name: str, file: Place, limit: int) -> Iterator[Value]:
    place = file.inner(name)
    if archive.getinfo(name).file_size > limit:
        place.problem(f"is longer than {limit:,} bytes and is skipped")
        return
    yield from parse(archive.read(name), place)
