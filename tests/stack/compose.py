"""docker-compose.yml, alone or with what is laid over it, with its variables filled in, as data."""

from __future__ import annotations

import re
from functools import cache, reduce
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FILE = "docker-compose.yml"
JAEGER = "docker-compose.jaeger.yml"
"""Laid over the first: Jaeger and VictoriaLogs instead of Tempo and Loki."""

RECEIVER = "docker-compose.receiver.yml"
"""Laid over the first: a receiver that counts the failed calls of agents without the library."""

VARIABLE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?:(?P<form>:[-+])(?P<word>[^}]*))?\}")


def filled(text: str, values: dict[str, str]) -> str:
    """Fill in variables as Compose does: `${A}`, `${A:-if empty}`, `${A:+unless empty}`, and `$$` for a dollar."""

    def value(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        own = values[found["name"]] if found["form"] is None else values.get(found["name"], "")
        if found["form"] == ":+":
            return found["word"] if own else ""
        return own or found["word"] or ""

    return VARIABLE.sub(value, text)


def variables(**chosen: str) -> dict[str, str]:
    """The lines of .env, of which some are set otherwise."""
    values: dict[str, str] = {}
    for line in (ROOT / ".env").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, text = line.partition("=")
            values[name] = chosen.get(name, filled(text, values))
    return values


def compose(*overlays: str, **chosen: str) -> dict[str, Any]:
    """The whole file and what is laid over it, as Compose sees them."""
    values = variables(**chosen)

    def fill(node: Any) -> Any:
        match node:
            case dict():
                return {key: fill(value) for key, value in node.items()}
            case list():
                return [fill(value) for value in node]
            case str():
                return filled(node, values)
            case _:
                return node

    files = [yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in (FILE, *overlays)]
    return fill(reduce(_laid_over, files))


def _laid_over(below: Any, above: Any, key: str = "") -> Any:
    """What Compose makes of two files: what has names adds up, volumes by their place, and the later command stands."""
    if isinstance(below, dict) and isinstance(above, dict):
        both = {name: _laid_over(below[name], above[name], name) for name in below.keys() & above.keys()}
        return {**below, **above, **both}
    if key == "volumes":
        return list({mount.split(":")[1]: mount for mount in (*below, *above)}.values())
    return above


@cache
def services(*overlays: str) -> dict[str, dict[str, Any]]:
    """The services, as .env stands."""
    return compose(*overlays)["services"]


def mounts(service: str, *overlays: str) -> dict[str, tuple[str, bool]]:
    """What is mounted into a service, by its place there: where it comes from, and whether it can be written."""
    parts = (mount.split(":") for mount in services(*overlays)[service].get("volumes", []))
    return {target: (source, mode != ["ro"]) for source, target, *mode in parts}


def on_host(service: str, path: str, *overlays: str) -> Path | None:
    """The file of the checkout that a program sees under a path, or None where nothing of ours is mounted."""
    # The deepest first: what is mounted within another mount hides what that has there.
    for target, (source, _) in sorted(mounts(service, *overlays).items(), reverse=True):
        if source.startswith(".") and (path == target or path.startswith(f"{target}/")):
            return ROOT / source / path.removeprefix(target).lstrip("/")
    return None


def configuration(name: str) -> Any:
    """A file of collector-config/, as data."""
    return yaml.safe_load((ROOT / "collector-config" / name).read_text(encoding="utf-8"))


def settings_read(name: str) -> dict[str, str | None]:
    """
    The variables that a file of collector-config/ reads, with their defaults.

    Comments do not count. The collector writes `${env:A:-default}`, the others `${A:-default}`.
    """
    lines = (ROOT / "collector-config" / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    # What is $$ is no variable.
    found = re.finditer(r"(?<!\$)\$\{(?:env:)?([A-Z_]+)(?::-([^}]*))?\}", text)
    return {each[1]: each[2] for each in found}
