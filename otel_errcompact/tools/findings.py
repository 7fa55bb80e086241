"""Findings of compilers and linters that no other format knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.diagnostics import facts_of_diagnostics
from otel_errcompact.extract.findings.listing import Finding, read_findings
from otel_errcompact.extract.grammar import Command, Diagnostic, Diagnostics, Facts, Format, Text, form
from otel_errcompact.extract.statements import is_telling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHARE_OF_A_LIST: Final = 0.6
"""Lines of a text that are findings where these say neither severity nor rule."""

_BEGINS_WITH_PLACE: Final = form(r"[^\s:()]{1,300}(?::{number}){1,2}: \S")
_PLACES: Final = (
    form(r"[:(](?<=[\w\])>].)[0-9]"),
    form(r"\n *{number}[ :|]"),
    form(r"line(?<!\w....):? ?[0-9]"),
    form(r" \|(?<=[0-9]..)"),
)
"""Each begins with what few characters are, and looks back from there: so it is searched for at the speed of C."""


def read(text: Text) -> Facts | None:
    """Return the facts of the findings that a text lists."""
    if not names_place(text.body):
        return None
    return facts_of_diagnostics(text, FORMAT, unit="finding", with_warnings=True)


def names_place(body: str) -> bool:
    """Tell for little whether a text may name a place, as each finding does."""
    body = f"\n{body}"
    return any(place.search(body) is not None for place in _PLACES)


def read_diagnostics(lines: list[str]) -> list[Diagnostic]:
    """Return the findings, if at least one is surely a linter's."""
    found = [finding for finding in read_findings(lines) if finding.said.severity != "remark" or finding.said.code]
    if any(finding.said.is_sure for finding in found):
        return list(_join_spans(found))
    rows = sum(_BEGINS_WITH_PLACE.match(line) is not None for line in lines) if len(found) > 1 else 0
    is_list = rows > 1 and sum(map(bool, lines)) * _SHARE_OF_A_LIST <= rows
    if is_list or any(is_telling(finding.said.message) for finding in found):
        return [_build_diagnostic(finding) for finding in found]
    return []


def _join_spans(found: Sequence[Finding]) -> Iterator[Diagnostic]:
    # What says neither severity nor rule among findings that do is a second place of the one before.
    before: Finding | None = None
    spans: list[str] = []
    for finding in found:
        if finding.said.is_sure:
            if before is not None:
                yield _build_diagnostic(before)._replace(details=tuple(spans))
            before, spans = finding, []
        else:
            spans.append(f"note: {finding.said.message} at {finding.location}")
    yield from [_build_diagnostic(before)._replace(details=tuple(spans))] if before is not None else []


def _build_diagnostic(finding: Finding) -> Diagnostic:
    said = finding.said
    return Diagnostic(
        said.code or said.severity or "error",
        said.message,
        finding.location,
        said.severity not in ("warning", "remark"),
        source=finding.source,
    )


FORMAT: Final = Format(
    name="findings",
    read=read,
    markers=(":", "line ", "Line ", "|"),
    commands=(
        Command("golangci-lint", subcommands="run fmt"),
        Command("hadolint, shellcheck, swiftlint, ktlint, detekt, phpstan, psalm, credo, yamllint, sqlfluff"),
        Command("rustfmt, actionlint"),
    ),
    closings=(
        r"[1-9][0-9]{0,6} issues:$",
        r"level=error msg=\"(?:\[linters_context\]|Running error:|Timeout exceeded)|The command is terminated due to",
        r"\S{1,300}:[0-9]{1,7} (?:DL[34]|SC[12])[0-9]{3} ",
        r"[1-9][0-9]* issue\(s\) found",
        r"(?:Done linting! )?Found [1-9][0-9]* (?:violations|problems|issues)",
        (
            r"(?: ?\[ERROR\] Found [1-9]|FOUND [1-9][0-9]* ERRORS?|Failed: [1-9][0-9]* failure"
            r"|[^\n]{0,100}Issues found: [1-9])"
        ),
        r"Diff in \S{1,300}(?: at line |:)[0-9]",
        r"[^\n]{1,80}\.{3,}Failed$",
        r"L: {1,6}[0-9]{1,6} \| P: {1,6}[0-9]",
        (
            r"\S{1,300}\.(?:py|kt|js|ts|sh|rb|c|cpp|yml|yaml|swift|java|tsx"
            r"|jsx):[0-9]{1,7}:[0-9]{1,5}: [^\n]{1,300} (?:\([a-z][\w:/-]{2,40}\)|\[(?:SC[0-9]{4}|[a-z][\w-]{2,40}"
            r"|Error/\S{1,60})\])$"
        ),
        r"In [^\s:]{1,300} line [0-9]{1,7}:\n[^\n]{0,1000}\n *\^-",
    ),
    passes=(r"(?<!\"\n)0 issues\.?$",),
    diagnostics=Diagnostics(
        read=read_diagnostics,
        total=form(r"(?m)^\W{0,4}(?:[Ff]ound )?({number}) (?:errors?|problems?|issues?|findings?)\b"),
        is_shared=False,
    ),
)
