"""Diagnostics of rustc, clippy and cargo build, and of tools that print like them."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.diagnostics import COMPILE_ERROR, LINK_ERROR, MAX_DIAGNOSTICS, facts_of_diagnostics
from otel_errcompact.extract.format import Diagnostic, Diagnostics
from otel_errcompact.extract.grammar import Command, Format, Found, Lines, find, find_blocks, form, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD: Final = form(
    r"(?P<severity>error|warning)(?:\[(?P<code>[\w:-]{1,80})\])?: (?:internal compiler error: )?{message}"
)
_PLACE: Final = form(r" {0,8}--> (?P<file>.{1,400}?):{line}:{number}$")
_CONSEQUENCES: Final = (
    "aborting due to ", "could not compile ", "build failed", "Recipe ", "process didn't exit successfully",
)  # fmt: skip
_CODE: Final = form(r" *(?P<line>{number}|\.\.\.)? *(?P<mark>[|+~-])(?: (?P<code>.*)|$)")
_LABEL: Final = form(r"(?P<marks>[ |_^~-]*[\^-]) +(?P<label>[^\s|^].*)")
_LINT: Final = form(r" *= note: .{0,60}?`(?:-[A-Z] |#\[[a-z]{4,6}\()(?P<lint>[\w:-]{3,80})")
_QUOTED: Final = form(r"`([^`]{1,200})`")
_TELLING_NOTE: Final = form(r"(?:expected |the following|required (?:by|for)|if `|in this expansion|candidate)")
_ADVICE: Final = ("help: for further information visit", "help: to override `-")
_LINKER: Final = form(r".*?(?P<message>(?:undefined reference to|cannot find|undefined symbol:?) .*)")
_GENERIC: Final = frozenset({"mismatched types"})
_MAX_BLOCK: Final = 80


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the diagnostics, without those that only count the others."""
    found = list(islice(_find_diagnostics(lines), MAX_DIAGNOSTICS))
    causes = [diagnostic for diagnostic in found if not diagnostic.message.startswith(_CONSEQUENCES)]
    return causes if any(diagnostic.is_error for diagnostic in causes) else found


def _find_diagnostics(lines: Lines) -> Iterator[Diagnostic]:
    for head, block, _ in find_blocks(lines, _HEAD, most=_MAX_BLOCK, limit=MAX_DIAGNOSTICS):
        diagnostic = _make_diagnostic(head, block)
        if diagnostic is not None:
            yield diagnostic


def _make_diagnostic(head: Found, block: Lines) -> Diagnostic | None:
    # Return the diagnostic below `head`; nothing where the form is that of any program that reports an error.
    severity, code, message = head.group("severity", "code", "message")
    located = find(_PLACE, block[:3])
    if located is None and not code:
        return _read_without_place(message, block)
    label, others = _read_labels(block)
    if label.startswith("help: "):
        others.insert(0, label)
    elif message in _GENERIC or _is_news(label, message):
        message = f"{message}: {label}".removesuffix(": ")
    line = located["line"] if located else ""
    return Diagnostic(
        type=code or _find_lint(block) or (COMPILE_ERROR if severity == "error" else severity),
        message=message,
        location=place_of(located),
        is_error=severity == "error",
        details=tuple(_list_details(block, others, message, line))[:4],
        source=_find_source(block),
    )


def _read_without_place(message: str, block: Lines) -> Diagnostic | None:
    # Return an error of the linker, or one that only counts others.
    if message.startswith("linking with "):
        missing = [found["message"] for line in block if (found := _LINKER.match(line))]
        missing = list(dict.fromkeys(missing))
        return Diagnostic(LINK_ERROR, missing[0] if missing else message, details=tuple(missing[1:4]))
    return Diagnostic(COMPILE_ERROR, message) if message.startswith(_CONSEQUENCES[:2]) else None


def _find_lint(block: Lines) -> str:
    return next((found["lint"] for line in block if (found := _LINT.match(line))), "")


# --- the lines below a diagnostic ------------------------------------------------------------------------------------


def _cut_own_part(block: Lines) -> list[str]:
    # Return the lines up to the first note or help, which show code of their own.
    return list(takewhile(lambda line: not line.startswith(("note:", "help:")) and line.strip(), block))


def _read_labels(block: Lines) -> tuple[str, list[str]]:
    first, number = "", ""
    others: list[str] = []
    for line in _cut_own_part(block):
        found = _CODE.match(line)
        if found is None:
            continue
        if found["line"]:
            number = found["line"]
            continue
        marked = _LABEL.match(found["code"] or "")
        if marked is None:
            continue
        if marked["marks"].endswith("^") and not first:
            first = marked["label"]
        else:
            others.append(f"line {number}: {marked['label']}" if number.isdigit() else marked["label"])
    return first, others


def _is_news(label: str, message: str) -> bool:
    return any(name not in message for name in _QUOTED.findall(label))


def _list_details(block: Lines, labels: Lines, message: str, at: str) -> Iterator[str]:
    # Yield what helps to mend it: the compiler's own proposals first.
    notes: list[str] = []
    for number, line in enumerate(block):
        said = line.strip().removeprefix("= ")
        if said.startswith("help: ") and not said.startswith(_ADVICE):
            yield _add_code(said, block[number + 1 :], at)
        elif said.startswith("note: expected "):
            below = block[number + 1].strip() if number + 1 < len(block) else ""
            notes.append(
                f"{said}, {below}" if below.startswith("found ") else f"{said}{_write_place(block[number + 1 :])}"
            )
        elif said.startswith("note: ") and _TELLING_NOTE.match(said, 6) and said[6:] not in message:
            notes.append(f"{said}{_write_place(block[number + 1 :])}")
    yield from (label for label in labels if "`" not in label or _is_news(label, message))
    yield from notes


def _write_place(below: Lines) -> str:
    found = _PLACE.match(below[0]) if below else None
    if found is None:
        return ""
    code = next((code["code"] for line in below[1:4] if (code := _CODE.match(line)) and code["line"]), "")
    return f" at {found['file']}:{found['line']}: {(code or '').strip()}".rstrip(": ")


def _add_code(help_line: str, below: Lines, at: str) -> str:
    # Return the line of code that a proposal comes to, or its words where it shows none.
    for line in takewhile(lambda line: not line.lstrip().startswith(("help:", "note:", "= ")) and line, below):
        found = _CODE.match(line)
        if found and found["line"] and found["mark"] != "-" and (found["code"] or "").strip():
            elsewhere = "" if found["line"] == at else f", line {found['line']}"
            return f"help{elsewhere}: {found['code'].strip()}"
    return help_line


def _find_source(block: Lines) -> str:
    code = ""
    for line in _cut_own_part(block):
        found = _CODE.match(line)
        if found and found["line"]:
            code = found["code"] or ""
        elif found and "^" in line:
            return code.strip()
    return ""


FORMAT: Final[Format] = Format(
    name="rustc",
    judges_code=True,
    read=lambda text: facts_of_diagnostics(text, FORMAT),
    markers=("--> ", "error[E", "error: could not compile ", "error: linking with "),
    commands=(Command("rustc", speaks="rustc"),),
    closings=(r"error: [^\n]{1,500}\n {1,6}--> ", r"error\[E[0-9]{4}\]: "),
    passes=(r" {3,12}Finished `?\w+",),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=form(
            r"(?m)^error: (?:aborting due to (?:({number}) )?previous error|could not compile .{1,200} due to "
            r"(?:({number}) )?previous error)"
        ),
    ),
)
