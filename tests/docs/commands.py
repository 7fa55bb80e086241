"""Commands on the pages, read without being executed: programs, options, targets and extras that exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
OF_OTHERS = frozenset(
    {"alertmanager", "amtool", "bash", "cat", "cd", "curl", "docker", "git", "kubectl", "mimirtool"}
    | {"opentelemetry-instrument", "otelcol", "promtool", "pytest", "rm", "tempo-cli"}
)
"""Programs that are not ours; their commands are tried where their pages are: `make e2e`, or by a person."""


def commands(code: str) -> Iterator[list[str]]:
    """Yield the words of each command of a block, without comments and variables in front."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.startswith("#"):
            continue
        for part in re.split(r"\s(?:&&|\|\||;|\|)\s", line.strip()):
            words = shlex.split(part, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words = words[1:]
            if words:
                yield words


def faults(code: str) -> list[str]:
    """Return what is wrong with the commands of a block."""
    found = []
    for words in commands(code):
        program = words[0].rpartition("/")[2]
        check = CHECKS.get(program)
        if check is not None:
            found += [f"{' '.join(words)}: {fault}" for fault in check(words[1:])]
        elif program not in OF_OTHERS:
            found.append(f"unknown program: {program}")
    return found


def _of_make(words: list[str]) -> list[str]:
    return [f"no target {word}" for word in words if "=" not in word and word not in TARGETS]


def _of_pip(words: list[str]) -> list[str]:
    known = set(PROJECT["project"]["optional-dependencies"])
    asked = {extra for word in words for extra in re.findall(r"otel-errcompact\[([\w,]+)\]", word)}
    names = {name for extras in asked for name in extras.split(",")}
    return [f"no extra {name}" for name in sorted(names - known)]


def _of_python(words: list[str]) -> list[str]:
    if words[:1] == ["-m"]:
        if words[1] == "pip":
            return _of_pip(words[2:])
        return [] if find_spec(words[1]) else [f"no module {words[1]}"]
    return [] if words and words[0].endswith(".py") else ["neither a module nor a file"]


def _of_errcompact(words: list[str]) -> list[str]:
    from typer.main import get_command

    from otel_errcompact_lab.cli.app import app

    command: Any = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    words = words[: words.index("--")] if "--" in words else words  # behind it stands another program
    is_group = getattr(command, "commands", {}) and not (command.invoke_without_command and command.name)
    if is_group and words[:1] != ["--version"]:
        return [f"no command {' '.join(words[:1])}"]
    if "--" in words:  # what follows is another program's
        words = words[: words.index("--")]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
    asked = [word.partition("=")[0] for word in words if word.startswith("-") and word != "-"]
    return [f"no option {word}" for word in asked if word not in known]


CHECKS: dict[str, Callable[[list[str]], list[str]]] = {
    "make": _of_make,
    "pip": _of_pip,
    "python": _of_python,
    "errcompact": _of_errcompact,
}
