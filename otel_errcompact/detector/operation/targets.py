"""Targets in their plain form, few and short."""

from __future__ import annotations

import posixpath
from typing import Final

from otel_errcompact.detector.operation.fingerprint import short_hash
from otel_errcompact.runtime.lazy import lazy_pattern

MAX_TARGETS: Final = 8
"""Targets of an operation; a hash stands for further ones."""

MAX_TARGET: Final = 200
"""Characters of a target; a longer text is free text, or ends with a hash."""

_CREDENTIALS: Final = lazy_pattern(r"://[^/@\s]{1,200}@")


def bound_targets(targets: list[str]) -> tuple[str, ...]:
    """Return targets in order; a hash in place of too many."""
    if len(targets) < 2:  # noqa: PLR2004 - nothing to sort
        return tuple(targets)
    found = sorted(set(targets))
    if len(found) <= MAX_TARGETS:
        return tuple(found)
    kept, rest = found[: MAX_TARGETS - 1], found[MAX_TARGETS - 1 :]
    return (*kept, f"and {len(rest)} more {short_hash(chr(31).join(rest))}")


def clean_target(text: str) -> str:
    """Return a path without `./`, or a URL without credentials."""
    if "://" in text:
        text = _CREDENTIALS.sub("://", text.partition("#")[0])
    else:
        if ".." in text or "//" in text or "/./" in text:
            text = posixpath.normpath(text)
        text = text.removeprefix("./")
        if len(text) > 1:
            text = text.rstrip("/") or "/"
    return text if len(text) <= MAX_TARGET else f"{text[: MAX_TARGET - 17]} {short_hash(text)}"


def folder_target(path: str) -> tuple[str, ...]:
    """Return a folder as a target, which ends with a slash."""
    path = clean_target(path) if path else ""
    return (f"{path.rstrip('/')}/",) if path and path != "." else ()


def join_folders(folders: list[str]) -> str:
    """Return the folder that changing through all of these leads to."""
    found = ""
    for folder in folders:
        if folder:
            found = folder if folder.startswith(("/", "~", "$")) or not found else f"{found}/{folder}"
    return found
