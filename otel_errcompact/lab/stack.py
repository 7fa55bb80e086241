"""
The operator's side as files: Docker Compose, configuration, dashboards and alerts, written to a folder of the user's.

An installed wheel carries them in `_stack/`; in a checkout they stand where people edit them.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from importlib.resources import files
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.abc import Traversable

PARTS: Final = ("docker-compose.yml", ".env", "collector-config", "dashboards/generated", "dashboards/RUNBOOK.md")
"""Files and folders of the stack; they lie to each other wherever they are as they do in the checkout."""

KEPT_AS: Final = ".orig"
"""No program of the stack reads a file that ends so."""

MAX_NAMED: Final = 10

_IN_CHECKOUT: Final = b"ERRCOMPACT_PACKAGE=/src[otlp,cli]\n"


class Export(NamedTuple):
    """
    What an export has done.
    """

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    kept: tuple[str, ...]
    """What stood where others were written, under its new name."""


def export(folder: Path, *, force: bool = False) -> Export:
    """
    Write the stack to a folder. Files that are there already with the same content are left alone.

    Args:
        folder: Where to; it is made if it is not there.
        force: Replace files that differ, and keep each under another name; else nothing is written if there are any.

    Returns:
        The names of the files, relative to the folder.

    Raises:
        ConfigurationError: Files differ, or the folder cannot be written.
    """
    stack = contents()
    try:
        pending = {name: content for name, content in stack.items() if _content(folder / name) != content}
        changed = [name for name in pending if (folder / name).exists()]
        if changed and not force:
            raise ConfigurationError(_refusal(folder, changed))
        kept = tuple(_keep(folder, name) for name in changed)
        for name, content in pending.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    except OSError as error:
        raise ConfigurationError(f"{error.filename}: {error.strerror}; export to another folder") from error
    return Export(
        written=tuple(pending),
        unchanged=tuple(name for name in stack if name not in pending),
        kept=kept,
    )


def contents() -> Mapping[str, bytes]:
    """
    Return the files of the stack by name, as an installation needs them.
    """
    root = _root()
    found = dict(sorted(file for part in PARTS for file in _files(root.joinpath(part), part)))
    # The demo agent installs this very version; the mounted source exists in a checkout alone.
    installed = f"ERRCOMPACT_PACKAGE=otel-errcompact[otlp,cli]=={version('otel-errcompact')}\n".encode()
    found[".env"] = found[".env"].replace(_IN_CHECKOUT, installed)
    return found


def _root() -> Traversable:
    carried = files("otel_errcompact").joinpath("_stack")
    return carried if carried.is_dir() else Path(__file__).parents[2]


def _files(node: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    if not node.is_dir():
        yield name, node.read_bytes()
        return
    for child in node.iterdir():
        yield from _files(child, f"{name}/{child.name}")


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _keep(folder: Path, name: str) -> str:
    """Give a file another name, which no earlier one has that was kept, and return it."""
    names = (f"{name}{number}{KEPT_AS}" for number in chain([""], (f".{n}" for n in count(2))))
    kept = next(other for other in names if not os.path.lexists(folder / other))
    (folder / name).rename(folder / kept)
    return kept


def _refusal(folder: Path, changed: list[str]) -> str:
    more = f" and {len(changed) - MAX_NAMED} more" if len(changed) > MAX_NAMED else ""
    return (
        f"{folder} holds other versions of {', '.join(changed[:MAX_NAMED])}{more}; nothing was written "
        f"(--force replaces them and keeps yours as NAME{KEPT_AS})"
    )
