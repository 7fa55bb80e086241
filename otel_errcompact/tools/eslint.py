"""Output of eslint and of linters that print like it: a file as a heading, and a row for each problem."""

from __future__ import annotations

from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.diagnostics import COMPILE_ERROR, MAX_DIAGNOSTICS, facts_of_diagnostics, place
from otel_errcompact.extract.findings.places import names_file
from otel_errcompact.extract.format import Diagnostic, Diagnostics
from otel_errcompact.extract.grammar import Command, Format, Found, Lines, Location, find, find_blocks, form, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator


NOT_FORMATTED: Final = "not formatted"

_ROW: Final = form(
    r" *(?P<first>\u2716|\u26a0|\u2717|\u00d7|\u2139)? *{line}:(?P<column>{number}) +(?P<severity>error|warning|info"
    r"|Error:|Warning:|\u2716|\u26a0|\u2717|\u00d7|\u2139)? *(?P<message>[^\s(].*|\(.*)"
)
_RULE: Final = form(r"(?:  +\(?(?P<apart>[@\w][\w@/.-]{1,100})\)?|[ ]\((?P<bracketed>[a-z][\w/-]{1,80})\))$")
_RULE_AHEAD: Final = form(r"(?P<rule>[a-z][a-z0-9]{0,30}(?:-[a-zA-Z0-9]{1,30}){1,8}) {2,}(?=\S)")
_STANDARD: Final = form(
    r" {2}(?P<file>[^\s:].{0,300}?):{line}:{number}: (?P<message>.{1,600}?) \((?P<rule>[\w@/-]{2,80})\)"
    r"(?: \(warning\))?$"
)
_BIOME: Final = form(
    r" {0,4}(?:at )?(?P<file>[^\s:].{0,300}?)(?::{line}:(?P<column>{number}))? "
    r"(?P<rule>[a-z][a-zA-Z]{1,20}(?:/[\w-]{1,60}){0,3})(?: +[A-Z]{4,12})* +\u2501"
)
_KINDS: Final = {"format": NOT_FORMATTED, "parse": COMPILE_ERROR}
_BIOME_MESSAGE: Final = form(r" {1,8}(?P<mark>[\u00d7\u2716!\u2139i]) {message}")
_PRETTIER: Final = form(r"\[(?P<severity>warn|error)\] (?P<what>\S.*)")
_CONCLUSION: Final = form(r"(?:\[warn\] Code style issues (?:found )?in |Error occurred when checking code style in )")
_SYNTAX: Final = form(r"{file}: SyntaxError: (?P<message>.*?)(?: \({line}:{number}\))?$")
_FILE: Final = form(r"[^\s:|].{0,300}?\.[A-Za-z]{1,10}$|\.?/[^:|]{1,300}$")
_WARNINGS: Final = frozenset({"warning", "info", "Warning:", "\u26a0", "\u2139"})


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the problems of all files."""
    return list(
        islice(chain(_read_rows(lines), dict.fromkeys(_read_blocks(lines)), _read_unformatted(lines)), MAX_DIAGNOSTICS)
    )


def _read_rows(lines: Lines) -> Iterator[Diagnostic]:
    file = ""
    for number, line in enumerate(lines):
        if not line:
            continue
        if _FILE.match(name := line.removesuffix(":")) or names_file(name := line.strip()):
            file = name
        elif line[0].isspace() or line[0].isdecimal():
            found = _ROW.match(line) if ":" in line else None
            if found is not None and (file or found["severity"]):
                yield from _read_row(file, found, _read_below(lines, number, found.start("message")))
            elif line.endswith(")") and (found := _STANDARD.match(line)):
                yield Diagnostic(found["rule"], found["message"], place_of(found))
        elif ":" in line:
            file = ""


def _read_below(lines: Lines, number: int, column: int) -> str:
    # A linter that wraps its cells goes on below the message.
    below = takewhile(lambda line: not line[:column].strip() and line[column : column + 1].strip(), lines[number + 1 :])
    return " ".join(map(str.strip, below))


def _read_row(file: str, found: Found, below: str) -> Iterator[Diagnostic]:
    # Read a row, which has a severity, or a rule at its end, or both.
    severity = found["severity"] or found["first"] or ""
    message = found["message"].strip()
    named = _RULE.search(message)
    if not severity:
        return
    ahead = _RULE_AHEAD.match(message)
    if ahead is not None:  # behind the message stands the part of the document, not the rule
        message = " ".join(message[ahead.end() :].split())
        yield Diagnostic(ahead["rule"], message, place(file, found["line"]), severity not in _WARNINGS)
        return
    rule = (named["apart"] or named["bracketed"]) if named else COMPILE_ERROR
    message = " ".join(message[: named.start()].split()) if named else message
    message = f"{message} {below}" if below else message
    yield Diagnostic(rule, message, place(file, found["line"]), severity not in _WARNINGS)


def _read_blocks(lines: Lines) -> Iterator[Diagnostic]:
    for found, block, _ in find_blocks(lines, _match_biome, most=4, limit=MAX_DIAGNOSTICS):
        said = find(_BIOME_MESSAGE, block)
        if said is not None:
            kind = found["rule"].rpartition("/")[2]
            is_error = said["mark"] in "\u00d7\u2716"
            kind, column = _KINDS.get(kind, kind), found["column"] or ""
            yield Diagnostic(kind, said["message"], place_of(found), is_error, column=column)


def _match_biome(line: str) -> Found | None:
    return _BIOME.match(line) if " \u2501" in line else None


def _read_unformatted(lines: Lines) -> Iterator[Diagnostic]:
    listed: list[str] = []
    for line in lines:
        if "ode style " in line and _CONCLUSION.match(line):
            yield from (Diagnostic(NOT_FORMATTED, "run prettier --write", Location(file=file)) for file in listed)
            listed = []
        found = _PRETTIER.match(line) if line.startswith("[") else None
        broken = _SYNTAX.match(found["what"]) if found else None
        if broken is not None:
            yield Diagnostic("SyntaxError", broken["message"], place_of(broken))
        elif found is not None and _FILE.match(found["what"]):
            listed.append(found["what"])


FORMAT: Final[Format] = Format(
    name="eslint",
    judges_code=True,
    read=lambda text: facts_of_diagnostics(text, FORMAT, unit="finding"),
    markers=("  error  ", "\u2716", " \u2501", "[warn] ", "  Error: "),
    commands=(
        Command("biome", subcommands="check lint format ci"),
        Command("eslint, stylelint, prettier, markdownlint, markdownlint-cli2, xo, standard, oxlint"),
    ),
    closings=(
        r" {1,6}[0-9]{1,6}:[0-9]{1,5} {1,6}(?:error|✖|\u00d7) {1,6}\S",
        r" {0,6}✖ {1,4}(?:found [1-9]|(?![0-9])\S)",
        r"\S{1,300}: line [0-9]{1,7}, col [0-9]{1,5}, Error - ",
        r"\S{1,300}:[0-9]{1,7}:[0-9]{1,5} lint/\S",
        r"\[warn\] Code style issues (?:found|were found)",
        r"[1-9][0-9]* (?:issues?|violations?|problems?|vulnerabilities)(?: found)?:$",
        r"Found (?:[0-9]+ warnings? and )?[1-9][0-9]* errors?",
        "[a-z][\\w/]{1,20} \u2501{9}[^\\n]{0,200}\\n\\n {1,4}\u00d7 ",
        r"\S{1,300}\.md:[0-9]{1,7}(?::[0-9]{1,7})? (?:error )?MD0[0-9]{2}",
        "\u2716 [1-9][0-9]* problems? \\([1-9]",
    ),
    passes=(r"Checked [0-9]+ files? in [^\n]*\. (?:No fixes|Fixed)", r"All matched files use Prettier"),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=form(
            r"(?m)^\s{0,3}[\u2716\u00d7] {number} problems? "
            r"\((?:([1-9][0-9]{0,5}) errors?|0 errors?, ({number}) warn)|^ {0,4}Found ({number}) errors?\.$"
        ),
        remedy=form(r"(?m)^ {1,3}({number} errors? .{0,60}fixable with .{1,60}?)\.?$"),
    ),
)
