"""
Take off what hosts write around the output of a tool.

Most of it differs from call to call, and none of it is the tool's: before a text is judged and keyed it goes. The exit
status among it is read first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

_REMARKS: Final = ("description",)
"""Arguments of commands in which the model says why: they differ between calls that are the same."""


class Undecorated(NamedTuple):
    """The output of a tool, and what its host says of it."""

    text: str
    exit_code: int | None = None
    file: str = ""
    """Where the host keeps the whole output, of which the text is a part; empty where it is whole."""

    task: str = ""
    """The host's name of a command in the background; without an exit status it still runs."""


_CODEX_LINES: Final = (
    r"(?:Chunk ID|Wall time|Process exited with code|Exit code|Original token count|Total output lines"
    r"|Warning: truncated output)"
)
_GEMINI_ENDS: Final = r"(?:Exit Code|Signal|Process Group PGID|Error: \(none\)|Signal: \(none\))"

DECORATIONS: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    "claude-code": (
        lazy_pattern(r"\A(?:Error: )?Exit code (?P<code>-?[0-9]{1,10})(?:\n|\Z)"),
        # Of the shell prefix, which has put a digest before it.
        lazy_pattern(r"\n\[errcompact: [^:\]\n]{0,40}\boutput, [^:\]\n]{1,80}: (?P<file>/[^\n]{1,4096})\]\s*\Z"),
        lazy_pattern(
            r"(?:\A|\n)Command [^\n]{2,100}?\bbackground(?:ed by user)?(?: with ID: | \(ID: )(?P<task>[\w-]{1,80})"
            r"\)?[^\n]{0,6000}\s*\Z"
        ),
        lazy_pattern(r"\n\nThis tool's input schema was not in your prompt when you called it\..*\Z", re.DOTALL),
    ),
    "codex": (
        lazy_pattern(
            rf"\A(?=(?:{_CODEX_LINES}[^\n]{{0,200}}\n){{1,8}}Output:)"
            r"(?:(?!Output:)(?:(?:Process exited with code|Exit code:?) (?P<code>-?[0-9]{1,10})"
            r"|[^\n]{0,200})\n){1,8}Output:\n?"
        ),
        lazy_pattern(r"\A(?:Warning: truncated output|Total output lines)[^\n]{0,200}\n+"),
        lazy_pattern(r"\AWall time: [0-9.]{1,20} seconds\n(?:Output:\n)?"),
    ),
    "copilot": (
        lazy_pattern(
            r"\n{0,2}<(?:shellId: (?P<task>[^\n<>]{1,80}) completed|(?:command )?exited|completed) with exit code "
            r"(?P<code>-?[0-9]{1,10})>\s*\Z"
        ),
        lazy_pattern(
            r"\n{0,2}<command (?:started in background )?with shellId: (?P<task>[^\s<>]{1,80})"
            r"(?: is still running [^<>]{0,2000})?>\s*\Z"
        ),
        lazy_pattern(
            r"\AOutput too large to read at once \([^()\n]{1,40}\)\. Saved to: (?P<file>[^\n]{1,4096})\n"
            r"(?:[^\n]{0,400}\n){1,4}Preview \(first [0-9]{1,9} chars\):\n"
        ),
        lazy_pattern(r"\AMCP server '[^'\n]{1,200}': "),
    ),
    "cursor": (
        lazy_pattern(r"\A(?:Error: )?(?:Command failed with )?[Ee]xit code:? (?P<code>-?[0-9]{1,10})(?:\n|\Z)"),
    ),
    "gemini": (
        lazy_pattern(r"\AOutput too large\. Showing [^\n]{1,100} For full output see: (?P<file>[^\n]{1,4096})\n"),
        lazy_pattern(r"\A\s{0,9}<untrusted_context>\n?"),
        lazy_pattern(r"\n?</untrusted_context>\s{0,9}\Z"),
        lazy_pattern(
            rf"(?:\A|\n)(?={_GEMINI_ENDS}|Background PIDs)(?:(?:Exit Code: (?P<code>-?[0-9]{{1,10}})"
            rf"|Background PIDs: (?P<task>[0-9]{{1,10}})[0-9, ]{{0,200}}|{_GEMINI_ENDS}[^\n]{{0,500}})"
            r"(?:\n|\Z)){1,6}\s*\Z"
        ),
        lazy_pattern(r"(?:\A|\n)Command moved to background \(PID: (?P<task>[0-9]{1,10})\)[^\n]{0,200}\s*\Z"),
        lazy_pattern(
            r"\A(?:Command: [^\n]{0,10000}\nDirectory: [^\n]{0,1000}\n)?(?:Stdout|Output): (?:\(empty\)(?=\n|\Z))?"
        ),
    ),
    "opencode": (lazy_pattern(r"\A\.{3}[^\n]{0,80}truncated\.{3}\n+Full output saved to: (?P<file>[^\n]{1,4096})\n+"),),
}
"""
What each host writes around a tool's output, in the order in which it is taken off.

One whose pattern begins with `\\A` stands before the output, all others behind it. The group `code` is an exit status,
`file` the path of the whole output, `task` a command in the background.
"""

_BEGIN: Final = r"\A"
_ENDS: Final = 8_000
"""Characters at the end of an output in which a decoration is looked for."""

_HEAD: Final = 1_000
"""Characters of a result in which it says that a hook has refused the call."""

_OFTEN: Final = 3
"""How often decorations inside one another are taken off."""

_NOT_EXECUTED: Final = lazy_pattern(
    r"\s*(?:<tool_use_error>|Error: |\{\"error\": ?\")*"
    r"(?:PreToolUse:[^\n]{1,200} hook (?:blocking )?error\b|(?:Tool call )?[Bb]locked by (?:PreToolUse|preToolUse) hook"
    r"|Command blocked by PreToolUse hook|Tool execution blocked: "
    r"|(?:Denied|Blocked) by (?:a )?(?:preToolUse )?hook|NOT EXECUTED: )"
)
"""How the result of a call begins that a hook has refused: it was not executed, so it has not failed."""


def undecorate(host: str, text: str) -> Undecorated:
    """Return a tool's output without what the host has written around it."""
    code: int | None = None
    file = task = ""
    for _ in range(_OFTEN):
        before = text
        for decoration in DECORATIONS.get(host, ()):
            # Of what stands between, programs may have printed megabytes.
            is_before = decoration.pattern.startswith(_BEGIN)
            rest, part = ("", text) if is_before else (text[:-_ENDS], text[-_ENDS:])
            found = decoration.match(part) if is_before else decoration.search(part)
            if found is None:
                continue
            named = found.groupdict()
            if (said := named.get("code")) is not None:
                code = int(said)
            file, task = named.get("file") or file, named.get("task") or task
            text = f"{rest}{part[: found.start()]}{part[found.end() :]}"
        if text == before:
            break
    return Undecorated(text, code, file, task)


def is_refused_by_hook(text: str) -> bool:
    """Return whether a result says that a hook has refused the call."""
    return _NOT_EXECUTED.match(text[:_HEAD]) is not None


def without_remarks(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a command without the model's remarks."""
    if "command" not in arguments and "cmd" not in arguments:
        return arguments
    return {name: value for name, value in arguments.items() if name not in _REMARKS}
