"""Errors of programs that pulumi and systemd run, as these tell them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import member_of_output
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text

_DIAGNOSTICS: Final = "\nDiagnostics:\n"
_RESOURCE: Final = lazy_pattern(
    r"(?m)^ {2}(?P<name>[\w-]{1,100}:\S{1,200} \([^\n]{1,200}\)):(?P<said>(?:\n(?: {3}[^\n]{0,2000})?$){1,400})"
)
_COUNT: Final = lazy_pattern(r"[0-9]{1,4} errors? occurred: \* ")
_UNIT: Final = lazy_pattern(r"(?:\S )?(?P<unit>[\w@.:\\-]{1,200}\.(?:service|socket|timer|mount|path))(?: - |$)")
_ENDED: Final = lazy_pattern(r" {1,8}Active: (?:failed|activating)\b.{0,40}?\(Result: (?P<result>[\w-]{1,40})\)")
_PROCESS: Final = lazy_pattern(
    r" {1,8}Process: [0-9]{1,10} (?P<command>Exec\w{1,20}=.{1,400}?) \(code=(?!exited, status=0/)(?P<how>[^)]{1,80})"
)
_JOURNAL: Final = lazy_pattern(
    r" {0,4}(?:\w{3,5}\.? [ 0-9]{1,2} |[0-9-]{10}T)[0-9:]{8}\S{0,16} \S{1,200} (?!systemd\[1\])[^\s:]{1,100}: "
    r"(?P<said>.*)"
)


def read(text: Text) -> Facts | None:
    """Return the facts of the resources or units that failed."""
    members = [*_resources(f"\n{text.body}"), *_units(text.lines)]
    return facts_of_members(members, unit="resource or unit") if members else None


def _resources(body: str) -> Iterator[Member]:
    for found in _RESOURCE.finditer(body.rpartition(_DIAGNOSTICS)[2] if _DIAGNOSTICS in body else ""):
        for said in found["said"].split("\n    error: ")[1:]:
            first, _, more = said.partition("\n")
            if first.endswith("unhandled exception:"):
                yield member_of_output(more.split("\n"), found["name"], f"{found['name']}: {first}", "PulumiError")
            elif said.split()[1:] != ["failed"]:  # which the stack says of the others
                yield Member("PulumiError", clip(_COUNT.sub("", " ".join(said.split()))), name=found["name"])


def _units(lines: Sequence[str]) -> Iterator[Member]:
    starts = [(number, found["unit"]) for number, line in enumerate(lines) if (found := _UNIT.match(line))]
    for (start, unit), (end, _) in pairwise((*starts, (len(lines), ""))):
        block = lines[start:end]
        result = next((found["result"] for found in map(_ENDED.match, block) if found), "")
        if result:
            process = (f", {found['command']}: {found['how']}" for found in map(_PROCESS.match, block) if found)
            said = [found["said"] for found in map(_JOURNAL.match, block) if found]
            yield member_of_output(said, unit, f"{unit}: {result}{next(process, '')}", "UnitFailed")


FORMAT: Final = Format(
    name="supervisors",
    read=read,
    markers=("Diagnostics:\n", "(Result: "),
    programs=("pulumi",),
    closings=(
        r"error: \S",
        r" {2}pulumi:pulumi:Stack \([^\n]{1,200}\):\n {4}error: (?:\w{1,20} failed|[^\n]{1,300} exception:)$",
    ),
)
