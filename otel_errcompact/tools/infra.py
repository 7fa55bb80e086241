"""Errors of kubectl, helm, terraform, ansible and the tools of clouds."""

from __future__ import annotations

import json
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.errors import Location
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Lines,
    Members,
    Rules,
    Text,
    find,
    find_blocks,
    form,
    place_of,
)
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterator

_KUBECTL: Final = Rules(
    r"""
{type}             Error from server \((?P<type>\w{1,60})\): {message}
ServerError        Error from server(?: \([^)]{1,80}\))?: {message}
ECONNREFUSED       (?P<message>The connection to the server {word} was refused)
ServerUnreachable  (?P<message>Unable to connect to the server: .{1,600})
KubectlError       error: (?P<message>(?:You must be logged in|the server doesn't have a resource type
    |error parsing .{1,300}|unable to recognize|no matches for kind|error validating|context "|no context exists
    |the path ".{1,300}" does|resource mapping not found|timed out waiting for the condition
    |unable to upgrade connection|unable to forward port).{0,600})
KubectlError       Error in configuration: {message}
Invalid            (?P<message>The \w{1,60} "[^"]{1,300}" is invalid:.{0,1000})
{type}             ERROR: \(gcloud[\w.-]{0,100}\) (?P<type>[A-Z_]{5,40}|[A-Z]\w{1,40}Error): {message}
GcloudError        ERROR: \(gcloud[\w.-]{0,100}\) {message}
{type}             ERROR: \((?P<type>[A-Z]\w{2,80})\) {message}
HelmError          Error: (?P<message>(?:INSTALLATION|UPGRADE|UNINSTALL|ROLLBACK) FAILED: .{1,1000}
    |failed to download "|chart ".{1,300}" .{0,300}|repo .{1,100} not found|Kubernetes cluster unreachable: .{1,600}
    |Chart\.ya?ml file is missing|release: not found)
""",
    begins=("Error", "ERROR: (", "error: ", "The ", "Unable to "),
)
_TITLE: Final = form(r"(?:Error: (?P<title>\S.*)|Error: |Warning: )")
_ON: Final = form(r"  on (?P<file>[^\n]{1,300}?) line {line}(?:, in (?P<function>.{1,300}))?:$")
_WITH: Final = form(r"  with (?P<address>{word}),$")
_SOURCE: Final = form(r" {1,8}{number}: (?P<source>.*)")
_FIELD: Final = form(r" {2,4}[A-Z]\w{1,20}: {1,20}\S")
_MARGIN: Final = "\u2502"
_CORNERS: Final = ("\u2577", "\u2575")
_SIGNS_OF_DIAGNOSTICS: Final = ("  on ", "  with ", _MARGIN, _CORNERS[0])
_ANSIBLE: Final = form(r"fatal: \[(?P<host>[^\]]{1,200})\]: (?P<outcome>[A-Z]{1,20})! => (?P<result>\{.*)")
_TASK: Final = form(r"TASK \[(?P<task>[^\]]{1,300})\]")


def read(text: Text) -> Facts | None:
    """Return the facts of what a tool of infrastructure as code, or the cluster behind it, refused."""
    lines, body = text.lines, text.body
    return (
        facts_of_members(_read_kubectl(lines), unit="error", first_is_root=True)
        or facts_of_members(_read_terraform(lines, body), unit="error", first_is_root=True)
        or (facts_of_members(_read_ansible(lines), unit="host") if "fatal: [" in body else None)
    )


def _read_kubectl(lines: Lines) -> Members:
    for number, line in enumerate(lines):
        stated = _KUBECTL.read(line)
        if stated is not None:
            listed = takewhile(lambda line: line.startswith(("* ", "- ", " - ")), lines[number + 1 :])
            entries = "; ".join(entry.lstrip(" -*") for entry in listed) if line.rstrip().endswith(":") else ""
            yield stated._replace(cause=clip(strip_advice(f"{stated.cause.rstrip()} {entries}".rstrip())))


# --- terraform -------------------------------------------------------------------------------------------------------


def _read_terraform(lines: Lines, body: str) -> Members:
    # Yield the diagnostics of terraform: a title, a place and a paragraph each.
    is_boxed = _CORNERS[0] in body
    for block in find_blocks(_strip_margin(lines) if has_any(body, _SIGNS_OF_DIAGNOSTICS) else (), _TITLE):
        below = list(takewhile(lambda line: line not in _CORNERS, block.lines))
        if block.head["title"] and (is_boxed or find(_ON, below) or find(_WITH, below)):
            yield _build_diagnostic(block.head["title"], below)


def _strip_margin(lines: Lines) -> list[str]:
    return [line.removeprefix(_MARGIN).removeprefix(" ") if line[:1] == _MARGIN else line for line in lines]


def _build_diagnostic(title: str, block: Lines) -> Member:
    # Return what a diagnostic says; its paragraph tells what its title only names.
    source = find(_SOURCE, block)
    words, *more = [*_join_paragraphs(block), ""]
    place = place_of(find(_ON, block))
    return Member(
        "TerraformError",
        clip(f"{title}: {words}" if words else title),
        Location(function=place.function.replace('"', ""), file=place.file, line=place.line),
        details=(*([f"> {source['source'].strip()}"] if source else ()), *_list_fields(block), *filter(None, more)),
    )


def _join_paragraphs(block: Lines) -> Iterator[str]:
    # Yield the prose of a diagnostic, a paragraph each; one that ends with a colon has what it announces.
    for is_blank, lines in groupby(block, lambda line: not line.strip()):
        prose = [] if is_blank else [line for line in lines if not (_ON.match(line) or _WITH.match(line))]
        words = " ".join(line.strip() for line in prose if line[:1].strip())
        announced = prose[-1].strip() if len(prose) > 1 and words.endswith(":") and prose[-2][:1].strip() else ""
        if words:
            yield f"{words} {announced}".rstrip()


def _list_fields(block: Lines) -> Iterator[str]:
    return (" ".join(line.split()) for line in block if _FIELD.match(line))


# --- ansible ---------------------------------------------------------------------------------------------------------


def _read_ansible(lines: Lines) -> Members:
    task = ""
    for line in lines:
        named, found = _TASK.match(line), _ANSIBLE.match(line)
        task = named["task"] if named else task
        if found is not None:
            fields = _read_result(found["result"])
            said = next(
                (str(fields[name]) for name in ("stderr", "msg", "stdout") if fields.get(name)), found["result"]
            )
            cause, at = clip(" ".join(said.split())), (f"task: {task}",) if task else ()
            key = f"{cause} ({task})" if task else ""
            yield Member(f"Ansible{found['outcome'].title()}", cause, name=found["host"], details=at, key=key)


def _read_result(text: str) -> dict[str, object]:
    try:
        result = cast("object", json.loads(text))
    except ValueError:
        return {}
    return cast("dict[str, object]", result) if isinstance(result, dict) else {}


FORMAT: Final = Format(
    name="infra",
    is_of_service=True,
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
    commands=(
        Command("kubectl", subcommands="*", scopes="-n -f -l -c", texts="-o", speaks="kubectl"),
        Command("kubectl rollout, kubectl config", subcommands="*"),
        Command("kubectl exec", carries=True, values="-c -n --container --namespace"),
        Command("kubectl logs, kubectl get, kubectl describe", reads=True),
        Command("helm", subcommands="*", scopes="-n -f", texts="-o", speaks="helm"),
        Command("terraform, tofu, ansible, gcloud, az", subcommands="*", speaks="terraform ansible"),
        Command("helm repo, terraform state, terraform workspace", subcommands="*"),
        Command("ansible-playbook", scopes="-i -l"),
        Command("aws", prints="infra http", subcommands="*"),
        Command("aws s3, aws s3api, aws ec2, aws lambda, aws iam, aws dynamodb", subcommands="*"),
        Command("service status, vercel logs", reads=True),
        Command("fly logs, heroku logs", prints="", reads=True),
        Command("bq, gsutil, nginx, service, nslookup, flyctl, vercel, wrangler", speaks="nginx"),
    ),
    closings=(
        *_KUBECTL.closings,
        r"Error: [^\n]{1,300}\n\n? {1,3}on \S{1,200} line [0-9]",
        r" {0,2}❌ {1,2}\S",
        r"The config profile \([^)\n]{1,80}\) could not be found",
        r"required flag\(s\) ",
        r"(?:FATA|ERRO)\[[\w:.+-]{1,40}\]",
        r"\*\* server can.t find ",
        r"[^\n]{1,200}\.\.\. failed: [A-Z]",
        r"nginx: \[emerg\] ",
        (
            r"error: (?:the server |unable to |resource |no matching |no objects |You must |you must |unknown "
            r"|timed out |cannot |the path |error |exactly |must |there is no |deployment |a container |flag )"
        ),
        r"│ Error: \S",
        r"ERROR: \((?:gcloud|bq|gsutil)[\w.-]{0,80}\) ",
        r"Unable to locate credentials|Partial credentials found",
        r"fatal: \[\S{1,200}\]: (?:FAILED|UNREACHABLE)!",
        r"\S{1,200} {1,40}: ok=[0-9]+ [^\n]{0,60}(?:unreachable=[1-9]|failed=[1-9])",
        (
            r"(?:Failed to (?:start|stop|restart|reload|enable|disable|connect to bus|get unit)"
            r"|Job for \S{1,100} failed|Unit \S{1,100} (?:could not be found|not found))"
        ),
        "\u2577\n\u2502 Error: \\S",
    ),
)
