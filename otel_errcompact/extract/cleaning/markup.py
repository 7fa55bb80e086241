"""Strip tags of harnesses, fences of Markdown, and lines drawn to the left of a block."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.extract.cleaning.envelope import Opened
from otel_errcompact.extract.cleaning.framing import read_frame
from otel_errcompact.extract.statements import is_telling
from otel_errcompact.runtime.lazy import lazy_pattern

_MAX_AROUND: Final = 400
"""Characters before and behind a fenced output that may introduce it."""

_MAX_WORDS: Final = 4

_STREAMS: Final = (
    r"(?:tool_use_error|error|stderr|stdout|output|observation|results?|function_results?|tool_result|tool_output"
    r"|bash_output|command_output|response)"
)
_TAG: Final = lazy_pattern(
    # Tags within tags all at once: one that is left without its end would not be known for one any more.
    rf"(?m)^(?:[ \t]{{0,20}}</?{_STREAMS}>)+(?P<end>\n?)|\n?(?:</?{_STREAMS}>)+$"
)
_INDENTS: Final = lazy_pattern(r"[ \t]+")
_ABOUT: Final = lazy_pattern(
    r"<(?P<name>return_?code|exit_?code|exit_?status|duration|wall_time|cwd|command)>"
    r"\s{0,8}(?P<value>[^<]{0,2000}?)\s{0,8}</(?P=name)>\n?"
)
_EXITED: Final = lazy_pattern(
    r"\n?<(?:command )?(?:exited|completed|finished|failed) with exit code (?P<value>-?[0-9]{1,9})>"
)
_REMINDER: Final = lazy_pattern(r"\n?<(?P<name>system-reminder|environment_details)>.{0,20000}?</(?P=name)>", re.DOTALL)
_FENCE: Final = lazy_pattern(r"(?m)^ {0,3}(?P<mark>`{3,5}|~{3,5})[\w+-]{0,30}$")
_DENIES: Final = lazy_pattern(r"(?i)\W{0,4}(?:no|not|never)\b")
_STATUS: Final = lazy_pattern(r"-?[0-9]{1,9}$")
_CORNER: Final = "\u2577\n"
_BLOCK: Final = lazy_pattern(r"(?m)^\u2577\n(?:\u2502[^\n]*(?:\n|\Z))+")
_MARGIN: Final = lazy_pattern(r"(?m)^\u2502 ?")


def strip_tags(text: str) -> Opened | None:
    """Return a text without the tags of a harness, with the exit status."""
    if "</" not in text and "<exited" not in text and "<command " not in text:
        return None
    status = 0
    for found in (*_ABOUT.finditer(text), *_EXITED.finditer(text)):
        if "code" in found[0] and _STATUS.match(found["value"]):
            status = int(found["value"])
    without = _TAG.sub(_keep_indent, _EXITED.sub("", _ABOUT.sub("", _REMINDER.sub("", text))))
    return Opened(without, status or None) if without != text else None


def _keep_indent(found: re.Match[str]) -> str:
    return "" if found["end"] != "" else "".join(_INDENTS.findall(found[0]))


def strip_fence(text: str) -> Opened | None:
    """Return the fenced part of a text if the rest only introduces it."""
    if "```" not in text and "~~~" not in text:
        return None
    fences = list(_FENCE.finditer(text))
    if len(fences) != 2 or fences[0]["mark"] != fences[1]["mark"]:  # noqa: PLR2004 - one opens, one closes
        return None
    opening, closing = fences
    inner = text[opening.end() : closing.start()]
    before, behind = text[: opening.start()], text[closing.end() :]
    if not inner.strip() or not _says_nothing(before, introducing=True) or not _says_nothing(behind):
        return None
    return Opened(inner)


def _says_nothing(text: str, *, introducing: bool = False) -> bool:
    if len(text) > _MAX_AROUND:
        return False
    lines = [line.strip() for line in text.split("\n")]
    return all(read_frame(line) is not None or (introducing and _is_introduction(line)) for line in lines)


def _is_introduction(line: str) -> bool:
    is_short = line.endswith(":") or line.count(" ") < _MAX_WORDS
    return is_short and not is_telling(line) and not _DENIES.match(line)


def strip_margins(text: str) -> str:
    """Return `text` without the margins of its blocks; the corners stay, since they part a block from other output."""
    if _CORNER not in text:
        return text
    return _BLOCK.sub(lambda block: _MARGIN.sub("", block[0]), text)
