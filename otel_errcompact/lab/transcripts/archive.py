"""Archives of Inspect AI, whose samples are read one by one."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.transcripts.json_text import parse
from otel_errcompact.lab.transcripts.records import fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from otel_errcompact.lab.transcripts.records import Place, Value

BEGINS: Final = b"PK\x03\x04"
"""The first bytes of an archive."""

_HEADER: Final = "header.json"
_SAMPLES: Final = "samples/"


def read_archive(stream: BinaryIO, file: Place, limit: int) -> Iterator[Value]:
    """
    Yield a log for each sample, and report what cannot be read.

    Args:
        stream: The archive.
        file: Its place.
        limit: The longest sample that is parsed.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            names = dict.fromkeys(archive.namelist())
            headers = _parse(archive, _HEADER, file, limit) if _HEADER in names else iter(())
            about = next((fields_of(header).get("eval") for header, _ in headers), None)
            samples = [name for name in names if name.startswith(_SAMPLES)]
            for name in samples:
                for sample, place in _parse(archive, name, file, limit):
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


def _parse(archive: zipfile.ZipFile, name: str, file: Place, limit: int) -> Iterator[Value]:
    place = file.inner(name)
    if archive.getinfo(name).file_size > limit:
        place.problem(f"is longer than {limit:,} bytes and is skipped")
        return
    yield from parse(archive.read(name), place)
