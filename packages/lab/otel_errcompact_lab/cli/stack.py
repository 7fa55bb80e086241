"""
`errcompact stack export`: the operator's side as files in a folder.

Docker Compose, configuration, dashboards, alerts and Kubernetes manifests: an installed wheel carries them in
`_stack/`; in a checkout they stand where people edit them.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.cli.output import count_noun, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.abc import Traversable

PARTS: Final = (
    "docker-compose.yml",
    "docker-compose.jaeger.yml",
    "docker-compose.receiver.yml",
    ".env",
    "collector-config",
    "dashboards/generated",
    "dashboards/RUNBOOK.md",
    "kubernetes",
)
"""Files and folders of the stack, each under its place in the checkout."""

MAX_NAMED: Final = 10

_IN_CHECKOUT: Final = (
    b"ERRCOMPACT_PACKAGE=/src[otlp] /src/packages/context /src/packages/hosts[serve] /src/packages/lab\n"
)

NEXT: Final = """
Start it, and open http://localhost:3000:
  cd {folder}
  docker compose up -d

Send your agents' telemetry there:
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 python agent.py

Or let a demo agent fail for you:
  docker compose --profile demo up -d

.env holds ports, versions and whom to alert; dashboards/RUNBOOK.md says what to do about each alert.
kubernetes/ holds the collectors, rules and dashboards for a cluster: kubectl apply -k {folder}/kubernetes/base
"""


def print_export(folder: Path) -> int:
    """
    Write the stack, name each file, and say what to do next.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: Files differ, or the folder cannot be written.
    """
    done = export(folder)
    place = printable(str(folder))
    for name in done.written:
        sys.stdout.write(f"{place}/{name}\n")
    unchanged = f", {len(done.unchanged)} are as they should be" if done.unchanged else ""
    sys.stdout.write(f"{count_noun(len(done.written), 'file')} written{unchanged}\n{NEXT.format(folder=place)}")
    return 0


class Export(NamedTuple):
    """The files of an export."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]


def export(folder: Path) -> Export:
    """
    Write the files of the stack to a folder.

    Returns:
        The names of the files, relative to the folder.

    Raises:
        ConfigurationError: Files differ, or the folder cannot be written.
    """
    stack = contents()
    try:
        pending = {name: content for name, content in stack.items() if not _holds(folder / name, content)}
        changed = [name for name in pending if (folder / name).exists()]
        if changed:
            raise ConfigurationError(_describe_refusal(folder, changed))
        for name, content in pending.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    except OSError as error:
        raise ConfigurationError(f"{error.filename or folder}: {error.strerror}; export to another folder") from error
    return Export(written=tuple(pending), unchanged=tuple(name for name in stack if name not in pending))


def contents() -> Mapping[str, bytes]:
    """Return the files of an installed stack, by name."""
    carried = files("otel_errcompact").joinpath("_stack")
    root = carried if carried.is_dir() else Path(str(files("otel_errcompact"))).parent
    found = dict(sorted(file for part in PARTS for file in _list_files(root.joinpath(part), part)))
    # The demo agent installs this very version; the mounted source exists in a checkout alone.
    installed = f"ERRCOMPACT_PACKAGE=otel-errcompact[otlp,cli,serve]=={version('otel-errcompact')}\n".encode()
    found[".env"] = found[".env"].replace(_IN_CHECKOUT, installed)
    return found


def _list_files(node: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    if not node.is_dir():
        yield name, node.read_bytes()
        return
    for child in node.iterdir():
        yield from _list_files(child, f"{name}/{child.name}")


def _holds(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


def _describe_refusal(folder: Path, changed: list[str]) -> str:
    more = f" and {len(changed) - MAX_NAMED} more" if len(changed) > MAX_NAMED else ""
    return (
        f"{folder} holds other versions of {', '.join(changed[:MAX_NAMED])}{more}; nothing was written: move "
        "them away, or export to another folder"
    )
