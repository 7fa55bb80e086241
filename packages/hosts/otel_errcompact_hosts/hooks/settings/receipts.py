"""Keep what an installation has changed, so that it can be undone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.hooks.settings import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact_hosts.hooks.settings.editing import Place

VERSION: Final = 1

Undo = tuple[tuple[int, int, tuple[str, ...]], ...]
"""From which line to which of the installed file stands what instead; lines that nothing has changed are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One installation into one settings file."""

    host: str
    path: str
    installed: str
    """The hash of the file as it was installed."""

    undo: Undo
    existed: bool
    """Whether the file was there before."""

    made: tuple[Place, ...]
    """Objects and arrays that were not there before."""

    folders: tuple[str, ...]
    """Folders that were not there before."""

    release: str
    """The release of otel-errcompact that has installed it."""

    def revert(self, content: bytes) -> bytes | None:
        """Return what the file was before; None if it was changed since."""
        if hash_of(content) != self.installed:
            return None
        lines = _lines_of(content)
        for start, end, before in sorted(self.undo, reverse=True):
            lines[start:end] = before
        return "".join(lines).encode("utf-8", "surrogateescape")


def hash_of(content: bytes) -> str:
    """Return what tells one content of a file from another."""
    return hashlib.sha256(content).hexdigest()


def find_undo(before: bytes, after: bytes) -> Undo:
    """Return how to come from the lines after back to those before."""
    old, new = _lines_of(before), _lines_of(after)
    changes = SequenceMatcher(None, new, old, autojunk=False).get_opcodes()
    return tuple((start, end, tuple(old[low:high])) for tag, start, end, low, high in changes if tag != "equal")


def _lines_of(content: bytes) -> list[str]:
    return content.decode("utf-8", "surrogateescape").splitlines(keepends=True)


def receipt_file(folder: Path, host: str, path: Path) -> Path:
    """Return where the receipt of a settings file is."""
    name = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return folder / f"{host}-{name}.json"


def load_receipt(file: Path) -> Receipt | None:
    """Return a receipt; None if there is none to be read."""
    try:
        content = files.read_file(file)
        found: dict[str, Any] = json.loads(content) if content is not None else {}
        if found.get("version") != VERSION:
            return None
        return Receipt(
            host=str(found["host"]),
            path=str(found["path"]),
            installed=str(found["installed"]),
            undo=tuple((int(start), int(end), tuple(map(str, before))) for start, end, before in found["undo"]),
            existed=bool(found["existed"]),
            made=tuple(tuple(place) for place in found["made"]),
            folders=tuple(map(str, found["folders"])),
            release=str(found["release"]),
        )
    except (ConfigurationError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save_receipt(file: Path, receipt: Receipt) -> None:
    """Keep a receipt, with the folders that are made for it."""
    folders = tuple(dict.fromkeys((*receipt.folders, *make_folders(file.parent))))
    fields = {name: getattr(receipt, name) for name in Receipt.__slots__}
    content = json.dumps({"version": VERSION, **fields, "folders": folders}).encode()
    try:
        file.touch(mode=0o600)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}") from error
    files.write_file(file, content, expected=files.read_file(file))


def make_folders(folder: Path) -> tuple[str, ...]:
    """Make the private folder of receipts; return the new folders."""
    made = tuple(str(each) for each in (folder, *folder.parents) if not each.exists())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be made: {error.strerror}") from error
    return made


def drop_receipt(file: Path, folders: Iterable[str]) -> None:
    """
    Delete a receipt, and folders that nothing stands in any more.

    Those in which another receipt stands go with that one.
    """
    file.unlink(missing_ok=True)
    left = files.remove_folders(map(Path, folders))
    others = sorted(file.parent.glob("*.json")) if left and file.parent.is_dir() else list[Path]()
    other = load_receipt(others[0]) if others else None
    if other is not None:
        save_receipt(others[0], replace(other, folders=tuple(dict.fromkeys((*other.folders, *map(str, left))))))
