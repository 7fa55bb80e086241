"""Diagnostics of ruff, of formatters that only check, and of other linters that print like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.diagnostics import facts_of_diagnostics, place
from otel_errcompact.extract.format import Diagnostic, Diagnostics
from otel_errcompact.extract.grammar import (
    Checker,
    Command,
    Facts,
    Format,
    Lines,
    Location,
    Rules,
    Text,
    form,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL: Final = form(r"(?P<code>[A-Z]{1,4}[0-9]{2,5}|invalid-syntax|unformatted|syntax-error):? (?:\[\*\] )?{message}")
_ARROW: Final = form(r" {0,8}--> (?P<file>.{1,400}?):{line}:{number}$")
_GROUP: Final = form(r"(?P<file>[^\s:].{0,300}):$")
_GROUPED: Final = form(
    r" +{line}:{number} +(?P<code>[A-Z]{1,4}[0-9]{2,5}|invalid-syntax|SyntaxError):? (?:\[\*\] )?{message}"
)
_SUMMARY: Final = form(r"(?m)^Found ({number}) errors?(?: \({number} fixed, {number} remaining\))?\.$")
_LINES: Final = Rules(r"""
not formatted  [Ww]ould reformat:? (?P<file>\S.{0,300})
    = run the formatter
not formatted  ERROR: (?P<file>\S.{0,300}) Imports are incorrectly sorted
    = imports are incorrectly sorted, run isort
SyntaxError    error: cannot (?:format|parse):? {file}:{line}:{number}$
    = cannot parse
SyntaxError    error: cannot (?:format|parse):? {file}: (?P<message>(?:(?:.{0,300}?: )?{line}:{number}: )?\S.*)
{cop}          {file}:{line}:{number}: [CRWEFI]: (?:\[[A-Z][a-z]{1,20}\] ){0,2}(?P<cop>[A-Z]\w{1,40}(?:/\w{1,60}){1,3})
    : {message}
""")


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
            found.extend(_read_indented(lines, number, group))
            continue
        if line.endswith(":"):
            heading = _GROUP.match(line)
            group = heading["file"] if heading else ""
        found.extend(Diagnostic(*stated[:3]) for stated in _LINES.read_all((line,)))
    return found


def _read_indented(lines: Lines, number: int, group: str) -> Iterator[Diagnostic]:
    line = lines[number]
    arrow = _ARROW.match(line) if "--> " in line else None
    head = _FULL.match(lines[number - 1]) if arrow and number else None
    if arrow and head:
        at = place_of(arrow)
        if head["code"] == "unformatted":
            yield Diagnostic("not formatted", "run ruff format", Location(file=at.file))
        else:
            yield Diagnostic(head["code"], head["message"], at)
    elif group and (row := _GROUPED.match(line)):
        yield Diagnostic(row["code"], row["message"], place(group, row["line"]))


_FIXABLE: Final = form(r"(?m)^(?:\[\*\] |No fixes available \()({number} fixable with .{1,80}?)(?: \(|\.?$)")

_CHECKS: Final = Checker(
    harmless="-q --quiet -v --verbose --fix --no-cache --show-fixes --no-fix",
    with_value="--output-format",
    narrowing="--select --ignore --exclude",
)
_FORMATS: Final = Checker(harmless="-q --quiet -v --verbose --no-cache", narrowing="--exclude")

FORMAT: Final = Format(
    name="ruff",
    judges_code=True,
    read=read,
    markers=(" --> ", "ould reformat", "Found ", " offenses", "ncorrectly sorted"),
    commands=(
        Command("ruff", subcommands="check format"),
        Command("ruff check", checks=_CHECKS),
        Command("ruff format", checks=_FORMATS),
        Command("flake8, pylint", prints="ruff compilers"),
        Command("black, isort"),
    ),
    closings=(
        r"would reformat \S",
        r"ERROR: \S{1,300} Imports are incorrectly",
        r"Found [1-9][0-9]* errors?\b(?! \([0-9]{1,6} fixed, 0 remaining)",
        r"[1-9][0-9]* files? would (?:be reformatted|fail to reformat)",
    ),
    passes=(r"All checks passed!", r"All done!"),
    diagnostics=Diagnostics(read=read_diagnostics, total=_SUMMARY, remedy=_FIXABLE),
)
