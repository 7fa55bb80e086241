"""Diagnostics of compilers and linters, whose outputs are often glued together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Location
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.statements import last_statement
from otel_errcompact.extract.table import listings, load, patterns_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.format import Diagnostic, Diagnostics, Format, Text

COMPILE_ERROR: Final = "CompileError"
"""The type of a compiler's error that has no code of its own."""

LINK_ERROR: Final = "LinkError"

MAX_DIAGNOSTICS: Final = 1_000
"""Diagnostics of one tool that are looked at."""

_MAX_FOLDED: Final = 140
"""Characters of a detail that is told together with its error."""

_LITERAL_BREAK: Final = r"\n"

_REPEATED: Final = lazy_pattern(lambda: rf"\A(?:{patterns_of('margins')}) ")
"""What an installer or a builder of images puts before each line of the tool's output that it repeats."""

_BREAKING: Final = lazy_pattern(
    r"(?:E9[0-9]{2}|F82[0-3]|[EF][0-9]{4}|(?:invalid|parse)-syntax|SyntaxError|CompileError)$"
)
"""Types of diagnostics that keep the program from running, by the codes of Python's linters and our own."""


def facts_of_diagnostics(
    text: Text, of: Format, *, unit: str = "error", claimed: bool = False, with_warnings: bool = False
) -> Facts | None:
    """
    Return the facts of all diagnostics in a text.

    Hooks run several tools and glue their outputs together. The table tries the formats one after the other, so a
    format reads its own diagnostics and those of the formats behind it, and no text is read twice.

    A text is `claimed` if it is known to be of this format, also where another one finds what is in it. Nothing where
    its warnings are not what failed.
    """
    readers: list[Diagnostics] = []
    found: list[Diagnostic] = []
    counts: list[int] = []
    beside: list[Diagnostic] = []
    lines = _split_lines(text)
    for reader in _find_readers(of, text.body):
        own = reader.read(lines)
        if not own and not readers and not claimed:
            return None
        readers.append(reader)
        if own:
            counts.append(_read_total(reader, text.body))
            kept = _keep_errors(own)
            # What the tool counts once and the text repeats is one: another program has printed it again.
            found.extend(kept if counts[-1] >= len(kept) else dict.fromkeys(kept))
            beside.extend(each for each in own if (with_warnings or each.is_grave) and each not in kept)
    errors = _keep_errors(found)
    # Of a tool that only warns the warnings failed the hook, whatever another tool found.
    beside.extend(each for each in found if len(errors) < len(found) and each not in errors)
    found = errors
    if not found or (not found[0].is_error and last_statement(lines)):
        return None
    # A tool's own count says nothing of what others found in the same text.
    counted = counts[0] if len(counts) == 1 and not beside else 0
    total = max(len(found), counted)
    found.sort(key=lambda diagnostic: _BREAKING.match(diagnostic.type) is None)
    return facts_of_members(
        _make_members(found),
        unit=unit,
        total=total,
        more=(*_show_warnings(beside), *_find_remedies(readers, text.body)),
        first_is_root=True,
    )


def _find_readers(of: Format, body: str) -> Iterator[Diagnostics]:
    # Return the diagnostics of a format, and of those behind it in the table that the text may be of.
    names = [listing.name for listing in listings()]
    behind = (row for row in listings()[names.index(of.name) + 1 :] if row.has_diagnostics)
    likely = (load(row) for row in behind if any(marker in body for marker in row.markers))
    return filter(None, (found.diagnostics for found in (of, *likely)))


def place(file: str, line: str | None) -> Location:
    """Return a location as tools print it."""
    return Location(file=file, line=int(line) if line else None)


def _split_lines(text: Text) -> list[str]:
    # Return the lines; where a script has glued outputs together with line feeds it did not mean literally, theirs too.
    lines = [_REPEATED.sub("", line) for line in text.lines]
    if 2 * _LITERAL_BREAK not in text.body:
        return lines
    return "\n".join(lines).replace(_LITERAL_BREAK, "\n").split("\n")


def _keep_errors(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    # Return the errors, or all diagnostics where none is an error.
    return [diagnostic for diagnostic in diagnostics if diagnostic.is_error] or diagnostics


def _read_total(reader: Diagnostics, body: str) -> int:
    counts = reader.total.finditer(body) if reader.total else ()
    return max((int(found[found.lastindex]) for found in counts if found.lastindex), default=0)


def _show_warnings(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    for each in diagnostics:
        kind = each.type if each.type == "warning" else f"warning {each.type}"
        told = f"; {clip(each.details[0], _MAX_FOLDED)}" if each.details and each.is_grave else ""
        yield f"{kind} at {each.location}: {each.message}{told}"


def _find_remedies(readers: Sequence[Diagnostics], body: str) -> Iterator[str]:
    for reader in readers:
        found = reader.remedy.search(body) if reader.remedy else None
        if found is not None:
            yield found[1]


def _make_members(diagnostics: Sequence[Diagnostic]) -> list[Member]:
    # Return the diagnostics as members: the first with all its details, others with one in the same line.
    first = diagnostics[0].type, diagnostics[0].message
    alone = all((diagnostic.type, diagnostic.message) == first for diagnostic in diagnostics)
    return [
        _make_member(diagnostic, alone=alone)
        if (diagnostic.type, diagnostic.message) == first
        else _fold_member(diagnostic)
        for diagnostic in diagnostics
    ]


def _make_member(diagnostic: Diagnostic, *, alone: bool) -> Member:
    source = f"> {diagnostic.source}" if diagnostic.source and alone else ""
    return Member(diagnostic.type, diagnostic.message, diagnostic.location, details=(*diagnostic.details, source))


def _fold_member(diagnostic: Diagnostic) -> Member:
    if not diagnostic.details:
        return Member(diagnostic.type, diagnostic.message, diagnostic.location)
    told = f"{diagnostic.message.rstrip('.')}; {clip(diagnostic.details[0], _MAX_FOLDED)}"
    more = diagnostic.details[1:]
    return Member(diagnostic.type, told, diagnostic.location, details=more, key=diagnostic.message)
