"""
SpecStory: a session of a coding agent in Markdown (`.specstory/history`).

`_**User**_` and `_**Agent**_` tell who speaks. A call stands between the tags `tool-use`, or, in older files, from
`Tool use: **name**` or `*Called tool*` to the next rule; in the oldest a command and its output stand alone. The result
is the first block of code without a language. A call that was recorded without one is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import SPECSTORY, Text, lines_of, parse_time
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "specstory"

_NAME: Final = lazy_pattern(r"<!-- (?P<agent>[^\n]{1,60}?) Session (?P<id>\S{1,200}) ")
_SPEAKER: Final = lazy_pattern(r"_\*\*(?P<user>User)?(?:Agent|Assistant)?(?: [^\n*]{0,200})?\*\*_\s{0,9}\Z")
_TIME: Final = lazy_pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:Z|[+-]\d{4})")
_TAG: Final = lazy_pattern(r"<tool-use data-tool-type=\"[^\"]{0,100}\" data-tool-name=\"(?P<tool>[^\"]{1,200})\"")
_TITLE: Final = lazy_pattern(r"Tool use: \*\*(?P<tool>[^*\n]{1,200})\*\*\Z")
_CALLED: Final = lazy_pattern(r"\*Called tool\*: (?P<tool>[^:\n]{1,200})")
_END: Final = "</tool-use>"
_RULE: Final = "---"
_FENCE: Final = "```"
_FENCES: Final = 2
"""Fences around a command."""

_COMMAND: Final = "```bash\n"
_SHELL: Final = "shell"
"""The tool of commands without a name."""

_RESULTS: Final = frozenset({_FENCE, f"{_FENCE}text"})
_HEADINGS: Final = {"**Error:**": True, "**Result:**": False, "*Result*:": None, "Error:": True, "Result:": None}
"""Lines above a result, and what they say of it."""

_FAILED: Final = "Status: **error**"
_LINE: Final = lazy_pattern(r"(?:<summary>Tool use: \*\*[^*\n]{1,200}\*\*)? ?`(?P<line>[^\n]+)`(?:</summary>)?")
"""A line that is the command, or the file."""


def detect(value: object) -> bool:
    """Recognise such a text."""
    return isinstance(value, Text) and value.kind == SPECSTORY


def read(values: Values) -> Runs:
    """Read the file as a run."""
    for value, place in values:
        session = _Session()
        for number, line in lines_of(value):
            session.take(line, number)
        session.end_part(0)
        yield session.builder.build(session.name or place.stem, session.agent, place.path)


@dataclass(slots=True)
class _Session:
    builder: RunBuilder = field(default_factory=RunBuilder)
    name: str = ""
    agent: str = AGENT
    by_user: bool = False
    time_ns: int | None = None

    lines: list[str] = field(default_factory=list[str])
    """What was said, or the call that is under way."""

    tool: str = ""
    """The tool of that call."""

    is_tagged: bool = False
    is_fenced: bool = False

    def take(self, line: str, number: int) -> None:
        if self.tool and self.is_tagged:
            self.lines.append(line)
            if line.endswith(_END):
                self.end_part(number)
            return
        speaker = _SPEAKER.match(line)
        if speaker:
            self.end_part(number - 1)
            time = _TIME.search(line)
            self.by_user, self.time_ns = bool(speaker["user"]), parse_time(time[0]) if time else None
        elif not self.name and (name := _NAME.match(line)):
            self.name, self.agent = name["id"], name["agent"]
        elif not self.by_user and (
            call := _TAG.match(line) or _TITLE.match(line) or (None if self.tool else _CALLED.match(line))
        ):
            self.end_part(number - 1)
            self.tool, self.is_tagged = call["tool"], line.startswith("<")
        elif line == _RULE and not self.is_fenced:
            self.end_part(number - 1)
        else:
            self.is_fenced ^= not self.by_user and line.startswith(_FENCE)
            self.lines.append(line)

    def end_part(self, number: int) -> None:
        tool, lines = self.tool, self.lines
        self.tool, self.lines, self.is_fenced = "", [], False
        part = _split(lines)
        if not tool and part.is_shell and not self.by_user:
            tool = _SHELL
        if not tool:
            self.builder.say("\n".join(lines).strip())
            return
        self.builder.request("", tool=tool, arguments=part.arguments, time_ns=self.time_ns)
        if part.result is not None:
            self.builder.answer("", result=part.result, flagged=part.flagged, line=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What a call was asked, and its result if that was recorded."""

    arguments: str
    result: str | None = None
    flagged: bool | None = None
    is_shell: bool = False
    """Whether it is nothing but a command and its output."""


def _split(lines: list[str]) -> _Part:
    block: list[str] = []
    is_fenced, fences = False, 0
    for index, line in enumerate(map(str.rstrip, lines)):
        is_heading = line in _HEADINGS
        if not is_fenced and (is_heading or line in _RESULTS):
            asked = "\n".join(lines[:index]).strip()
            return _Part(
                arguments=_arguments_in(lines[:index], block),
                result=_strip_fence("\n".join(lines[index + is_heading :]).strip()),
                flagged=True if _FAILED in lines else _HEADINGS.get(line),
                is_shell=fences == _FENCES and asked.startswith(_COMMAND) and asked.endswith(f"\n{_FENCE}"),
            )
        if line.startswith(_FENCE):
            is_fenced, fences = not is_fenced, fences + 1
        elif is_fenced and fences == 1:
            block.append(lines[index])
    return _Part(arguments=_arguments_in(lines, block))


def _arguments_in(lines: list[str], block: list[str]) -> str:
    if block:
        return "\n".join(block)
    command = next(filter(None, map(_LINE.fullmatch, lines)), None)
    return (
        command["line"] if command else "\n".join(line for line in lines if not line.lstrip().startswith("<")).strip()
    )


def _strip_fence(text: str) -> str:
    if not text.startswith(_FENCE):
        return text.removesuffix("</details>").rstrip()
    text = f"\n{text.partition(chr(10))[2]}"
    end = text.rfind(f"\n{_FENCE}")
    return text[1 : end if end >= 0 else len(text)]
