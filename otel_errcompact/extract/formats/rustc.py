"""Diagnostics of rustc, clippy and cargo build, and of tools that print like them."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE
from otel_errcompact.extract.diagnostics import (
    COMPILE_ERROR,
    LINK_ERROR,
    MAX_DIAGNOSTICS,
    facts_of_diagnostics,
    place,
)
from otel_errcompact.extract.format import Diagnostic, Diagnostics, Format
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts, Location
    from otel_errcompact.extract.text import Text


_HEAD: Final = lazy_pattern(
    r"(?P<severity>error|warning)(?:\[(?P<code>[\w:-]{1,80})\])?: (?:internal compiler error: )?(?P<message>\S.*)"
)
_PLACE: Final = lazy_pattern(r" {0,8}--> (?P<file>.{1,400}?):(?P<line>[0-9]{1,9}):[0-9]{1,9}$")
_CONSEQUENCES: Final = (
    "aborting due to ",
    "could not compile ",
    "build failed",
    "Recipe ",
    "process didn't exit successfully",
)
_CODE: Final = lazy_pattern(r" *(?P<line>[0-9]{1,7}|\.\.\.)? *(?P<mark>[|+~-])(?: (?P<code>.*)|$)")
_LABEL: Final = lazy_pattern(r"(?P<marks>[ |_^~-]*[\^-]) +(?P<label>[^\s|^].*)")
_LINT: Final = lazy_pattern(r" *= note: .{0,60}?`(?:-[A-Z] |#\[[a-z]{4,6}\()(?P<lint>[\w:-]{3,80})")
_QUOTED: Final = lazy_pattern(r"`([^`]{1,200})`")
_TELLING_NOTE: Final = lazy_pattern(r"(?:expected |the following|required (?:by|for)|if `|in this expansion|candidate)")
_ADVICE: Final = ("help: for further information visit", "help: to override `-")
_LINKER: Final = lazy_pattern(r".*?(?P<message>(?:undefined reference to|cannot find|undefined symbol:?) .*)")
_GENERIC: Final = frozenset({"mismatched types"})
_MAX_BLOCK: Final = 80


def read(text: Text) -> Facts | None:
    """Return the facts of diagnostics that stand above an arrow to their place."""
    return facts_of_diagnostics(text, FORMAT)


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the diagnostics, without those that only count the others."""
    found = list(islice(_find_diagnostics(lines), MAX_DIAGNOSTICS))
    causes = [diagnostic for diagnostic in found if not diagnostic.message.startswith(_CONSEQUENCES)]
    return causes if any(diagnostic.is_error for diagnostic in causes) else found


def _find_diagnostics(lines: Sequence[str]) -> Iterator[Diagnostic]:
    heads = [
        (number, head)
        for number, line in enumerate(lines)
        if line.startswith(("error", "warning")) and (head := _HEAD.match(line))
    ]
    ends = (*(number for number, _ in heads[1:]), len(lines))
    for (start, head), end in zip(heads, ends, strict=False):
        diagnostic = _make_diagnostic(head, lines[start + 1 : min(end, start + _MAX_BLOCK)])
        if diagnostic is not None:
            yield diagnostic


def _make_diagnostic(head: re.Match[str], block: Sequence[str]) -> Diagnostic | None:
    """Return the diagnostic below `head`; nothing where the form is that of any program that reports an error."""
    severity, code, message = head.group("severity", "code", "message")
    located = next((found for line in block[:3] if (found := _PLACE.match(line))), None)
    if located is None and not code:
        return _read_without_place(message, block)
    label, others = _labels(block)
    if label.startswith("help: "):
        others.insert(0, label)
    elif message in _GENERIC or _is_news(label, message):
        message = f"{message}: {label}".removesuffix(": ")
    line = located["line"] if located else ""
    return Diagnostic(
        type=code or _lint(block) or (COMPILE_ERROR if severity == "error" else severity),
        message=message,
        location=_place_of(located),
        is_error=severity == "error",
        details=tuple(_details(block, others, message, line))[:4],
        source=_source(block),
    )


def _read_without_place(message: str, block: Sequence[str]) -> Diagnostic | None:
    """Return an error of the linker, or one that only counts others."""
    if message.startswith("linking with "):
        missing = [found["message"] for line in block if (found := _LINKER.match(line))]
        missing = list(dict.fromkeys(missing))
        return Diagnostic(LINK_ERROR, missing[0] if missing else message, details=tuple(missing[1:4]))
    return Diagnostic(COMPILE_ERROR, message) if message.startswith(_CONSEQUENCES[:2]) else None


def _place_of(located: re.Match[str] | None) -> Location:
    return place(located["file"], located["line"]) if located else NOWHERE


def _lint(block: Sequence[str]) -> str:
    """Return the name of the lint that a warning, or an error made of one, belongs to."""
    return next((found["lint"] for line in block if (found := _LINT.match(line))), "")


# --- the lines below a diagnostic ------------------------------------------------------------------------------------


def _cut_own_part(block: Sequence[str]) -> list[str]:
    """Return the lines up to the first note or help, which show code of their own."""
    return list(takewhile(lambda line: not line.startswith(("note:", "help:")) and line.strip(), block))


def _labels(block: Sequence[str]) -> tuple[str, list[str]]:
    """Return what is said at the place of a diagnostic, and what is said at others, each with its line."""
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
    """Tell whether a label names something that the message does not."""
    return any(name not in message for name in _QUOTED.findall(label))


def _details(block: Sequence[str], labels: Sequence[str], message: str, at: str) -> Iterator[str]:
    """Yield what helps to mend it: the compiler's own proposals first."""
    notes: list[str] = []
    for number, line in enumerate(block):
        said = line.strip().removeprefix("= ")
        if said.startswith("help: ") and not said.startswith(_ADVICE):
            yield _add_code(said, block[number + 1 :], at)
        elif said.startswith("note: expected "):
            below = block[number + 1].strip() if number + 1 < len(block) else ""
            notes.append(f"{said}, {below}" if below.startswith("found ") else said)
        elif said.startswith("note: ") and _TELLING_NOTE.match(said, 6) and said[6:] not in message:
            notes.append(said)
    yield from (label for label in labels if "`" not in label or _is_news(label, message))
    yield from notes


def _add_code(help_line: str, below: Sequence[str], at: str) -> str:
    """Return the line of code that a proposal comes to, or its words where it shows none."""
    for line in takewhile(lambda line: not line.lstrip().startswith(("help:", "note:", "= ")) and line, below):
        found = _CODE.match(line)
        if found and found["line"] and found["mark"] != "-" and (found["code"] or "").strip():
            elsewhere = "" if found["line"] == at else f", line {found['line']}"
            return f"help{elsewhere}: {found['code'].strip()}"
    return help_line


def _source(block: Sequence[str]) -> str:
    """Return the line of code above the first carets."""
    code = ""
    for line in _cut_own_part(block):
        found = _CODE.match(line)
        if found and found["line"]:
            code = found["code"] or ""
        elif found and "^" in line:
            return code.strip()
    return ""


FORMAT: Final = Format(
    name="rustc",
    read=read,
    markers=("--> ", "error[E", "error: could not compile ", "error: linking with "),
    programs=("rustc", "cargo"),
    closings=(
        r"error: [^\n]{1,500}\n {1,6}--> ",
        r"error\[E[0-9]{4}\]: ",
    ),
    passes=(r" {3,12}Finished `?\w+",),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=lazy_pattern(
            r"(?m)^error: (?:aborting due to (?:([0-9]{1,6}) )?previous error|could not compile .{1,200} due to "
            r"(?:([0-9]{1,6}) )?previous error)"
        ),
    ),
)
