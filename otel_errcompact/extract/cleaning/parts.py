"""Split a text into the outputs of the programs that a hook or a task runner ran."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PARTS: Final = 24
"""Outputs of one text that are told apart; a text of more is read as one."""

_HEADER: Final = lazy_pattern(
    r"(?:==> (?P<stage>\S.{0,198}?)(?: <==)?|[$%] (?P<command>[a-z./]\S{0,100}(?: .{0,300})?)"
    r"|> (?P<package>(?:@[\w.-]{1,60}/)?[\w.-]{1,60}@[0-9][\w.-]{0,40} [\w:.-]{1,60})(?: \S{1,200})?)$"
)
_STARTS: Final = ("==> ", "$ ", "% ", "> ")
_BEHIND_BREAK: Final = tuple(f"\n{start}" for start in _STARTS)
_ECHO: Final = "> "

_SIGNS_OF_HOOKS: Final = (".Failed", "\u276f")
_STATES: Final = ("Passed", "Failed", "Skipped", "\u276f")
_HOOK: Final = lazy_pattern(
    r"(?P<name>[^\s.].{0,120}?)\.{3,80}(?:\([^()]{1,60}\))?(?P<state>Passed|Failed|Skipped)$"
    r"|\u2503 {1,4}(?P<job>\S.{0,120}?) \u276f$"
)
_ABOUT_HOOK: Final = lazy_pattern(r"- (?:hook id|exit code|duration): ")
_STATUS: Final = lazy_pattern(r"exit status [0-9]{1,3}$")
_RULE: Final = "\u2500" * 8


class Part(NamedTuple):
    """The output of one program."""

    name: str
    lines: Sequence[str]
    has_failed: bool | None = None
    """Whether it failed, where who ran it says so."""


def split_parts(body: str) -> Sequence[Part]:
    """Return the outputs that a text is glued together of; none if it is one output."""
    if not (body.startswith(_STARTS) or has_any(body, _BEHIND_BREAK)):
        return _split_hooks(body) if has_any(body, _SIGNS_OF_HOOKS) else ()
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


def _split_hooks(body: str) -> Sequence[Part]:
    # Return the outputs of the hooks that failed or passed, without what the runner says of each.
    parts: list[Part] = []
    lines: list[str] = []
    for line in map(str.rstrip, body.split("\n")):
        found = _HOOK.match(line) if line.endswith(_STATES) else None
        if found is not None:
            lines = []
            has_failed = found["state"] == "Failed" if found["state"] else None
            parts.append(Part(found["name"] or found["job"], lines, has_failed))
        elif line.lstrip().startswith(_RULE):  # a summary stands below
            lines = []
        elif not _ABOUT_HOOK.match(line):
            lines.append(line)
    told = [_close_hook(part) for part in parts]
    return told if 1 < len(told) <= MAX_PARTS and any(part.has_failed for part in told) else ()


def _close_hook(part: Part) -> Part:
    if part.has_failed is not None:
        return part
    kept = [line for line in part.lines if not _STATUS.match(line)]
    return Part(part.name, kept, len(kept) < len(part.lines))


def gather_tasks(tasks: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return lines with those of one task together, behind a line with its name."""
    order = {task: number for number, task in reversed(list(enumerate(tasks)))}
    pairs = sorted(zip(tasks, lines, strict=True), key=lambda pair: order[pair[0]])
    gathered: list[str] = []
    for task, group in groupby(pairs, key=lambda pair: pair[0]):
        gathered += [f"==> {task.strip('[]: ')} <==", *(line for _, line in group)]
    return gathered
