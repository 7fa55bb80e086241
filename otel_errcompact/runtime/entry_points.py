"""Find what other packages add by entry points."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.forks import FORKS_WAIT

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_FOLDERS: Final = (".dist-info", ".egg-info")
_KNOWN: Final = ("_frozen_importlib_external", "importlib_metadata")
"""Modules of the finders that look for packages in folders."""


def entry_points(group: str) -> list[EntryPoint]:
    """
    Return the entry points of a group, in no order.

    `importlib.metadata` is imported only where there may be some: that takes longer than a whole failure.

    Args:
        group: The name of the group.
    """
    if not _may_exist(group):
        return []
    with FORKS_WAIT:
        from importlib import metadata
    return list(metadata.entry_points(group=group))


def _may_exist(group: str) -> bool:
    if any(hasattr(finder, "find_distributions") and finder.__module__ not in _KNOWN for finder in sys.meta_path):
        return True
    return any(_may_name(folder or ".", group.encode()) for folder in sys.path)


def _may_name(folder: str, group: bytes) -> bool:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - in a third of the time
    except NotADirectoryError:  # an archive
        return True
    except OSError:  # as `importlib.metadata` has it
        return False
    if folder.endswith(".egg") or any(name.endswith(".egg") for name in names):
        return True
    return any(_has_group(os.path.join(folder, name), group) for name in names if name.endswith(_FOLDERS))  # noqa: PTH118


def _has_group(package: str, group: bytes) -> bool:
    try:
        with open(f"{package}/entry_points.txt", "rb") as file:  # noqa: PTH123 - in a third of the time
            return group in file.read()
    except OSError:
        return False
