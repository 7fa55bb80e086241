"""What compilers and linters find: the errors of one tool, or of several whose outputs stand in one text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import Location
from otel_errcompact.extract.clipping import CUT, clip
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.statements import last_statement
from otel_errcompact.extract.table import listings, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.format import Diagnostic, Diagnostics, Format
    from otel_errcompact.extract.text import Text

COMPILE_ERROR: Final = "CompileError"
"""The type of a compiler's error that has no code of its own."""

LINK_ERROR: Final = "LinkError"

MAX_DIAGNOSTICS: Final = 1_000
"""Diagnostics of one tool that are looked at."""

_MAX_FOLDED: Final = 140
"""Characters of a detail that is told together with its error."""

_LITERAL_BREAK: Final = r"\n"

_REPEATED: Final = re.compile(r"(?m)^(?:npm (?:error|ERR!) |#[0-9]{1,4} [0-9]{1,6}\.[0-9]{1,6} )")
"""What an installer or a builder of images puts before each line of the tool's output that it repeats."""

_BREAKING: Final = re.compile(
    r"(?:E9[0-9]{2}|F82[0-3]|[EF][0-9]{4}|(?:invalid|parse)-syntax|SyntaxError|CompileError)$"
)
"""Types of findings without whose mending the program cannot run, by the codes of Python's linters and our own."""


def facts_of_diagnostics(
    text: Text,
    of: Format,
    *,
    unit: str = "error",
    claimed: bool = False,
) -> Facts | None:
    """
    Return the facts of a text in which a format finds diagnostics; what others find is added.

    Hooks run several tools and glue their outputs together. The table tries the formats one after the other, so a
    format reads its own diagnostics and those of the formats behind it, and no text is read twice.

    Args:
        text: The text.
        of: The format.
        unit: What a diagnostic is, in the singular.
        claimed: Whether the text is known to be of this format, also where another one finds what is in it.

    Returns:
        The facts, or nothing where the text is of another format or its warnings are not what failed.
    """
    readers: list[Diagnostics] = []
    found: list[Diagnostic] = []
    counts: list[int] = []
    lines = _lines_of(text)
    for reader in _readers(of, text.body):
        own = reader.read(lines)
        if not own and not readers and not claimed:
            return None
        readers.append(reader)
        if own:
            found.extend(dict.fromkeys(_serious(own)))
            counts.append(_counted(reader, text.body))
    found = _serious(found)
    if not found or (not found[0].is_error and last_statement(lines)):
        return None
    # A tool's own count says nothing of what others found in the same text.
    total = max(len(found), counts[0] if len(counts) == 1 else 0)
    left = total - len(found)
    found.sort(key=lambda diagnostic: _BREAKING.match(diagnostic.type) is None)
    return facts_of_members(
        _members(found),
        unit=unit,
        total=total,
        more=(*_remedies(readers, text.body), f"{CUT} {left} more not in the text" if left > 0 else ""),
        first_is_root=True,
    )


def _readers(of: Format, body: str) -> Iterator[Diagnostics]:
    """Return the diagnostics of a format, and of those behind it in the table that the text may be of."""
    names = [listing.name for listing in listings()]
    behind = (row for row in listings()[names.index(of.name) + 1 :] if row.has_diagnostics)
    likely = (load(row) for row in behind if any(marker in body for marker in row.markers))
    return filter(None, (found.diagnostics for found in (of, *likely)))


def place(file: str, line: str | None) -> Location:
    """Return a location as tools print it."""
    return Location(file=file, line=int(line) if line else None)


def _lines_of(text: Text) -> list[str]:
    """
    Return the lines; where a script has glued outputs together with line feeds it did not mean literally, theirs too.
    """
    lines = text.lines
    if ("npm " in text.body or "\n#" in text.body) and _REPEATED.search(text.body):
        lines = [_REPEATED.sub("", line, count=1) for line in lines]
    if 2 * _LITERAL_BREAK not in text.body:
        return lines
    return "\n".join(lines).replace(_LITERAL_BREAK, "\n").split("\n")


def _serious(findings: list[Diagnostic]) -> list[Diagnostic]:
    """Return the errors, or all findings where none is an error."""
    return [finding for finding in findings if finding.is_error] or findings


def _counted(reader: Diagnostics, body: str) -> int:
    return max((int(found[found.lastindex]) for found in reader.total.finditer(body) if found.lastindex), default=0)


def _remedies(readers: Sequence[Diagnostics], body: str) -> Iterator[str]:
    for reader in readers:
        found = reader.remedy.search(body) if reader.remedy else None
        if found is not None:
            yield found[1]


def _members(findings: Sequence[Diagnostic]) -> list[Member]:
    """
    Return the findings as members: the details of the first one with it, those of others told in one line with theirs.
    """
    first = findings[0].type, findings[0].message
    alone = all((finding.type, finding.message) == first for finding in findings)
    return [
        _whole(finding, alone=alone) if (finding.type, finding.message) == first else _folded(finding)
        for finding in findings
    ]


def _whole(finding: Diagnostic, *, alone: bool) -> Member:
    source = f"> {finding.source}" if finding.source and alone else ""
    kept = finding.details if alone else finding.details[:2]
    return Member(finding.type, finding.message, finding.location, details=(*kept, source))


def _folded(finding: Diagnostic) -> Member:
    if not finding.details:
        return Member(finding.type, finding.message, finding.location)
    told = f"{finding.message.rstrip('.')}; {clip(finding.details[0], _MAX_FOLDED)}"
    return Member(finding.type, told, finding.location, key=finding.message)
