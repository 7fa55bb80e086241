"""Panics, fatal errors and data races of Go programs."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.format import Format
from otel_errcompact.extract.stacks.go import RACE, read

FORMAT: Final = Format(
    name="go",
    read=read,
    markers=("goroutine ", RACE),
    programs=("go",),
    closings=(
        r"fatal error: \S",
        r"panic: \S",
    ),
)
