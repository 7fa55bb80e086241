"""Errors of programs that pulumi and systemd run, as these tell them."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Lines,
    Members,
    Text,
    clip,
    find,
    find_all,
    find_blocks,
    form,
)
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import member_of_output

_DIAGNOSTICS: Final = "\nDiagnostics:\n"
_RESOURCE: Final = form(
    r"(?m)^ {2}(?P<name>[\w-]{1,100}:{word} \([^\n]{1,200}\)):(?P<said>(?:\n(?: {3}[^\n]{0,2000})?$){1,400})"
)
_COUNT: Final = form(r"{number} errors? occurred: \* ")
_UNIT: Final = form(r"(?:\S )?(?P<unit>[\w@.:\\-]{1,200}\.(?:service|socket|timer|mount|path))(?: - |$)")
_ENDED: Final = form(r" {1,8}Active: (?:failed|activating)\b.{0,40}?\(Result: (?P<result>[\w-]{1,40})\)")
_PROCESS: Final = form(
    r" {1,8}Process: {number} (?P<command>Exec\w{1,20}=.{1,400}?) \(code=(?!exited, status=0/)(?P<how>[^)]{1,80})"
)
_JOURNAL: Final = form(
    r" {0,4}(?:\w{3,5}\.? [ 0-9]{1,2} |[0-9-]{10}T)[0-9:]{8}\S{0,16} {word} (?!systemd\[1\])[^\s:]{1,100}: (?P<said>.*)"
)


def read(text: Text) -> Facts | None:
    """Return the facts of the resources or units that failed."""
    members = [*_read_resources(f"\n{text.body}"), *_read_units(text.lines)]
    return facts_of_members(members, unit="resource or unit")


def _read_resources(body: str) -> Members:
    for found in _RESOURCE.finditer(body.rpartition(_DIAGNOSTICS)[2] if _DIAGNOSTICS in body else ""):
        for said in found["said"].split("\n    error: ")[1:]:
            first, _, more = said.partition("\n")
            if first.endswith("unhandled exception:"):
                yield member_of_output(more.split("\n"), found["name"], f"{found['name']}: {first}", "PulumiError")
            elif said.split()[1:] != ["failed"]:  # which the stack says of the others
                yield Member("PulumiError", clip(_COUNT.sub("", " ".join(said.split()))), name=found["name"])


def _read_units(lines: Lines) -> Members:
    for head, block, _ in find_blocks(lines, _UNIT):
        ended, process = find(_ENDED, block), find(_PROCESS, block)
        if ended is not None:
            said = [found["said"] for found in find_all(_JOURNAL, block)]
            how = f", {process['command']}: {process['how']}" if process else ""
            yield member_of_output(said, head["unit"], f"{head['unit']}: {ended['result']}{how}", "UnitFailed")


FORMAT: Final = Format(
    name="supervisors",
    read=read,
    markers=("Diagnostics:\n", "(Result: "),
    commands=(Command("pulumi", subcommands="*"),),
    closings=(
        r"error: \S",
        r" {2}pulumi:pulumi:Stack \([^\n]{1,200}\):\n {4}error: (?:\w{1,20} failed|[^\n]{1,300} exception:)$",
    ),
)
