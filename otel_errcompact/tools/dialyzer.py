"""Warnings of dialyzer, credo and the Elixir and Erlang compilers."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.diagnostics import COMPILE_ERROR, MAX_DIAGNOSTICS, facts_of_diagnostics
from otel_errcompact.extract.grammar import Command, Diagnostic, Diagnostics, Format, Found, Lines, find, form, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_MIX: Final = form(
    r"(?P<file>{path}\.(?:exs?|erl|hrl|eex|heex)):{line}(?::{number})?:(?P<kind>[a-z]{2,20}(?:_[a-z]{2,20}){1,5}"
    r"|call|apply)(?: (?P<message>[A-Z].*))?$"
)
_ERLANG: Final = form(
    r"(?P<file>{path}\.(?:erl|hrl|yrl|xrl|exs?)):{line}(?::{number})?: (?P<warning>[Ww]arning: )?{message}"
)
_CREDO_FLYCHECK: Final = form(r"(?P<letter>[CDFRW]): {message}")
_CREDO: Final = form(r"\s{0,4}(?:[\u2503|] )?\[(?P<letter>[CDFRW])\] (?:[\u2191\u2197\u2192\u2198\u2193] )?{message}")
_CREDO_PLACE: Final = form(r"[\u2503|\s]{0,12}(?P<file>{path}\.exs?):{line}(?::{number})?(?: (?P<rest>\S.*))?")
_CATEGORIES: Final = {
    "C": "Credo.Consistency",
    "D": "Credo.Design",
    "F": "Credo.Refactor",
    "R": "Credo.Readability",
    "W": "Credo.Warning",
}
_DIAGNOSTIC: Final = form(r"\s{0,8}(?:\*\* \(\w+\) )?(?P<severity>error|warning): {message}")
_CORNER: Final = form(r" *\u2514\u2500 {file}:{line}")
_PLACE_BELOW: Final = form(r" {1,8}(?P<file>{path}\.(?:exs?|eex|heex|erl)):{line}")
_OF_DIALYZER: Final = ("  Proceeding with analysis", "done (warnings were emitted)")
_EXCEPTION: Final = "** ("
_MAX_BLOCK: Final = 30


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the diagnostics of all tools of the family."""
    starts = (number for number, line in enumerate(lines) if ":" in line or "]" in line)
    found = list(islice((diagnostic for number in starts for diagnostic in _read_at(lines, number)), MAX_DIAGNOSTICS))
    if any(line.startswith("Compilation failed due to warnings") for line in lines):
        return [diagnostic._replace(is_error=True) for diagnostic in found]
    if not any(diagnostic.is_error for diagnostic in found) and any(line.startswith(_EXCEPTION) for line in lines):
        return []
    if any(line.startswith(_OF_DIALYZER) for line in lines):
        return [
            diagnostic._replace(type="dialyzer") if diagnostic.type == COMPILE_ERROR else diagnostic
            for diagnostic in found
        ]
    return found


def _read_at(lines: Lines, number: int) -> Iterator[Diagnostic]:
    # Yield the diagnostic that begins at a line, if one does.
    line = lines[number]
    below = lines[number + 1 : number + _MAX_BLOCK]
    if ".e" in line or "rl:" in line:
        for form, reader in _PLACED:
            found = form.match(line)
            if found is not None:
                yield from reader(found, below)
                return
    if "warning: " in line or "error: " in line:
        found = _DIAGNOSTIC.match(line)
        if found is not None:
            yield from _read_elixir(found, below)
    elif "] " in line:
        found = _CREDO.match(line)
        if found is not None:
            yield from _read_credo(found, below)


def _read_mix(found: Found, below: Lines) -> Iterator[Diagnostic]:
    # Read a warning of dialyxir: its kind behind the place, its words below, up to a ruler.
    words = takewhile(lambda line: not line.startswith(("____", "[", "lib/", "Total errors")), below)
    message = " ".join((found["message"] or "", *map(str.strip, words))) if not found["message"] else found["message"]
    yield Diagnostic(found["kind"], " ".join(message.split()) or found["kind"], place_of(found))


def _read_erlang(found: Found, below: Lines) -> Iterator[Diagnostic]:
    # Read what erlc or dialyzer says; dialyzer breaks its lines.
    own = [line.strip() for line in takewhile(lambda line: line.startswith("   "), below)]
    code = next((line.partition("|")[2].strip() for line in below[:1] if line.startswith("%")), "")
    flycheck = _CREDO_FLYCHECK.match(found["message"]) if ".ex" in found["file"] else None
    at = place_of(found)
    if flycheck:
        yield Diagnostic(_CATEGORIES[flycheck["letter"]], flycheck["message"], at)
    else:
        kind = "warning" if found["warning"] else COMPILE_ERROR
        yield Diagnostic(kind, " ".join((found["message"], *own)), at, not found["warning"], source=code)


def _read_elixir(found: Found, below: Lines) -> Iterator[Diagnostic]:
    # Read a diagnostic of the Elixir compiler, whose place stands below its words.
    words, source = [found["message"]], ""
    for line in below:
        at = _CORNER.match(line) or _PLACE_BELOW.match(line)
        if at is not None:
            is_error = found["severity"] == "error"
            kind = COMPILE_ERROR if is_error else "warning"
            yield Diagnostic(kind, " ".join(words), place_of(at), is_error, source=source)
            return
        if "\u2502" in line:
            source = source or line.partition("\u2502")[2].strip()
        elif _DIAGNOSTIC.match(line) or (line and not line[0].isspace()):
            return
        else:
            words.extend(line.split())


def _read_credo(found: Found, below: Lines) -> Iterator[Diagnostic]:
    kind = _CATEGORIES[found["letter"]]
    beside = _CREDO_PLACE.match(found["message"])
    at = beside or find(_CREDO_PLACE, below[:2])
    if at is not None:
        message = beside["rest"] or kind if beside else found["message"]
        yield Diagnostic(kind, message, place_of(at))


_PLACED: Final = ((_MIX, _read_mix), (_ERLANG, _read_erlang))

FORMAT: Final[Format] = Format(
    name="dialyzer",
    judges_code=True,
    read=lambda text: facts_of_diagnostics(text, FORMAT),
    markers=(".ex:", ".exs:", ".erl:", "\u2514\u2500 ", ".hrl:"),
    commands=(Command("dialyzer"),),
    closings=(
        r"Total errors: (?P<errors>[1-9][0-9]{0,5}), Skipped: (?!(?P=errors),)",
        r"done \(warnings were emitted\)",
        r"[0-9]{1,7} mods/funs, found (?!no issues)",
    ),
    passes=(r"done \(passed successfully\)", r"[0-9]{1,7} mods/funs, found no issues"),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=form(r"(?m)^(?:Total errors: ({number})|{number} mods/funs, found (?:an? |({number}) )[a-z ]{4,40}\.?$)"),
    ),
)
