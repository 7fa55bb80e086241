"""The place that a line names, in any tool's spelling."""

from __future__ import annotations

from typing import Final, NamedTuple

from otel_errcompact.errors import Location
from otel_errcompact.extract.format import split_names
from otel_errcompact.runtime.lazy import lazy_pattern

_NAME: Final = r"(?:file://|[A-Za-z]:[\\/])?[^\s:(){}\[\]\"'`|,;=<>*?\u2502]{1,300}"
_FILE_OR_STDIN: Final = rf"(?:{_NAME}|<stdin>)"
_PLACE: Final = lazy_pattern(
    r"File \"(?P<quoted>[^\"\n]{1,300})\", line (?P<numbered>[0-9]{1,7})(?:, (?:characters?|columns?) [0-9-]{1,20})?"
    rf"|(?<![^\s\[(\"'`:])(?P<file>{_FILE_OR_STDIN})"
    r"(?::(?P<line>[0-9]{1,7})(?::[0-9]{1,7})?(?:-[0-9]{1,7}(?::[0-9]{1,7})?)?(?![\w.])"
    r"|\((?P<row>[0-9]{1,7})(?:[,:] ?[0-9]{1,7}(?:,[0-9]{1,7}){0,2})?\)"
    r"|(?:[:,]| on)? [Ll]ine:? ?(?P<told>[0-9]{1,7})"
    r"(?:[,:]? (?:column|col|char(?:acter)?s?)[ :]{1,2}[0-9-]{1,20})?(?!\w))"
)
_SIGN: Final = lazy_pattern(r":[0-9]|\([0-9]|[Ll]ine:? ?[0-9]")
"""What every place holds; most lines have none of it, and a name is looked for in many steps."""

_FILE: Final = lazy_pattern(rf"{_NAME}$")
_EXTENSION: Final = lazy_pattern(r"[\w)\]}]\.[A-Za-z][A-Za-z0-9_+-]{0,11}$")
_DOMAINS: Final = frozenset(
    split_names("com, org, net, io, dev, local, internal, cloud, ai, app, svc, cluster, lan, localdomain")
)
_WITHOUT_EXTENSION: Final = lazy_pattern(
    r"(?:.{0,280}/)?(?:[A-Z][a-z]{2,20}file|makefile|BUILD|WORKSPACE|<stdin>|stdin)$"
)


_WITHOUT_LINES: Final = frozenset(
    split_names("zip, gz, tgz, tar, 7z, png, jpg, jpeg, gif, webp, webm, mp4, pdf, jar, whl, exe, dll, so")
)
"""Endings of what has no lines: archives, pictures, programs."""


class Place(NamedTuple):
    """A place in a line, with the text before and behind it."""

    location: Location
    before: str
    behind: str


def find_place(line: str) -> Place | None:
    """Return the first place in a file that a line names."""
    if _SIGN.search(line) is None:
        return None
    start = 0
    while True:
        found = _PLACE.search(line, start)
        if found is None:
            return None
        file = found["quoted"] or found["file"]
        if is_file(file):
            number = found["numbered"] or found["line"] or found["row"] or found["told"]
            file = file.removeprefix("file://").removeprefix("./")
            location = Location(file=file, line=int(number))
            return Place(location, line[: found.start()], line[found.end() :])
        start = found.end()


def is_file(name: str) -> bool:
    """Tell whether a name is a file's, and not a host's."""
    if "://" in name.removeprefix("file://") or name[-1:] in "./":
        return False
    extension = _EXTENSION.search(name)
    if extension is not None:
        ending = name.rpartition(".")[2].lower()
        return ending not in _WITHOUT_LINES and ("/" in name or "\\" in name or ending not in _DOMAINS)
    return "/" in name[1:] or _WITHOUT_EXTENSION.match(name) is not None


def names_file(text: str) -> bool:
    """Tell whether a text is the name of a file."""
    return _FILE.match(text) is not None and is_file(text)
