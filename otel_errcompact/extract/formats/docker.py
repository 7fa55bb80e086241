"""Errors of docker, its builds and compose: of a failed build step, what the program in it said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.statements import StatementTable
from otel_errcompact.extract.table import LAST_RESORT
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.text import Text


_SOLVE: Final = lazy_pattern(
    r"(?:ERROR: |error: |Error: |target [\w.-]{1,100}: |failed to build: ){0,3}failed to solve: (?P<message>\S.*)"
)
_PROCESS: Final = lazy_pattern(
    r"process \"(?P<command>.{1,4000})\" did not complete successfully: exit code: (?P<code>[0-9]{1,9})"
)
_LEGACY: Final = lazy_pattern(r"The command '(?P<command>.{1,4000})' returned a non-zero code: (?P<code>[0-9]{1,9})$")
_EXCERPT: Final = lazy_pattern(r" > (?P<step>\[[^\]]{1,100}\] .{1,1000}?):?$")
_RULE: Final = lazy_pattern(r"-{4,}$")
_OUTPUT: Final = lazy_pattern(r"(?:#[0-9]{1,6} )?[0-9]{1,6}\.[0-9]{1,9}(?: (?P<said>.*)|$)")
_PLACE: Final = lazy_pattern(r"(?P<file>[^\s:]{0,300}[Dd]ockerfile[^\s:]{0,100}):(?P<line>[0-9]{1,9})$")
_STEP: Final = lazy_pattern(r"#(?P<number>[0-9]{1,6}) (?P<step>\[[^\]]{1,100}\] .{1,1000})")
_FAILED_STEP: Final = lazy_pattern(r"#(?P<number>[0-9]{1,6}) ERROR: (?P<message>process .*)")
_LEGACY_STEP: Final = lazy_pattern(r"Step [0-9]{1,4}/[0-9]{1,4} : (?P<step>.{1,1000})")
_LEGACY_CHATTER: Final = lazy_pattern(r" ---> |Removing intermediate container ")
_SHELL: Final = lazy_pattern(r"/bin/(?:ba|a|da)?sh -\w{1,10} ")
_STATED: Final = StatementTable(
    (
        "DaemonNotRunning",
        r"(?:docker: |ERROR: |error during connect: )?(?P<message>Cannot connect to the Docker daemon.{0,300})",
    ),
    ("DaemonNotRunning", r"(?P<message>error during connect: .{1,600})"),
    (
        "EACCES",
        r"(?:docker: |ERROR: )?(?P<message>permission denied while trying to connect to the [Dd]ocker .{1,600})",
    ),
    ("DockerError", r"(?:docker: |ERROR: for \S{1,100} {1,4})?[Ee]rror response from daemon: (?P<message>.{1,1000})"),
    (
        "DockerError",
        r"(?:ERROR: )?(?P<message>unable to (?:prepare context|evaluate symlinks in Dockerfile path).{1,600})",
    ),
    ("ComposeError", r"(?P<message>dependency failed to start: .{1,600})"),
    (
        "ComposeError",
        (
            r"(?P<message>no configuration file provided: not found|service \"[^\"]{1,100}\" (?:depends on"
            r"|refers to|has) .{1,400}|validating .{1,400}compose.{1,400}|(?:parsing"
            r"|yaml: ).{0,300}compose.{1,400}|no such service: .{1,200})"
        ),
    ),
    ("UsageError", r"docker: (?P<message>(?:unknown command: |'.{1,100}' is not a docker command|invalid ).{0,400})"),
    (
        "UsageError",
        (
            r"(?P<message>(?:unknown (?:shorthand )?flag: |invalid argument |flag needs an argument: "
            r"|\"?docker .{0,60}\"? requires ).{1,300})"
        ),
    ),
)
_REFERENCE: Final = lazy_pattern(r" of ref [\w:-]{20,100}(?=: )")
_CONTAINER: Final = lazy_pattern(r" \([0-9a-f]{64}\)")
_USAGE: Final = ("Usage:  docker", "Run 'docker", "See 'docker")


def read(text: Text) -> Facts | None:
    """Return the facts of a build step that failed, or of what docker refused."""
    lines = text.lines
    return _build(lines) or _legacy_build(lines) or _read_statement(lines)


# --- builds ----------------------------------------------------------------------------------------------------------


def _build(lines: Sequence[str]) -> Facts | None:
    """Read a build by BuildKit."""
    solve = next(
        (found for line in reversed(lines) if "failed to solve: " in line and (found := _SOLVE.match(line))), None
    )
    failed = next((found for line in lines if line.startswith("#") and (found := _FAILED_STEP.match(line))), None)
    stated = solve or failed
    if stated is None:
        return None
    message = stated["message"]
    process = _PROCESS.search(message)
    if process is None:
        return _refused(message, lines)
    step, output = _excerpt(lines) or _progress(lines, failed["number"] if failed else "")
    command = step or _SHELL.sub("RUN ", process["command"])
    return _failed_step(command, process["code"], output, _dockerfile(lines))


def _refused(message: str, lines: Sequence[str]) -> Facts:
    """Read a build that failed before, or besides, a program in it."""
    return Facts(
        type="BuildError",
        cause=clip(_REFERENCE.sub("", message)),
        location=_dockerfile(lines),
        details=details(_marked(lines)),
    )


def _failed_step(step: str, code: str, output: Sequence[str], place: Location) -> Facts:
    """Return the facts of the program in a step, with the step as a detail."""
    at = f" ({place})" if place else ""
    ended = f"failed with exit code {code}"
    inner = facts_of_output(output, any_text=True)
    if inner is None:
        return Facts(type=f"exit code {code}", cause=clip(f"{step} {ended}"), location=place)
    return replace(
        inner,
        type=f"exit code {code}" if inner.format == LAST_RESORT.name else inner.type,
        location=inner.location or place,
        details=details((f"{clip(step, 120)} {ended}{at}", *inner.details)),
    )


def _excerpt(lines: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the failed step and its last output, as BuildKit repeats them between two rules."""
    for number in range(len(lines) - 1, -1, -1):
        found = _EXCERPT.match(lines[number]) if lines[number].startswith(" > [") else None
        if found is not None:
            return found["step"], _until_rule(lines[number + 1 :])
    return None


def _until_rule(lines: Sequence[str]) -> list[str]:
    output: list[str] = []
    for line in lines:
        if _RULE.match(line):
            break
        found = _OUTPUT.match(line)
        output.append((found["said"] or "") if found else line)
    return output


def _progress(lines: Sequence[str], number: str) -> tuple[str, list[str]]:
    """Return a step and its output from the plain progress of a build."""
    prefix = f"#{number} "
    step, output = "", list[str]()
    for line in lines if number else ():
        if not line.startswith(prefix):
            continue
        named, said = _STEP.match(line), _OUTPUT.match(line)
        if named is not None:
            step = named["step"]
        elif said is not None:
            output.append(said["said"] or "")
    return step, output


def _dockerfile(lines: Sequence[str]) -> Location:
    found = next((match for line in lines if "ockerfile" in line and (match := _PLACE.match(line))), None)
    return Location(file=found["file"], line=int(found["line"])) if found else NOWHERE


def _marked(lines: Sequence[str]) -> list[str]:
    """Return the lines of the Dockerfile that BuildKit marks."""
    return [f"> {line.partition('>>>')[2].strip()}" for line in lines if "| >>> " in line]


def _legacy_build(lines: Sequence[str]) -> Facts | None:
    """Read a build by the builder before BuildKit."""
    found = next((match for line in lines[-3:] if (match := _LEGACY.match(line))), None)
    if found is None:
        return None
    start = max((number for number, line in enumerate(lines) if line.startswith("Step ")), default=-1)
    step = _LEGACY_STEP.match(lines[start]) if start >= 0 else None
    output = [line for line in lines[start + 1 :] if not _LEGACY_CHATTER.match(line) and not _LEGACY.match(line)]
    command = step["step"] if step else _SHELL.sub("RUN ", found["command"])
    return _failed_step(command, found["code"], output, NOWHERE)


# --- statements ------------------------------------------------------------------------------------------------------


def _read_statement(lines: Sequence[str]) -> Facts | None:
    """Read the line with which docker, its daemon or compose refuses."""
    is_usage = any(line.startswith(_USAGE) for line in lines[-4:])
    for line in lines:
        stated = _STATED.read(line)
        if stated is not None and (is_usage or stated.type != "UsageError"):
            return Facts(type=stated.type, cause=clip(_CONTAINER.sub("", stated.message)))
    return None


FORMAT: Final = Format(
    name="docker",
    read=read,
    markers=(
        "ocker",
        "failed to solve: ",
        'ERROR: process "',
        "rror response from daemon",
        "compose",
        "dependency failed to start",
        "returned a non-zero code: ",
    ),
    programs=("docker", "docker-compose", "podman", "buildah"),
    closings=(
        r"The command '[^\n]{1,400}' returned a non-zero code: [1-9]",
        r"#[0-9]{1,4} (?:[0-9.]{1,9} )?ERROR: ",
        r" ✘ \S",
        r"target \S{1,100}: failed to solve",
        r"Error: No such \w{1,20}: ",
        r"unable to prepare context: ",
        r"(?:docker: )?Error response from daemon: ",
        r"(?:ERROR: )?Cannot connect to the Docker daemon",
        r"OCI runtime (?:exec|create) failed",
        (
            r"(?:no such service: |service \"[^\"\n]{1,80}\" (?:is not|has neither|depends on|refers to)"
            r"|dependency failed to start|no configuration file provided)"
        ),
        r"ERROR: (?:process |failed )",
        r"(?:ERROR: )?failed to solve: ",
    ),
)
