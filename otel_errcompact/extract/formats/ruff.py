"""Diagnostics of ruff, of formatters that only check, and of other linters that print like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Location
from otel_errcompact.extract.diagnostics import facts_of_diagnostics, place
from otel_errcompact.extract.format import Diagnostic, Diagnostics, Format
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


_FULL: Final = lazy_pattern(
    r"(?P<code>[A-Z]{1,4}[0-9]{2,5}|invalid-syntax|unformatted|syntax-error):? (?:\[\*\] )?(?P<message>\S.*)"
)
_ARROW: Final = lazy_pattern(r" {0,8}--> (?P<file>.{1,400}?):(?P<line>[0-9]{1,9}):[0-9]{1,9}$")
_GROUP: Final = lazy_pattern(r"(?P<file>[^\s:].{0,300}):$")
_GROUPED: Final = lazy_pattern(
    r" +(?P<line>[0-9]{1,7}):[0-9]{1,7} +(?P<code>[A-Z]{1,4}[0-9]{2,5}|invalid-syntax|SyntaxError):? "
    r"(?:\[\*\] )?(?P<message>\S.*)"
)
_SUMMARY: Final = lazy_pattern(r"(?m)^Found ([0-9]{1,6}) errors?(?: \([0-9]{1,6} fixed, [0-9]{1,6} remaining\))?\.$")
_UNFORMATTED: Final = lazy_pattern(
    r"(?:[Ww]ould reformat:? (?P<file>\S.{0,300})|ERROR: (?P<unsorted>\S.{0,300}) Imports are incorrectly sorted)"
)
_BROKEN: Final = lazy_pattern(
    r"error: cannot (?:format|parse):? (?P<file>[^\s:]{1,300})(?::(?P<line>[0-9]{1,7}):[0-9]{1,7}$|: (?P<message>\S.*))"
)
_BROKEN_AT: Final = lazy_pattern(r"(?:^|: )(?P<line>[0-9]{1,7}):[0-9]{1,7}: ")
_OF_RUBY: Final = lazy_pattern(
    r"(?P<file>[^\s:]{1,300}):(?P<line>[0-9]{1,7}):[0-9]{1,7}: (?P<severity>[CRWEFI]): (?:\[[A-Z][a-z]{1,20}\] ){0,2}"
    r"(?P<cop>[A-Z]\w{1,40}(?:/\w{1,60}){1,3}): (?P<message>\S.*)"
)


def read(text: Text) -> Facts | None:
    """Return the facts of a report of ruff, black, isort or rubocop."""
    claimed = "Found " in text.body and ".py" in text.body and _SUMMARY.search(text.body) is not None
    return facts_of_diagnostics(text, FORMAT, unit="finding", claimed=claimed)


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return what is reported, but for diagnostics of one line, which all linters of Python print alike."""
    found: list[Diagnostic] = []
    group = ""
    for number, line in enumerate(lines):
        if line.startswith(" "):
            found.extend(_indented(lines, number, group))
            continue
        if line.endswith(":"):
            heading = _GROUP.match(line)
            group = heading["file"] if heading else ""
        found.extend(_read_line(line))
    return found


def _indented(lines: Sequence[str], number: int, group: str) -> Iterator[Diagnostic]:
    """Yield the diagnostic whose place an indented line tells, or that stands in a row below the name of its file."""
    line = lines[number]
    arrow = _ARROW.match(line) if "--> " in line else None
    head = _FULL.match(lines[number - 1]) if arrow and number else None
    if arrow and head:
        at = place(arrow["file"], arrow["line"])
        if head["code"] == "unformatted":
            yield Diagnostic("not formatted", "run ruff format", Location(file=at.file))
        else:
            yield Diagnostic(head["code"], head["message"], at)
    elif group and (row := _GROUPED.match(line)):
        yield Diagnostic(row["code"], row["message"], place(group, row["line"]))


def _read_line(line: str) -> Iterator[Diagnostic]:
    """Yield the diagnostic that stands in one line."""
    found = _UNFORMATTED.match(line)
    if found is not None:
        message = "run the formatter" if found["file"] else "imports are incorrectly sorted, run isort"
        yield Diagnostic("not formatted", message, Location(file=found["file"] or found["unsorted"]))
        return
    found = _BROKEN.match(line)
    if found is not None:
        message = found["message"] or "cannot parse"
        at = _BROKEN_AT.search(message)
        yield Diagnostic("SyntaxError", message, place(found["file"], found["line"] or (at["line"] if at else None)))
        return
    found = _OF_RUBY.match(line) if ": " in line else None
    if found is not None:
        yield Diagnostic(found["cop"], found["message"], place(found["file"], found["line"]))


_FIXABLE: Final = lazy_pattern(r"(?m)^(?:\[\*\] |No fixes available \()([0-9]{1,6} fixable with .{1,80}?)(?: \(|\.?$)")

FORMAT: Final = Format(
    name="ruff",
    read=read,
    markers=(" --> ", "ould reformat", "Found ", " offenses", "ncorrectly sorted"),
    programs=("ruff", "black", "isort", "flake8", "pylint"),
    closings=(
        r"would reformat \S",
        r"ERROR: \S{1,300} Imports are incorrectly",
        r"Found [1-9][0-9]* errors?\b(?! \([0-9]{1,6} fixed, 0 remaining)",
        r"[1-9][0-9]* files? would (?:be reformatted|fail to reformat)",
    ),
    passes=(
        r"All checks passed!",
        r"All done!",
    ),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=_SUMMARY,
        remedy=_FIXABLE,
    ),
)
