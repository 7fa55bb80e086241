"""Diagnostics in one line: file, line, severity, message."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.diagnostics import COMPILE_ERROR, LINK_ERROR, MAX_DIAGNOSTICS, facts_of_diagnostics, place
from otel_errcompact.extract.format import Diagnostic, Diagnostics
from otel_errcompact.extract.grammar import NOWHERE, Checker, Command, Facts, Format, Found, Lines, Location, Text, form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FILE: Final = r"(?P<file>(?:file://)?(?:[A-Za-z]:(?=[\\/]))?[^\s:\"|*?=][^:\"|*?]{0,300}?)"
_PLACE: Final = (
    rf"{_FILE}(?::(?P<line>[0-9]{{1,9}})(?::[0-9]{{1,9}})?(?:-[0-9]{{1,9}}(?::[0-9]{{1,9}})?)?"
    r"|\((?P<row>[0-9]{1,9})(?:,[ ]?[0-9]{1,9}){0,3}\))"
)
_SEVERITY: Final = (
    r"(?:fatal |internal compiler )?(?P<severity>[Ee]rror|ERROR|[Ww]arning|note|Note|remark|style|performance"
    r"|portability|information|info)"
)
_CODE: Final = r"(?:\[(?P<rule>[\w./:-]{1,60})\]|[ ](?P<code>[A-Z]{1,12}-?[0-9]{2,6}))?"
_DIAGNOSTIC: Final = form(rf" {{0,4}}{_PLACE}(?: ?:| -)? {_SEVERITY}{_CODE} ?:[ ]?(?P<message>.*)")
_OF_GO: Final = form(r"(?:vet: )?(?P<file>{path}\.(?:go(?=:{number}:[0-9])|mod|work)):{line}:(?:{number}:)? {message}")
_OF_PYTHON: Final = form(
    r"(?P<file>{path}\.(?:py|pyi|pyx|ipynb)):{line}:(?:{number}:)? (?P<open>\[)?(?P<code>[A-Z]{1,4}[0-9]{2,5}"
    r"|(?<!\[)(?:invalid-syntax|SyntaxError))(?(open)(?:[(,][^\]]{0,100})?\]):? (?:\[\*\] )?(?P<message>\S.*?)"
    r"(?: \([a-z][a-z0-9-]{1,60}\))?$"
)
_OF_ANNOTATION: Final = form(
    r"::(?P<severity>error|warning)(?: (?P<fields>[^:\n]{0,1000}(?::[^:\n]{1,300}){0,3}?))?::{message}"
)
_FIELD_OF_ANNOTATION: Final = form(r"(?:^|,)(?P<name>file|line|title)=(?P<value>[^,]{1,400})")
_OF_KOTLIN: Final = form(
    r"(?P<severity>[ew]): (?:file://)?(?P<file>[^\s:][^:]{0,300}):"
    r"(?:{line}:{number}:?| \((?P<row>{number}), {number}\):) {message}"
)
_OF_SBT: Final = form(r"\[(?P<severity>error|warn)\] (?P<file>{path}\.\w{1,10}):{line}:(?:{number}:)? {message}")
_OF_SCALA: Final = form(
    r"(?:\[(?:error|warn)\] )?-- (?:\[(?P<code>E{number})\] )?(?:[\w ]{0,60}?(?P<severity>Warning)|[A-Z][\w ]{1,60}): "
    r"{file}:{line}:{number} -*(?P<message>)$"
)
_OF_PROJECT: Final = form(
    r" {0,4}(?:(?P<file>[^:()]{1,200}?) ?: )?(?:fatal )?(?P<severity>error|warning) (?P<code>[A-Z]{1,8}[0-9]{3,6}): "
    r"{message}"
)
_OF_FILE: Final = form(r"(?P<file>{path}\.pyi?): (?P<severity>error): {message}")
_OF_DRIVER: Final = form(
    r"(?:[\w./+-]{0,100}[/-])?(?:gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|cc1(?:plus|obj)?|collect2|ld(?:\.\w{1,9}|64\.lld)?"
    r"|lld(?:-link)?|mold|lto1|nvcc|swiftc?|swift-frontend|javac|kotlinc|gfortran|f951)(?:-[0-9.]{1,9})?: "
    r"(?:fatal )?(?P<severity>error): {message}"
)
_OF_LINKER: Final = form(
    r"(?:\S{0,200}\bld(?:\.\w{1,9})?: )?(?:{file}:(?:{line}:)?(?:\([^()\s]{1,200}\):)? ?)?(?P<message>(?:"
    r"(?:undefined reference to|multiple definition of|undefined symbol:?|duplicate symbol|cannot find|(?:framework"
    r"|library) not found) |(?:framework|library) '[^']{1,200}' not found$).*)"
)
_OF_XCODE: Final = form(
    r"(?:(?P<file>[^:]{1,300}\.xcodeproj): error: |(?=Signing for {quoted} requires a development team"
    r"|{quoted} requires a provisioning profile|No profiles for '[^']{1,200}' were found: ))"
    r"(?P<message>\S.*?)(?: \(in target '[^']{1,200}' from project '[^']{1,200}'\))?$"
)
_OF_DART: Final = form(
    r" {0,3}(?P<severity>error|warning|info|hint) (?:- {file}:{line}:{number} - "
    r"(?P<message>\S.{0,1000}?)|\u2022 (?P<said>\S.{0,1000}?) \u2022 (?P<place>{path}):(?P<row>{number})"
    r":{number}) {1,2}[-\u2022] (?P<rule>[a-z]\w{2,60})$"
)
_COLUMN: Final = form(r"{number}")
_POSITION: Final = form(r"[:(] ?[0-9]")
_IN_FUNCTION: Final = form(r".{0,400}: [Ii]n function `(?P<function>[^']{1,200})':$")
_LINKING: Final = (
    "undefined reference to ", "multiple definition of ", "ld: cannot find ", "ld: framework ", "ld: library ",
    "duplicate symbol '",
)  # fmt: skip
_TEMPORARY_OBJECT: Final = form(r"(?:.{0,200}/)?cc[A-Za-z0-9]{6}\.o$")
_DEFINED_FIRST: Final = form(r"; (?P<file>[^\s;:]{1,300}):(?:{number}:)?(?:\([^()\s]{1,200}\):)? first defined here$")
_OF_APPLE: Final = form(r"  \"(?P<symbol>[^\"]{1,600})\", referenced from:$")
_USED_BY: Final = form(r" {6}(?P<function>\S.{0,300}) in (?P<file>[^\s]{1,200}?)(?:-[0-9a-f]{6,8})?\.o(?:bj)?$")

_CONSEQUENCES: Final = form(
    r"(?:ld returned [0-9]+ exit status|linker command failed with exit code"
    r"|(?:some|all) warnings being treated as errors|too many errors|compilation aborted"
    r"|compilation failed|symbol\(s\) not found for architecture"
    r"|[0-9]+ unresolved externals?$|warnings found and -Werror specified|no further errors)"
)
"""What a tool says because of other errors."""

_PROMOTED: Final = frozenset(
    {
        "-Wimplicit-function-declaration", "-Wimplicit-int", "-Wint-conversion", "-Wincompatible-pointer-types",
        "-Wreturn-mismatch", "-Wdeclaration-missing-parameter-type",
    }
)  # fmt: skip
"""Warnings of older C compilers that newer ones take for errors, since what they are about seldom works."""

_WORTH_AN_ERROR: Final = "worth an error"
"""The severity of these warnings, which count as errors where the compiler has found none of its own."""

_FLAG: Final = form(r" \[(?:-Werror(?:=|,-W)|-W)(?P<flag>[\w+#=-]{2,80})(?:,[^\]]{1,80})?\]$")
_RULE: Final = form(r"[ \u00a0]+(?:\[(?P<bracketed>[a-zA-Z][\w,-]{1,80})\]|\((?P<check>report[A-Z]\w{1,60})\))$")
_LINTER: Final = form(r" \((?P<linter>[a-z][\w-]{1,40})\)$")
_PROJECT: Final = form(r" \[[^\[\]]{1,400}proj(?:::[^\[\]]{1,100})?\]$")

_SOURCE: Final = form(r" *{number} ?[|\u2502](?P<source>.*)")
_CARETS: Final = form(r"(?: *\|)?[ \t]*[~^-]*[\^~][~^ -]*$")
_TERM: Final = form(r"  (?P<term>symbol|location|required|found|reason): +(?P<what>\S.*)")
_REFERENCE: Final = form(r">>> referenced by (?P<file>[^\s:()]{1,300}):{line}")
_REQUIRED_HERE: Final = form(rf"{_PLACE}:[ ]+(?:note: in instantiation of .{{1,600}} requested|required from) here$")
_SYSTEM_HEADERS: Final = (
    "/usr/include/", "/usr/lib/", "/usr/bin/../", "/usr/local/include/", "/opt/", "/Library/", "/Applications/",
)  # fmt: skip
_TELLING_NOTE: Final = form(
    r"(?:expected |include |candidate expects |  ?(?:no known|candidate expects)|suggested |did you "
    r"|use |Use |add |Add |replace |Hint|hint|Did you |Maybe |maybe |forward declaration|to match this "
    r"| {2,}(?:Expected|Got):| {5,}def |Following member)"
)
_PLACED_NOTE: Final = form(r"(?:previous|candidate:|.{1,80}(?:declared|defined|originally defined) here)")
_NUMBERED_RULE: Final = form(r"[A-Z]{1,6}[0-9]{2,6}$")
_IN_MACRO: Final = "in expansion of macro "
_MAX_BLOCK: Final = 60
"""Lines behind a diagnostic that are taken for its own."""

_MAX_EXPLANATION: Final = 12
_MAX_TOLD: Final = 8


class _Head(NamedTuple):
    """The line that states a diagnostic."""

    type: str
    message: str
    location: Location = NOWHERE
    severity: str = "error"
    column: str = ""


def read(text: Text) -> Facts | None:
    """Return the facts of diagnostics in one line each."""
    if (
        text.body.startswith("usage: ") or "\nusage: " in text.body
    ):  # A program that refuses its command line names itself as others name a file.
        return None
    return facts_of_diagnostics(text, FORMAT)


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the diagnostics, without those that others bring about."""
    found: list[Diagnostic] = []
    starts = _settle_severities(list(islice(_find_heads(lines), MAX_DIAGNOSTICS)))
    for number, (start, head) in enumerate(starts):
        if head.severity == "note":
            continue
        end, notes = _block_end(starts, number, len(lines))
        found.append(_make_diagnostic(head, lines[start + 1 : end], notes))
    causes = [diagnostic for diagnostic in found if not _CONSEQUENCES.search(diagnostic.message)]
    return causes if any(diagnostic.is_error for diagnostic in causes) else found


def _settle_severities(starts: list[tuple[int, _Head]]) -> list[tuple[int, _Head]]:
    # Return the heads, none of which is called an error that the compiler did not let stop it.
    if not any(head.severity == _WORTH_AN_ERROR for _, head in starts):
        return starts
    stopped = any(head.severity == "error" and head.type != LINK_ERROR for _, head in starts)
    severity = "warning" if stopped else "error"
    return [
        (start, head._replace(severity=severity) if head.severity == _WORTH_AN_ERROR else head)
        for start, head in starts
    ]


def _block_end(starts: Sequence[tuple[int, _Head]], number: int, length: int) -> tuple[int, list[_Head]]:
    # Return where the lines of a diagnostic end, and the notes that belong to it.
    notes: list[_Head] = []
    for start, head in starts[number + 1 :]:
        if head.severity != "note":
            length = start
            break
        notes.append(head)
    return min(length, starts[number][0] + 1 + _MAX_BLOCK), notes


# --- lines that state a diagnostic -----------------------------------------------------------------------------------


def _find_heads(lines: Lines) -> Iterator[tuple[int, _Head]]:
    function, caller = "", NOWHERE
    for number, line in enumerate(lines):
        if ":" not in line and " requires a " not in line:
            continue
        if line.endswith(":") and "n function `" in line:
            named = _IN_FUNCTION.match(line)
            function = named["function"] if named else ""
        elif line.endswith(" here"):
            found = _REQUIRED_HERE.match(line)
            caller = _read_location(found) if found else caller
        head = _read_head(line)
        if head is None:
            continue
        head = head._replace(column=_read_column(line, head.location.line))
        if head.type == LINK_ERROR and function and not head.location.function:
            head = head._replace(location=Location(function=function, file=head.location.file, line=head.location.line))
        if head.severity == "error" and caller and head.location.file.startswith(_SYSTEM_HEADERS):
            head = head._replace(location=caller)
        yield number, head


def _read_column(line: str, row: int | None) -> str:
    # Return the column that a line names behind its row, empty where it names none.
    found = _COLUMN.match(line.partition(f":{row}:")[2] or line.partition(f"({row},")[2])
    return found[0] if found else ""


def _read_head(line: str) -> _Head | None:
    # Return what a line states, if it has the form of one of the tools.
    for needles, wanted, reader in _FORMS if _POSITION.search(line) else _FORMS_WITHOUT_POSITION:
        for needle in needles:
            if needle in line:
                found = wanted.match(line)
                head = reader(found) if found else None
                if head is not None:
                    return head
                break
    return None


def _read_diagnostic(found: Found) -> _Head | None:
    # Read `main.c:3:5: error: message [code]`, with its severity in any of the usual places.
    if not any(mark in found["file"] for mark in "./\\<"):
        return None
    kind, message = _split_code(found["message"], found["rule"] or found["code"] or "")
    severity = _read_severity(found["severity"])
    if severity == "warning" and "[-Werror" in found["message"]:
        severity = "error"
    elif severity == "warning" and kind in _PROMOTED:
        severity = _WORTH_AN_ERROR
    elif severity == "note" and found["message"].endswith("]") and _NUMBERED_RULE.match(kind):
        severity = "warning"  # compilers give no codes to notes
    return _Head(kind or (COMPILE_ERROR if severity == "error" else severity), message, _read_location(found), severity)


def _read_go(found: Found) -> _Head:
    message = found["message"].removeprefix("error: ")
    named = _LINTER.search(message)
    linter = named["linter"] if named and named["linter"] != "typecheck" else ""
    return _Head(linter or COMPILE_ERROR, message[: named.start()] if named else message, _read_location(found))


def _read_annotation(found: Found) -> _Head:
    # Read an annotation for GitHub, whose message often has the form of the tool's own lines.
    severity = _read_severity(found["severity"])
    inner = _read_head(found["message"]) if not found["message"].startswith("::") else None
    if inner is not None:
        return inner._replace(severity=severity)
    fields = {field["name"]: field["value"] for field in _FIELD_OF_ANNOTATION.finditer(found["fields"] or "")}
    line = fields.get("line", "")
    at = place(fields.get("file", ""), line if line.isdecimal() else None)
    return _Head(fields.get("title", severity), found["message"], at, severity)


def _read_plain(found: Found, kind: str = COMPILE_ERROR) -> _Head:
    # Read a form whose groups say all of it.
    groups = found.groupdict("")
    severity = _read_severity(groups.get("severity") or "error")
    return _Head(groups.get("code") or kind, groups["message"], _read_location(found), severity)


def _read_project(found: Found) -> _Head:
    file = found["file"] or ""
    location = Location(file=file) if "." in file else NOWHERE
    return _Head(found["code"], _PROJECT.sub("", found["message"]), location, found["severity"])


def _read_file(found: Found) -> _Head:
    kind, message = _split_code(found["message"], "")
    return _Head(kind or COMPILE_ERROR, message, Location(file=found["file"]))


def _read_driver(found: Found) -> _Head:
    linking = "undefined symbol" in found["message"] or "duplicate symbol" in found["message"]
    return _Head(LINK_ERROR if linking else COMPILE_ERROR, found["message"])


def _read_linker(found: Found) -> _Head:
    # Read what a linker misses or has twice; an object that the compiler made for the moment is no place.
    file, message = found["file"] or "", found["message"]
    first = _DEFINED_FIRST.search(message)
    if first is not None:
        kept = "" if _TEMPORARY_OBJECT.match(first["file"]) else f"; first defined in {first['file']}"
        message = message[: first.start()] + kept
    return _Head(LINK_ERROR, message, NOWHERE if _TEMPORARY_OBJECT.match(file) else place(file, found["line"]))


def _read_dart(found: Found) -> _Head:
    at = place(found["file"] or found["place"], found["line"] or found["row"])
    severity = "error" if found["severity"] == "error" else "warning"
    return _Head(found["rule"], found["message"] or found["said"], at, severity)


def _read_apple(found: Found) -> _Head:
    return _Head(LINK_ERROR, f"undefined symbol: {found['symbol']}")


_Form = tuple[tuple[str, ...], re.Pattern[str], "Callable[[Found], _Head | None]"]

_FORMS_WITHOUT_POSITION: Final[tuple[_Form, ...]] = (
    (_LINKING, _OF_LINKER, _read_linker),
    (('", referenced from:',), _OF_APPLE, _read_apple),
    (("::error", "::warning"), _OF_ANNOTATION, _read_annotation),
    (("error ", "warning "), _OF_PROJECT, _read_project),
    ((".py: error: ", ".pyi: error: "), _OF_FILE, _read_file),
    ((".xcodeproj: error: ", " requires a ", "' were found: "), _OF_XCODE, partial(_read_plain, kind="XcodeError")),
    ((": error: ", ": fatal error: "), _OF_DRIVER, _read_driver),
)
"""What a line must hold to be tried, its form, and what reads it; the first one that reads it counts."""

_FORMS: Final[tuple[_Form, ...]] = (
    (("rror", "arning", ": note: ", " ERROR:", ": style: ", ": performance: "), _DIAGNOSTIC, _read_diagnostic),
    ((".go:", "go.mod:", "go.work:"), _OF_GO, _read_go),
    ((".py:", ".pyi:", ".pyx:", ".ipynb:"), _OF_PYTHON, _read_plain),
    (("e: ", "w: "), _OF_KOTLIN, _read_plain),
    (("[error] ", "[warn] "), _OF_SBT, _read_plain),
    (("-- ",), _OF_SCALA, _read_plain),
    ((" - ", " \u2022 "), _OF_DART, _read_dart),
    *_FORMS_WITHOUT_POSITION,
)
"""The forms of lines that hold a position, and then the others."""


def _read_location(found: Found) -> Location:
    groups = found.groupdict("")
    return place(groups["file"].removeprefix("file://"), groups.get("line") or groups.get("row"))


def _read_severity(word: str) -> str:
    word = word.lower()
    if word in {"error", "e"}:
        return "error"
    return "note" if word in {"note", "remark", "info", "information"} else "warning"


def _split_code(message: str, code: str) -> tuple[str, str]:
    # Return the code that a tool gives with a message, and the message without it.
    if code:
        return code, _PROJECT.sub("", message)
    found = _FLAG.search(message) or _RULE.search(message)
    if found is None:
        return "", message
    if "flag" in found.groupdict():
        return f"-W{found['flag']}", message[: found.start()]
    return (found["bracketed"] or found["check"]).partition(",")[0], message[: found.start()]


# --- what follows it -------------------------------------------------------------------------------------------------


def _make_diagnostic(head: _Head, block: Lines, notes: Sequence[_Head]) -> Diagnostic:
    explanation = _read_explanation(block)
    message, location = head.message, head.location
    if not message or message.startswith("["):
        message, explanation = _message_below(message, block), []
    elif message.endswith(":") and explanation:
        message, explanation = f"{message} {explanation[0]}", explanation[1:]
    terms = [f"{found['term']}: {found['what']}" for line in block if (found := _TERM.match(line))]
    if head.type == LINK_ERROR and not location:
        location, explanation = _user_of_symbol(block), []
    told = _join_titles([note for note in map(_write_note, notes) if note])
    kind = head.type
    if kind == COMPILE_ERROR and explanation:
        coded, explanation[-1] = _split_code(explanation[-1], "")
        kind = coded or kind
    elif kind == COMPILE_ERROR and location.file.endswith((".py", ".pyi")):
        kind, message = _join_wrapped_message(message, block)
    expanded = [note.location for note in notes if note.message.startswith(_IN_MACRO)]
    if expanded:
        location = expanded[-1]
    if location.file.startswith(_SYSTEM_HEADERS):
        callers = [note.location for note in notes if note.message.endswith(" requested here")]
        location = next((caller for caller in callers if not caller.file.startswith(_SYSTEM_HEADERS)), location)
    return Diagnostic(
        type=kind,
        message=_add_terms(message, terms),
        location=location,
        is_error=head.severity == "error",
        details=tuple((*_join_lines(explanation), *told)[:_MAX_TOLD]),
        source=_find_source(block, head.location.line),
        is_grave=head.severity == "warning" and kind in _PROMOTED,
        column=head.column,
    )


def _user_of_symbol(block: Lines) -> Location:
    for line in block:
        found = _REFERENCE.match(line)
        if found is not None:
            return place(*found.groups())
        used = _USED_BY.match(line)
        if used is not None:
            return Location(function=used["function"], file=used["file"])
    return NOWHERE


def _read_explanation(block: Lines) -> list[str]:
    # Return the indented lines right behind a diagnostic, unless they are the source line.
    indented = list(takewhile(lambda line: line[:1] in {" ", "\t", "\u00a0"} and line, block[:_MAX_EXPLANATION]))
    for number, line in enumerate(indented):
        below = block[number + 1] if number + 1 < len(block) else ""
        if _SOURCE.match(line) or _CARETS.match(line) or _CARETS.match(below) or _TERM.match(line) or _read_head(line):
            return [line.strip() for line in indented[:number]]
    return [line.strip() for line in indented]


def _join_wrapped_message(message: str, block: Lines) -> tuple[str, str]:
    lines = [message]
    for line in takewhile(lambda line: line and not line[0].isspace(), block[:4]):
        lines.append(line)
        code, whole = _split_code(" ".join(lines), "")
        if code:
            return code, whole
    return COMPILE_ERROR, message


def _join_lines(explanation: Lines) -> list[str]:
    # Return an explanation in the order in which its lines tell: of nested ones the innermost is the reason.
    if any(line.startswith(("have ", "want ")) for line in explanation):
        return ["; ".join(explanation)]
    return list(reversed(explanation))


def _message_below(code: str, block: Lines) -> str:
    # Return a message that stands below its place, as GHC and Scala 3 print it.
    lines = [line.removeprefix("[error] ") for line in block]
    beside = [line.partition("|")[2].strip() for line in lines if line.lstrip().startswith("|")]
    words = [line for line in beside if line and not _CARETS.match(line)] or [*map(str.strip, lines)]
    said = " ".join(takewhile(lambda line: line and not line.startswith("|"), words))
    return f"{code} {said}".strip() or "no message"


def _add_terms(message: str, terms: Lines) -> str:
    # Add what javac says below: a message like `cannot find symbol` says nothing without it.
    return f"{message.rstrip(';')}; {'; '.join(terms)}" if terms else message


def _join_titles(notes: Lines) -> list[str]:
    joined: list[str] = []
    for note in notes:
        if joined and joined[-1].endswith(":"):
            joined[-1] = f"{joined[-1]} {note.removeprefix('note: ')}"
        else:
            joined.append(note)
    return joined


def _write_note(note: _Head) -> str:
    if _TELLING_NOTE.match(note.message):
        return f"note: {note.message.strip()}"
    if note.location.file.startswith(_SYSTEM_HEADERS) or not _PLACED_NOTE.match(note.message):
        return ""
    return f"note: {note.message} at {note.location}"


def _find_source(block: Lines, number_of_line: int | None) -> str:
    # Return the line of code that is printed above the first row of carets, without the number before it.
    for number, line in enumerate(block[:8]):
        if number and _CARETS.match(line):
            above = block[number - 1]
            numbered = _SOURCE.match(above)
            return (numbered["source"] if numbered else above.removeprefix(f"{number_of_line} ")).strip()
    return ""


_MYPY: Final = Checker(
    harmless="--pretty --show-error-codes --no-color-output --no-incremental --no-error-summary --show-column-numbers",
    narrowing="--exclude",
    needs_target=True,
)

FORMAT: Final = Format(
    name="compilers",
    judges_code=True,
    read=read,
    markers=(
        "error:",
        " error ",
        "error TS",
        "warning: ",
        ".go:",
        ".py:",
        ".kt:",
        "ymbols for architecture",
        "::error ",
        ".dart:",
        " requires a development team",
        " requires a provisioning profile",
    ),
    commands=(
        Command("mypy", checks=_MYPY),
        Command("tsc", scopes="-p"),
        Command("swift", prints="compilers junit", subcommands="*"),
        Command("kotlinc", prints="compilers jvm"),
        Command("javac", prints="compilers maven", speaks="javac"),
        Command("dune, cabal, stack", subcommands="*"),
        Command("lua", interprets=True),
        Command(
            "gcc, g++, cc, c++, clang, clang++, ld, vue-tsc, pyright, basedpyright, swiftc, ghc, ocaml, ocamlc, elm",
            speaks="gcc cc1 clang ld",
        ),
    ),
    closings=(
        (
            r" {0,4}[^\s:]{1,300}:[0-9]{1,7}(?::[0-9]{1,7})?(?:: (?:fatal )?error(?:\[[^\]\n]{1,60}\])?"
            r"| - error(?: TS[0-9]{3,5})?): "
        ),
        r" {1,8}[0-9]{1,7}:[0-9]{1,7} {1,12}error {1,12}\S",
        r"[1-9][0-9]{0,6} errors?(?: generated\.)?$",
        r"Found [1-9][0-9]{0,6} errors?\b(?: in |\.)",
        r'File "[^"\n]{1,300}", line [0-9]{1,7}, characters [0-9-]{1,20}:',
        r"[^\s(]{1,300}\([0-9]{1,7}, ?[0-9]{1,5}\):? (?:fatal )?[Ee]rror",
        r"[^\s:]{1,300}:[0-9]{1,7}:[0-9]{1,5}: error:$",
        r"-- (?:\[E[0-9]{3}\] )?[\w ]{1,40}Error: ",
        r"(?:Syntax error (?:compiling|reading|macroexpanding) |Execution error )",
        r"lua(?:5\.[0-9])?: \S{1,300}:[0-9]{1,7}: ",
        r"\[FAIL[.:\]]",
        r"[0-9A-F]{8,20}:error:",
        (
            r" {0,4}(?:\S{0,200}/)?[\w.-]{1,100}\.(?:py|pyi|rb|sh|js|ts|tsx|jsx|yml|yaml|c|h|cc|cpp|md|tf|sql|toml"
            r"|lua|pp|erl|ex):[0-9]{1,7}:[0-9]{1,7}: (?:\[[EF]\]|[A-Z]{1,5}[0-9]{2,5}:?|[EFWC]: ) ?\S"
        ),
        r"(?:vet: )?[^\s:]{1,300}\.go:[0-9]{1,7}:[0-9]{1,7}: \S",
        (
            r"(?:/\S{1,100}/)?(?:\w[\w-]{0,30}-)?ld(?:\.\w{1,9})?: (?:[^\n]{0,400}undefined|cannot find"
            r"|[^\n]{0,300}error)"
        ),
        r"[^\n]{1,400}: undefined reference to ",
        r"Undefined symbols for architecture ",
        r"\[error\] (?:\(|stack trace|[Ff]ailed|[1-9][0-9]* errors?|/?\S{1,300}:[0-9]{1,7}:[0-9]{1,7}: )",
        r"(?:collect2|clang(?:\+\+)?|gcc|g\+\+|cc1(?:plus)?|ld|rust-lld|ld\.lld): (?:fatal )?error: ",
        r"[^\s:(]{1,300}\([0-9]{1,7},[0-9]{1,7}\): (?:fatal )?error ",
        r"error (?:TS[0-9]{3,5}|C[0-9]{4}|CS[0-9]{4}): ",
        r"[1-9][0-9]* errors?, [0-9]+ warnings?, [0-9]+ informations?\b",
        r" {0,4}error (?:- [^\s:]{1,300}:[0-9]{1,7}:[0-9]{1,7} - |\u2022 [^\n]{1,1000} \u2022 [^\s:]{1,300}:[0-9])",
    ),
    passes=(r"Success: no issues found", r"0 errors, ", r"Found 0 errors", r"No issues found!"),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=form(
            r"(?m)^(?:Found ({number}) errors?(?: in |\.|$)|({number}) errors? generated\."
            r"|({number}) errors?(?:, |$)| {4}({number}) Error\(s\)|({number}) errors? found$"
            r"|({number}) issues:$|ld: ({number}) duplicate symbols?\b)"
        ),
    ),
)
