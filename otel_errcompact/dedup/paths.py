"""Paths as they are spelt from a project's root."""

from __future__ import annotations

from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

_TEMPORARY: Final = lazy_pattern(
    r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user)/|[A-Za-z]:/(?:[Ww]indows/)?[Tt]e?mp/"
    r"|[A-Za-z]:/Users/[^/]+/AppData/Local/Temp/"
)
_HOME: Final = lazy_pattern(r"(?:/home|/Users|[A-Za-z]:/Users)/[^/]+/|/root/|~/")
_WORKSPACE: Final = lazy_pattern(
    r"/(?:github/workspace|workspaces?|builds/[^/]+/[^/]+|var/lib/jenkins/workspace/[^/]+|usr/src/app|app|repo|testbed|code"
    r"|project|opt/build/repo)/(?=(?:[^/]+/)*[^/]+\.\w+\Z)"
)
"""Roots of projects in containers and on build machines, of files only: a route of a server may look like them."""

_SOURCES: Final = lazy_pattern(
    r"(?<=/)(?:src|source|lib|tests?|spec|packages|apps|services|cmd|internal|pkg|crates|modules|include|scripts|bin"
    r"|docs|examples|config|components|node_modules)/(?=.)"
)
"""Folders that lie at the root of a project, or nearly so; a first one may hold the projects."""

_INSTALLED: Final = lazy_pattern(r".*/(?=node_modules/)|.*/site-packages/(?=.)")
_MADE_UP: Final = lazy_pattern(r"(?:tmp|temp)[._-]?\w{6,12}\Z")


def below_root(path: str) -> str | None:
    """
    Return a path as it is spelt from its project's root.

    None stands for a path that belongs to the machine.

    Args:
        path: An absolute path, with slashes.
    """
    temporary = _TEMPORARY.match(path)
    root = temporary or _HOME.match(path) or _WORKSPACE.match(path)
    if root is None:
        return None
    rest = path[root.end() :].strip("/")
    installed = _INSTALLED.match(rest)
    if installed:
        return rest[installed.end() :]
    source = _SOURCES.search(rest)
    if source:
        return rest[source.start() :]
    if root.re.pattern == _WORKSPACE.pattern:
        return rest
    # What lies at home or in a temporary folder is the project, or a folder of projects.
    final = rest.rpartition("/")[2]
    return "<tmp>" if temporary and _MADE_UP.match(final) else final
