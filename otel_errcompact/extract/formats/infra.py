"""Errors of kubectl, helm, terraform, ansible and the tools of clouds."""

from __future__ import annotations

import json
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.format import Format, split_names
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.extract.statements import StatementTable
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from otel_errcompact.extract.text import Text


_KUBECTL: Final = StatementTable(
    ("", r"Error from server \((?P<type>\w{1,60})\): (?P<message>.{1,1000})"),
    ("ServerError", r"Error from server(?: \([^)]{1,80}\))?: (?P<message>.{1,1000})"),
    ("ECONNREFUSED", r"(?P<message>The connection to the server \S{1,300} was refused)"),
    ("ServerUnreachable", r"(?P<message>Unable to connect to the server: .{1,600})"),
    (
        "KubectlError",
        (
            r"error: (?P<message>(?:You must be logged in|the server doesn't have a resource type"
            r"|error parsing .{1,300}|unable to recognize|no matches for kind|error validating|context \""
            r"|no context exists|the path \".{1,300}\" does|resource mapping not found"
            r"|timed out waiting for the condition|unable to upgrade connection|unable to forward port).{0,600})"
        ),
    ),
    ("KubectlError", r"Error in configuration: (?P<message>.{1,600})"),
    ("Invalid", r"(?P<message>The \w{1,60} \"[^\"]{1,300}\" is invalid:.{0,1000})"),
    ("", r"ERROR: \(gcloud[\w.-]{0,100}\) (?P<type>[A-Z_]{5,40}|[A-Z]\w{1,40}Error): (?P<message>.{1,1000})"),
    ("GcloudError", r"ERROR: \(gcloud[\w.-]{0,100}\) (?P<message>.{1,1000})"),
    ("", r"ERROR: \((?P<type>[A-Z]\w{2,80})\) (?P<message>.{1,1000})"),
    (
        "HelmError",
        (
            r"Error: (?P<message>(?:INSTALLATION|UPGRADE|UNINSTALL|ROLLBACK) FAILED: .{1,1000}"
            r"|failed to download \"|chart \".{1,300}\" .{0,300}|repo .{1,100} not found"
            r"|Kubernetes cluster unreachable: .{1,600}|Chart\.ya?ml file is missing|release: not found)"
        ),
    ),
)
_TITLE: Final = lazy_pattern(r"Error: (?P<title>\S.{0,400})$")
_ON: Final = lazy_pattern(r"  on (?P<file>[^\n]{1,300}?) line (?P<line>[0-9]{1,9})(?:, in (?P<block>.{1,300}))?:$")
_WITH: Final = lazy_pattern(r"  with (?P<address>\S{1,300}),$")
_SOURCE: Final = lazy_pattern(r" {1,8}[0-9]{1,9}: (?P<source>.*)")
_FIELD: Final = lazy_pattern(r" {2,4}[A-Z]\w{1,20}: {1,20}\S")
_MARGIN: Final = "\u2502"
_CORNERS: Final = ("\u2577", "\u2575")
_SIGNS_OF_DIAGNOSTICS: Final = ("  on ", "  with ", _MARGIN, _CORNERS[0])
_ANSIBLE: Final = lazy_pattern(r"fatal: \[(?P<host>[^\]]{1,200})\]: (?P<outcome>[A-Z]{1,20})! => (?P<result>\{.*)")
_TASK: Final = lazy_pattern(r"TASK \[(?P<task>[^\]]{1,300})\]")


def read(text: Text) -> Facts | None:
    """Return the facts of what a tool of infrastructure as code, or the cluster behind it, refused."""
    lines = text.lines
    return _kubectl(lines) or _terraform(lines, text.body) or _ansible(lines, text.body)


def _kubectl(lines: Sequence[str]) -> Facts | None:
    """Read the errors of kubectl and helm, one line each."""
    members = [
        member
        for number, line in enumerate(lines)
        if line[:1] in ("E", "e", "T", "U") and (member := _refusal(line, lines[number + 1 :]))
    ]
    return facts_of_members(members, unit="error", first_is_root=True) if members else None


def _refusal(line: str, after: Sequence[str]) -> Member | None:
    stated = _KUBECTL.read(line)
    if stated is None:
        return None
    listed = takewhile(lambda line: line.startswith(("* ", "- ", " - ")), after) if line.rstrip().endswith(":") else ()
    message = " ".join((stated.message.rstrip(), "; ".join(entry.lstrip(" -*") for entry in listed))).rstrip()
    return Member(stated.type, clip(strip_advice(message)))


# --- terraform -------------------------------------------------------------------------------------------------------


def _terraform(lines: Sequence[str], body: str) -> Facts | None:
    """Read the diagnostics of terraform: a title, a place and a paragraph each."""
    if not has_any(body, _SIGNS_OF_DIAGNOSTICS):
        return None
    members = list(_diagnostics(_strip_margin(lines), is_boxed=_CORNERS[0] in body))
    return facts_of_members(members, unit="error", first_is_root=True) if members else None


def _strip_margin(lines: Sequence[str]) -> list[str]:
    """Take off the line that terraform draws to the left of a diagnostic."""
    return [line.removeprefix(_MARGIN).removeprefix(" ") if line[:1] == _MARGIN else line for line in lines]


def _diagnostics(lines: Sequence[str], *, is_boxed: bool) -> Iterator[Member]:
    starts = [number for number, line in enumerate(lines) if line.startswith(("Error: ", "Warning: "))]
    for start, end in pairwise((*starts, len(lines))):
        title = _TITLE.match(lines[start])
        block = list(takewhile(lambda line: line not in _CORNERS, lines[start + 1 : end]))
        if title is not None and (is_boxed or any(_ON.match(line) or _WITH.match(line) for line in block)):
            yield _diagnostic(title["title"], block)


def _diagnostic(title: str, block: Sequence[str]) -> Member:
    """Return what a diagnostic says; its paragraph tells what its title only names."""
    on = next((match for line in block if (match := _ON.match(line))), None)
    sources = [match["source"].strip() for line in block if (match := _SOURCE.match(line))]
    words, *more = [*_paragraphs(block), ""]
    place = (
        Location(function=(on["block"] or "").replace('"', ""), file=on["file"], line=int(on["line"]))
        if on
        else NOWHERE
    )
    source = (f"> {sources[0]}",) if sources else ()
    told = clip(f"{title}: {words}" if words else title)
    return Member("TerraformError", told, place, details=(*source, *_listed(block), *filter(None, more)))


def _paragraphs(block: Sequence[str]) -> Iterator[str]:
    """Yield the prose of a diagnostic, a paragraph each; one that ends with a colon has what it announces."""
    for is_blank, lines in groupby(block, lambda line: not line.strip()):
        prose = [] if is_blank else [line for line in lines if not (_ON.match(line) or _WITH.match(line))]
        words = " ".join(line.strip() for line in prose if line[:1].strip())
        announced = prose[-1].strip() if len(prose) > 1 and words.endswith(":") and prose[-2][:1].strip() else ""
        if words:
            yield f"{words} {announced}".rstrip()


def _listed(block: Sequence[str]) -> Iterator[str]:
    """Yield the fields that a diagnostic lists below its prose."""
    return (" ".join(line.split()) for line in block if _FIELD.match(line))


# --- ansible ---------------------------------------------------------------------------------------------------------


def _ansible(lines: Sequence[str], body: str) -> Facts | None:
    """Read the hosts on which a task failed."""
    if "fatal: [" not in body:
        return None
    task = ""
    members: list[Member] = []
    for line in lines:
        named = _TASK.match(line)
        task = named["task"] if named else task
        found = _ANSIBLE.match(line)
        if found is not None:
            members.append(_host(found, task))
    return facts_of_members(members, unit="host") if members else None


def _host(found: re.Match[str], task: str) -> Member:
    try:
        result = cast("object", json.loads(found["result"]))
    except ValueError:
        result = None
    fields = cast("dict[str, object]", result) if isinstance(result, dict) else {}
    said = next((str(fields[name]) for name in ("stderr", "msg", "stdout") if fields.get(name)), found["result"])
    at = (f"task: {task}",) if task else ()
    return Member(f"Ansible{found['outcome'].title()}", clip(" ".join(said.split())), name=found["host"], details=at)


FORMAT: Final = Format(
    name="infra",
    read=read,
    markers=(
        "Error from server",
        " to the server",
        "Error in configuration: ",
        "rror: ",
        "fatal: [",
        '" is invalid:',
        "ERROR: (",
    ),
    programs=split_names(
        "kubectl, helm, terraform, tofu, ansible, ansible-playbook, aws, gcloud, bq, gsutil, az, "
        "nginx, systemctl, service, nslookup, dig, flyctl, vercel, wrangler"
    ),
    closings=(
        r'The \w{1,60} "[^"\n]{1,200}" is invalid: ',
        r"Error: [^\n]{1,300}\n\n? {1,3}on \S{1,200} line [0-9]",
        r" {0,2}❌ {1,2}\S",
        r"The config profile \([^)\n]{1,80}\) could not be found",
        r"required flag\(s\) ",
        r"(?:FATA|ERRO)\[[\w:.+-]{1,40}\]",
        r"\*\* server can.t find ",
        r"[^\n]{1,200}\.\.\. failed: [A-Z]",
        r"nginx: \[emerg\] ",
        r"(?:The connection to the server \S{1,200} was refused|Unable to connect to the server)",
        (
            r"error: (?:the server |unable to |resource |no matching |no objects |You must |you must |unknown "
            r"|timed out |cannot |the path |error |exactly |must |there is no |deployment |a container |flag )"
        ),
        r"Error: (?:INSTALLATION|UPGRADE|UNINSTALL|ROLLBACK) FAILED",
        r"│ Error: \S",
        r"ERROR: \((?:gcloud|bq|gsutil)[\w.-]{0,80}\) ",
        r"Unable to locate credentials|Partial credentials found",
        r"fatal: \[\S{1,200}\]: (?:FAILED|UNREACHABLE)!",
        r"\S{1,200} {1,40}: ok=[0-9]+ [^\n]{0,60}(?:unreachable=[1-9]|failed=[1-9])",
        (
            r"(?:Failed to (?:start|stop|restart|reload|enable|disable|connect to bus|get unit)"
            r"|Job for \S{1,100} failed|Unit \S{1,100} (?:could not be found|not found))"
        ),
        r"Error from server(?: \(\w{1,60}\))?: ",
        "\u2577\n\u2502 Error: \\S",
    ),
)
