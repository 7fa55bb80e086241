"""Programs that check everything unless given targets, and their options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Checker(NamedTuple):
    """The options of a program that checks everything unless given targets."""

    harmless: frozenset[str] = frozenset()
    """Options that leave nothing out."""
    with_value: frozenset[str] = frozenset()
    """As `harmless`, with a value."""
    narrowing: frozenset[str] = frozenset()
    """Options with a value that leave things out."""
    narrowing_flags: frozenset[str] = frozenset()
    """Options without a value that leave things out."""
    everything: frozenset[str] = frozenset({"."})
    """Targets that mean everything."""
    bare: str = ""
    """The target where none is given; everything if empty."""
    patterns: bool = False
    """Whether a folder stands for all below it only as `folder/...`."""
    needs_target: bool = False
    """Whether it is not certain what runs where no target is given."""


_PYTEST: Final = Checker(
    harmless=frozenset(
        {
            "-q", "-qq", "-v", "-vv", "-vvv", "-s", "-x", "-l", "--verbose", "--quiet", "--exitfirst",
            "--no-header", "--no-summary", "--showlocals", "--full-trace", "--no-cov", "--disable-warnings",
            "--disable-pytest-warnings", "--cov", "--ff", "--failed-first", "--nf", "--new-first", "--setup-show",
            "-rA", "-ra", "-rf", "-rs", "-rx", "-rfE", "-rN", "--strict-markers", "--cache-clear",
            "--benchmark-disable",
        }
    ),
    with_value=frozenset(
        {
            "--tb", "--maxfail", "--color", "--durations", "--durations-min", "-n", "--numprocesses", "--dist",
            "--cov-report", "--timeout", "--junitxml", "--junit-xml", "--log-level", "--log-cli-level", "--capture",
            "--show-capture", "--basetemp", "-r", "--verbosity", "-p",
        }
    ),
    narrowing=frozenset({"-k", "-m", "--deselect", "--ignore", "--ignore-glob"}),
    narrowing_flags=frozenset({"--lf", "--last-failed", "--sw", "--stepwise"}),
)  # fmt: skip

_GO: Final = Checker(
    harmless=frozenset({"-v", "-race", "-count=1", "-failfast", "-cover", "-json", "-x", "-a"}),
    with_value=frozenset({"-timeout", "-count", "-parallel", "-p", "-coverprofile", "-covermode", "-o"}),
    narrowing=frozenset({"-run", "-skip"}),
    narrowing_flags=frozenset({"-short"}),
    everything=frozenset({"./...", "..."}),
    bare=".",
    patterns=True,
)

_JEST: Final = Checker(
    harmless=frozenset(
        {"--ci", "--verbose", "--silent", "--runInBand", "-i", "--no-cache", "--coverage", "--colors", "--no-color",
         "--no-coverage", "--bail", "--forceExit", "--detectOpenHandles", "--run", "--no-watch", "--watchAll=false"}
    ),
    with_value=frozenset({"--maxWorkers", "-w", "--testTimeout", "--reporter", "--reporters", "--pool"}),
    narrowing=frozenset({"-t", "--testNamePattern", "--testPathPattern", "--testPathPatterns"}),
    narrowing_flags=frozenset({"-o", "--onlyChanged", "--onlyFailures", "-f", "--changed"}),
    everything=frozenset[str](),
)  # fmt: skip

CHECKERS: Final[Mapping[str, Checker]] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    "python -m pytest": _PYTEST,
    "go test": _GO,
    "go vet": _GO,
    "go build": _GO,
    "cargo test": Checker(
        harmless=frozenset(
            {"-q", "--quiet", "-v", "--verbose", "--no-fail-fast", "--locked", "--offline", "--frozen", "--nocapture",
             "--show-output"}
        ),
        with_value=frozenset({"-j", "--jobs", "--color", "--message-format", "--test-threads"}),
        narrowing=frozenset({"--test", "--bin", "--example", "--skip"}),
        narrowing_flags=frozenset({"--lib", "--bins", "--tests", "--exact"}),
        everything=frozenset[str](),
    ),
    "jest": _JEST,
    "vitest": _JEST,
    "vitest run": _JEST,
    "ruff check": Checker(
        harmless=frozenset({"-q", "--quiet", "-v", "--verbose", "--fix", "--no-cache", "--show-fixes", "--no-fix"}),
        with_value=frozenset({"--output-format"}),
        narrowing=frozenset({"--select", "--ignore", "--exclude"}),
    ),
    "ruff format": Checker(
        harmless=frozenset({"-q", "--quiet", "-v", "--verbose", "--no-cache"}), narrowing=frozenset({"--exclude"})
    ),
    "mypy": Checker(
        harmless=frozenset({"--pretty", "--show-error-codes", "--no-color-output", "--no-incremental",
                            "--no-error-summary", "--show-column-numbers"}),
        narrowing=frozenset({"--exclude"}),
        needs_target=True,
    ),
    "rspec": Checker(
        harmless=frozenset({"-b", "--backtrace", "--no-color", "--fail-fast", "--color"}),
        with_value=frozenset({"-f", "--format", "--seed", "--order"}),
        narrowing=frozenset({"-e", "--example", "-t", "--tag", "-E"}),
        narrowing_flags=frozenset({"--only-failures", "-n", "--next-failure"}),
            everything=frozenset({"spec"}),
    ),
}  # fmt: skip
"""Programs whose success over everything, or over a folder, is surely the success of what lies within."""
