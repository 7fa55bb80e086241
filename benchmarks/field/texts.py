"""What stands in a raw text, and what of it stands in the text that an agent reads."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from benchmarks.quality.score import has_place
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_CHARACTERS: Final = 12
"""A shorter line may stand in many places."""

_SUFFIXES: Final = (
    "astro|c|cc|cfg|clj|cpp|cs|css|csproj|cts|cxx|dart|erl|ex|exs|go|gradle|graphql|h|hcl|hpp|hs|html|ini|ipynb|java|js|json"
    "|jsonc|jsx|kt|kts|lua|m|md|mdx|mjs|mk|ml|mod|mts|nix|php|pl|proto|ps1|py|pyi|pyx|r|rb|rs|scala|scss|sh|sql|svelte|swift"
    "|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig"
)
_PLACE: Final = re.compile(
    rf"(?P<file>[\w@+-][\w./\\@+-]*\.(?:{_SUFFIXES}))\b(?:\"?'?,? (?:on )?line |:line |[:(]) ?(?P<line>\d+)",
    re.IGNORECASE,
)
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[(-/][0-9A-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_MARGIN: Final = re.compile(r"\s*\| ")


def base_name(path: str) -> str:
    """Return the last part of a path of any system."""
    return PurePosixPath(path.replace("\\", "/")).name


def places_in(text: str) -> set[tuple[str, str]]:
    """Return the places that a text names in files: base name and line."""
    return {(base_name(found["file"]), found["line"]) for found in _PLACE.finditer(text)}


def has_any_place(places: Iterable[tuple[str, str]], text: str) -> bool:
    """Tell whether one of some places stands in a text, in whatever spelling."""
    return any(has_place(file, line, text) for file, line in places)


def is_whole(raw: str, text: str) -> bool:
    """Tell whether a raw text stands in a text, but for escape sequences, secrets and white space at line ends."""
    shown = _plain(text)
    return _plain(raw) in shown or _plain(redact(raw)) in shown


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in _ESCAPE.sub("", text).strip().splitlines())


def shared_lines(raw: str, text: str) -> list[str]:
    """Return the lines of a text that are lines of the raw text, without white space around them or our margin."""
    known = set(_lines(raw))
    candidates = ({line.strip(), _MARGIN.sub("", line, count=1).strip()} for line in text.splitlines())
    found = [max(lines & known, key=len, default="") for lines in candidates]
    return [line for line in found if len(line) >= LEAST_CHARACTERS]


def is_in_order(lines: Iterable[str], raw: str) -> bool:
    """Tell whether lines of a raw text stand in its order."""
    rest = iter(_lines(raw))
    return all(line in rest for line in lines)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _ESCAPE.sub("", text).splitlines()]
