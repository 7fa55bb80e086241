"""Panics, fatal errors and data races of Go programs."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Checker, Command, Format
from otel_errcompact.extract.stacks.go import RACE, read

_CHECKS: Final = Checker(
    harmless="-v -race -count=1 -failfast -cover -json -x -a",
    with_value="-timeout -count -parallel -p -coverprofile -covermode -o",
    narrowing="-run -skip",
    narrowing_flags="-short",
    everything="./... ...",
    bare=".",
    patterns=True,
)

FORMAT: Final = Format(
    name="go",
    read=read,
    markers=("goroutine ", RACE),
    commands=(
        Command("go", prints="go gomod", subcommands="*", speaks="go"),
        Command("go test", prints="gotest", checks=_CHECKS),
        Command("go run", prints="gotest"),
        Command("go build, go vet", prints="compilers", checks=_CHECKS),
        Command("go install, go generate", prints="compilers"),
        Command("go mod, go tool", subcommands="*"),
    ),
    closings=(r"fatal error: \S", r"panic: \S"),
)
