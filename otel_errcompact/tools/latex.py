"""Errors of TeX and LaTeX, each with its line of the document."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import Final

from otel_errcompact.extract.diagnostics import MAX_DIAGNOSTICS, facts_of_diagnostics, place
from otel_errcompact.extract.grammar import NOWHERE, Command, Diagnostic, Diagnostics, Format, Lines, form

_STATED: Final = form(r"(?:! ?|(?P<file>[^\s:!(][^:]{0,300}):{line}: )(?P<message>[^\s=].*)")
_AT: Final = form(r"l\.{number} |<\*> | ==> Fatal error occurred, ")
_COMMAND: Final = form(r".*(?P<name>\\(?:[A-Za-z@]{1,80}|\S)) *$")
_BEGUN: Final = form(r"(?m)(?:^No file |\(\./)(?P<job>[^\s()]{1,300})\.aux\b")
_OPENED: Final = form(r"\(\./([^\s()]{1,300}\.(?:tex|sty|cls))\b")
_WIDTH: Final = 79
"""Characters in which TeX breaks a line, wherever a word ends."""

_AHEAD: Final = 14
_STOP: Final = "Emergency stop."


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the errors, without the stop that they bring about."""
    body = "\n".join(lines)
    begun = _BEGUN.search(body)
    main = f"{begun['job']}.tex" if begun else ""
    # TeX names no file: where the document has begun and reads no other, the line is its own.
    start = body.count("\n", 0, begun.start()) if begun and {*_OPENED.findall(body)} == {main} else len(lines)
    errors = (
        _read_error(lines, at, main if at > start else "") for at, line in enumerate(lines) if _STATED.match(line)
    )
    found = list(islice(filter(None, errors), MAX_DIAGNOSTICS))
    return [each for each in found if each.message != _STOP] or found


def _read_error(lines: Lines, number: int, main: str) -> Diagnostic | None:
    line, following = lines[number], "".join(lines[number + 1 : number + 2])
    stated = _STATED.match(f"{line:{_WIDTH}}{following}" if _WIDTH - 1 <= len(line) <= _WIDTH else line)
    below = takewhile(lambda line: line[:1] != "!" or _STOP in line, lines[number + 1 : number + _AHEAD])
    at = next(filter(_AT.match, below), "") if stated else ""
    row = at.partition(" ")[0].removeprefix("l.")
    if stated is None or not at or stated["line"] not in (None, row):
        return None
    file, message = stated["file"] or main, stated["message"]
    command = _COMMAND.match(following) if message.startswith("Undefined control sequence") else None
    message = f"{message.rstrip('.')}: {command['name']}" if command else message.removeprefix("LaTeX Error: ")
    kind = "LaTeXError" if " Error: " in stated["message"] else "TeXError"
    if not row.isdecimal():
        return Diagnostic(kind, message)
    location = place(file.removeprefix("./"), row) if file else NOWHERE
    return Diagnostic(kind, message, location, details=(" ".join(at.split()),))


FORMAT: Final[Format] = Format(
    name="latex",
    read=lambda text: facts_of_diagnostics(text, FORMAT),
    markers=("TeX, Version ", " ==> Fatal error occurred", "\nTranscript written on "),
    commands=(Command("pdflatex, lualatex, xelatex, latex, pdftex, tex, latexmk"),),
    closings=(
        r"(?:!|\S{1,300}:[0-9]{1,7}:)? {1,2}==> Fatal error occurred, ",
        r"! (?:(?:LaTeX|Package \S{1,60}|Class \S{1,60}) Error: |Undefined control sequence\.|Emergency stop\.)",
        r"Latexmk: Errors, so I did not complete ",
    ),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=form(r"(?m)^\(That makes ({number}) errors; please try again\.\)"),
        is_shared=False,
    ),
)
