"""
Readers of recorded agent runs, for files of several programs.

Malformed lines and fields are reported with file and line, and the rest is read.
"""

from __future__ import annotations

from otel_errcompact_lab.transcripts.forks import Forks
from otel_errcompact_lab.transcripts.formats import FORMATS, Format
from otel_errcompact_lab.transcripts.model import (
    AttributeValue,
    RecordedCall,
    RecordedEvent,
    RecordedLife,
    RecordedLine,
    RecordedRun,
    RecordedSpan,
    RecordedTrace,
)
from otel_errcompact_lab.transcripts.reading import beside, find, read, read_files, rotated_files, runs_of

__all__ = [
    "FORMATS",
    "AttributeValue",
    "Forks",
    "Format",
    "RecordedCall",
    "RecordedEvent",
    "RecordedLife",
    "RecordedLine",
    "RecordedRun",
    "RecordedSpan",
    "RecordedTrace",
    "beside",
    "find",
    "read",
    "read_files",
    "rotated_files",
    "runs_of",
]
