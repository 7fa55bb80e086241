"""Errors of docker, its builds and compose: of a failed build step, what the program in it said."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Lines,
    Rules,
    Text,
    find,
    find_blocks,
    form,
    place_of,
)
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.table import LAST_RESORT
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from otel_errcompact.errors import Location

_SOLVE: Final = form(
    r"(?:ERROR: |error: |Error: |target [\w.-]{1,100}: |failed to build: ){0,3}failed to solve: {message}"
)
_PROCESS: Final = form(
    r"process \"(?P<command>.{1,4000})\" did not complete successfully: exit code: (?P<code>{number})"
)
_EXCERPT: Final = form(r" > (?P<step>\[[^\]]{1,100}\] .{1,1000}?):?$")
_RULE: Final = form(r"-{4,}$")
_OUTPUT: Final = form(r"(?:#[0-9]{1,6} )?[0-9]{1,6}\.[0-9]{1,9}(?: (?P<said>.*)|$)")
_PLACE: Final = form(r"(?P<file>[^\s:]{0,300}[Dd]ockerfile[^\s:]{0,100}):{line}$")
_STEP: Final = form(r"#(?P<number>[0-9]{1,6}) (?P<step>\[[^\]]{1,100}\] .{1,1000})")
_FAILED_STEP: Final = form(r"#(?P<number>[0-9]{1,6}) ERROR: (?P<message>process .*)")
_SHELL: Final = form(r"/bin/(?:ba|a|da)?sh -\w{1,10} ")
_STATED: Final = Rules(r"""
DaemonNotRunning  (?:docker: |ERROR: |error during connect: )?(?P<message>Cannot connect to the Docker daemon.{0,300})
DaemonNotRunning  (?P<message>error during connect: .{1,600})
EACCES            (?:docker: |ERROR: )?(?P<message>permission denied while trying to connect to the [Dd]ocker .{1,600})
DockerError       (?:docker: |ERROR: for \S{1,100} {1,4})?[Ee]rror response from daemon: {message}
DockerError       (?:ERROR: )?(?P<message>unable to (?:prepare context|evaluate symlinks in Dockerfile path).{1,600})
ComposeError      (?P<message>dependency failed to start: .{1,600})
ComposeError      (?P<message>no configuration file provided: not found|service "[^"]{1,100}" (?:depends on|refers to
    |has) .{1,400}|validating .{1,400}compose.{1,400}|(?:parsing|yaml: ).{0,300}compose.{1,400}
    |no such service: .{1,200})
UsageError        docker: (?P<message>(?:unknown command: |'.{1,100}' is not a docker command|invalid ).{0,400})
UsageError        (?P<message>(?:unknown (?:shorthand )?flag: |invalid argument |flag needs an argument:[ ]
    |"?docker .{0,60}"? requires ).{1,300})
""")
_REFERENCE: Final = form(r" of ref [\w:-]{20,100}(?=: )")
_CONTAINER: Final = form(r" \([0-9a-f]{64}\)")
_USAGE: Final = ("Usage:  docker", "Run 'docker", "See 'docker")


def read(text: Text) -> Facts | None:
    """Return the facts of a build step that failed, or of what docker refused."""
    lines = text.lines
    return _read_build(lines) or _read_statement(lines)


# --- builds ----------------------------------------------------------------------------------------------------------


def _read_build(lines: Lines) -> Facts | None:
    # Read a build by BuildKit.
    solve = find(_SOLVE, (line for line in reversed(lines) if "failed to solve: " in line))
    failed = find(_FAILED_STEP, lines, "#")
    stated = solve or failed
    if stated is None:
        return None
    message = stated["message"]
    process = _PROCESS.search(message)
    if process is None:
        return _build_refusal(message, lines)
    step, output = _read_excerpt(lines) or _read_progress(lines, failed["number"] if failed else "")
    command = step or _SHELL.sub("RUN ", process["command"])
    return _failed_step(command, process["code"], output, _find_dockerfile(lines))


def _build_refusal(message: str, lines: Lines) -> Facts:
    return Facts(
        type="BuildError",
        cause=clip(_REFERENCE.sub("", message)),
        location=_find_dockerfile(lines),
        details=details(_list_marked_lines(lines)),
    )


def _failed_step(step: str, code: str, output: Lines, place: Location) -> Facts:
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


def _read_excerpt(lines: Lines) -> tuple[str, list[str]] | None:
    # Return the failed step and its last output, as BuildKit repeats them between two rules.
    blocks = list(find_blocks(lines, _EXCERPT))
    said = takewhile(lambda line: _RULE.match(line) is None, blocks[-1].lines if blocks else ())
    output = [(found["said"] or "") if (found := _OUTPUT.match(line)) else line for line in said]
    return (blocks[-1].head["step"], output) if blocks else None


def _read_progress(lines: Lines, number: str) -> tuple[str, list[str]]:
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


def _find_dockerfile(lines: Lines) -> Location:
    return place_of(find(_PLACE, (line for line in lines if "ockerfile" in line)))


def _list_marked_lines(lines: Lines) -> list[str]:
    # Return the lines of the Dockerfile that BuildKit marks.
    return [f"> {line.partition('>>>')[2].strip()}" for line in lines if "| >>> " in line]


# --- statements ------------------------------------------------------------------------------------------------------


def _read_statement(lines: Lines) -> Facts | None:
    is_usage = any(line.startswith(_USAGE) for line in lines[-4:])
    for line in lines:
        stated = _STATED.read(line)
        if stated is not None and (is_usage or stated.type != "UsageError"):
            return Facts(type=stated.type, cause=clip(_CONTAINER.sub("", stated.cause)))
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
    margins=(r"#[0-9]{1,4} [0-9]{1,6}\.[0-9]{1,6}",),
    commands=(
        Command("docker", subcommands="*", scopes="-f -p", texts="-e -H", speaks="docker", runs_any=True),
        Command("docker-compose, podman", subcommands="*", scopes="-f -p", speaks="podman", runs_any=True),
        Command("buildah", subcommands="*"),
        Command("docker compose, podman compose, docker buildx, docker image", subcommands="*"),
        Command("docker container, docker volume, docker network", subcommands="*"),
        Command(
            "docker exec, docker compose exec, docker-compose exec",
            carries=True,
            values="-e -w -u --env --workdir --user",
        ),
        Command("docker logs, docker compose logs, docker-compose logs, podman logs", reads=True),
    ),
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
