"""Output of eslint and of linters that print like it: a file as a heading, and a row for each problem."""

from __future__ import annotations

from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Location
from otel_errcompact.extract.diagnostics import COMPILE_ERROR, MAX_DIAGNOSTICS, facts_of_diagnostics, place
from otel_errcompact.extract.findings.places import names_file
from otel_errcompact.extract.format import Diagnostic, Diagnostics, Format, split_names
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


NOT_FORMATTED: Final = "not formatted"

_ROW: Final = lazy_pattern(
    r" *(?P<first>\u2716|\u26a0|\u2717|\u00d7|\u2139)? *(?P<line>[0-9]{1,7}):(?P<column>[0-9]{1,7}) +"
    r"(?P<severity>error|warning|info|Error:|Warning:|\u2716|\u26a0|\u2717|\u00d7|\u2139)? *"
    r"(?P<message>[^\s(].*|\(.*)"
)
_RULE: Final = lazy_pattern(r"(?:  +\(?(?P<apart>[@\w][\w@/.-]{1,100})\)?|[ ]\((?P<bracketed>[a-z][\w/-]{1,80})\))$")
_RULE_AHEAD: Final = lazy_pattern(r"(?P<rule>[a-z][a-z0-9]{0,30}(?:-[a-zA-Z0-9]{1,30}){1,8}) {2,}(?=\S)")
_STANDARD: Final = lazy_pattern(
    r" {2}(?P<file>[^\s:].{0,300}?):(?P<line>[0-9]{1,7}):[0-9]{1,7}: (?P<message>.{1,600}?) \((?P<rule>[\w@/-]{2,80})\)"
    r"(?: \(warning\))?$"
)
_BIOME: Final = lazy_pattern(
    r" {0,4}(?:at )?(?P<file>[^\s:].{0,300}?)(?::(?P<line>[0-9]{1,7}):(?P<column>[0-9]{1,7}))? "
    r"(?P<rule>[a-z][a-zA-Z]{1,20}(?:/[\w-]{1,60}){0,3})(?: +[A-Z]{4,12})* +\u2501"
)
_KINDS: Final = {"format": NOT_FORMATTED, "parse": COMPILE_ERROR}
_BIOME_MESSAGE: Final = lazy_pattern(r" {1,8}(?P<mark>[\u00d7\u2716!\u2139i]) (?P<message>\S.*)")
_PRETTIER: Final = lazy_pattern(r"\[(?P<severity>warn|error)\] (?P<what>\S.*)")
_CONCLUSION: Final = lazy_pattern(
    r"(?:\[warn\] Code style issues (?:found )?in |Error occurred when checking code style in )"
)
_SYNTAX: Final = lazy_pattern(
    r"(?P<file>[^\s:]{1,300}): SyntaxError: (?P<message>.*?)(?: \((?P<line>[0-9]{1,7}):[0-9]{1,7}\))?$"
)
_FILE: Final = lazy_pattern(r"[^\s:|].{0,300}?\.[A-Za-z]{1,10}$|\.?/[^:|]{1,300}$")
_WARNINGS: Final = frozenset({"warning", "info", "Warning:", "\u26a0", "\u2139"})


def read(text: Text) -> Facts | None:
    """Return the facts of the problems that linters of scripts, styles and markup list file by file."""
    return facts_of_diagnostics(text, FORMAT, unit="finding")


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the problems of all files."""
    return list(islice(chain(_rows(lines), dict.fromkeys(_blocks(lines)), _unformatted(lines)), MAX_DIAGNOSTICS))


def _rows(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield the problems that stand in rows below the name of their file."""
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
                yield Diagnostic(found["rule"], found["message"], place(found["file"], found["line"]))
        elif ":" in line:
            file = ""


def _read_below(lines: Sequence[str], number: int, column: int) -> str:
    # A linter that wraps its cells goes on below the message.
    below = takewhile(lambda line: not line[:column].strip() and line[column : column + 1].strip(), lines[number + 1 :])
    return " ".join(map(str.strip, below))


def _read_row(file: str, found: re.Match[str], below: str) -> Iterator[Diagnostic]:
    """Read a row, which has a severity, or a rule at its end, or both."""
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


def _blocks(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield the problems that biome prints, each below a ruler."""
    for number, line in enumerate(lines):
        if " \u2501" not in line:
            continue
        found = _BIOME.match(line)
        said = next((said for below in lines[number + 1 : number + 5] if (said := _BIOME_MESSAGE.match(below))), None)
        if found is None or said is None:
            continue
        kind = found["rule"].rpartition("/")[2]
        at = place(found["file"], found["line"])
        kind = _KINDS.get(kind, kind)
        is_error = said["mark"] in "\u00d7\u2716"
        yield Diagnostic(kind, said["message"], at, is_error, column=found["column"] or "")


def _unformatted(lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield what prettier says of files."""
    listed: list[str] = []
    for line in lines:
        if "ode style " in line and _CONCLUSION.match(line):
            yield from (Diagnostic(NOT_FORMATTED, "run prettier --write", Location(file=file)) for file in listed)
            listed = []
        found = _PRETTIER.match(line) if line.startswith("[") else None
        broken = _SYNTAX.match(found["what"]) if found else None
        if broken is not None:
            yield Diagnostic("SyntaxError", broken["message"], place(broken["file"], broken["line"]))
        elif found is not None and _FILE.match(found["what"]):
            listed.append(found["what"])


FORMAT: Final = Format(
    name="eslint",
    read=read,
    markers=("  error  ", "\u2716", " \u2501", "[warn] ", "  Error: "),
    programs=split_names(
        "eslint, biome, stylelint, prettier, markdownlint, markdownlint-cli2, xo, standard, oxlint, next lint"
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
    passes=(
        r"Checked [0-9]+ files? in [^\n]*\. (?:No fixes|Fixed)",
        r"All matched files use Prettier",
    ),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=lazy_pattern(
            r"(?m)^\s{0,3}[\u2716\u00d7] [0-9]{1,6} problems? "
            r"\((?:([1-9][0-9]{0,5}) errors?|0 errors?, ([0-9]{1,6}) warn)|^ {0,4}Found ([0-9]{1,6}) errors?\.$"
        ),
        remedy=lazy_pattern(r"(?m)^ {1,3}([0-9]{1,6} errors? .{0,60}fixable with .{1,60}?)\.?$"),
    ),
)
