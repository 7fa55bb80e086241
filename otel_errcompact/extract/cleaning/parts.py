"""Split a text into the outputs of the programs that a hook or a task runner ran."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PARTS: Final = 24
"""Outputs of one text that are told apart; a text of more is read as one."""

_HEADER: Final = re.compile(
    r"(?:==> (?P<stage>\S.{0,198}?)(?: <==)?|[$%] (?P<command>[a-z./]\S{0,100}(?: .{0,300})?)"
    r"|> (?P<package>(?:@[\w.-]{1,60}/)?[\w.-]{1,60}@[0-9][\w.-]{0,40} [\w:.-]{1,60})(?: \S{1,200})?)$"
)
_STARTS: Final = ("==> ", "$ ", "% ", "> ")
_BEHIND_BREAK: Final = tuple(f"\n{start}" for start in _STARTS)
_ECHO: Final = "> "


class Part(NamedTuple):
    """The output of one program."""

    name: str
    lines: Sequence[str]


def split_parts(body: str) -> Sequence[Part]:
    """Return the outputs that a text is glued together of; none if it is one output."""
    if not (body.startswith(_STARTS) or has_any(body, _BEHIND_BREAK)):
        return ()
    parts: list[tuple[str, list[str]]] = [("", [])]
    is_behind_package = False
    for line in body.split("\n"):
        found = _HEADER.match(line) if line.startswith(_STARTS) else None
        if found is not None:
            parts.append((found[found.lastgroup or 0], []))
        elif not (is_behind_package and line.startswith(_ECHO)):
            parts[-1][1].append(line)
        is_behind_package = found is not None and found.lastgroup == "package"
    said = [Part(name, lines) for name, lines in parts if any(lines)]
    return said if 1 < len(parts) - 1 <= MAX_PARTS else ()


def gather_tasks(tasks: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return lines with those of one task together, behind a line with its name."""
    order = {task: number for number, task in reversed(list(enumerate(tasks)))}
    pairs = sorted(zip(tasks, lines, strict=True), key=lambda pair: order[pair[0]])
    gathered: list[str] = []
    for task, group in groupby(pairs, key=lambda pair: pair[0]):
        gathered += [f"==> {task.strip('[]: ')} <==", *(line for _, line in group)]
    return gathered
