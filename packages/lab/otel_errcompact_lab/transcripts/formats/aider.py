"""
aider: a project's chats in Markdown (`.aider.chat.history.md`).

`####` marks what the user said or aider said in the user's name, `>` what aider told the user; all else is the model's.
Aider has no tool calls, but does three things for the model: it applies its edits, lints and runs tests or commands.
What failed of these it tells the model in the user's name. A failure that was not passed on, because the user declined
or nothing more was to be tried, is read from what the user was told. The program tells no times but that of its start.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_lab.transcripts.records import AIDER, Text, lines_of, parse_time
from otel_errcompact_lab.transcripts.run_builder import RunBuilder

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.model import RecordedRun
    from otel_errcompact_lab.transcripts.records import Place
    from otel_errcompact_lab.transcripts.run_builder import Runs, Values

AGENT: Final = "aider"

_EDIT: Final = "edit"
_LINT: Final = "lint"
_RUN: Final = "run"
_TEST: Final = "test"

_USER: Final = "####"
_TOLD: Final = ">"
_LINE_END: Final = "  "
"""What aider writes at the end of a line, so that Markdown keeps the line."""

_RAN: Final = lazy_pattern(
    # Blank lines are taken whole: where they could be shared out, their number was tried to the power of three.
    r"\s*+I ran this command:[^\S\n]*+\n(?P<command>.*?)"
    r"\n[^\S\n]*+And got this output:[^\S\n]*+\n(?:[^\S\n]*+\n)*+(?P<output>.*)\Z",
    re.DOTALL,
)
_LINTED: Final = lazy_pattern(r"\s*# Fix any (?:linting )?errors below, if possible\.")
_LINTER: Final = lazy_pattern(r"^## Running: (.+)$", re.MULTILINE)
_BAD_EDIT: Final = lazy_pattern(
    r"\s*(?:# [0-9]{1,6} SEARCH/REPLACE blocks? failed to match!|UnifiedDiffNo|UnifiedDiffNotUnique"
    r"|## SearchReplaceNoExactMatch|The LLM did not conform to the edit format|Exception while updating files:"
    r"|Error (?:parsing patch content|applying action)|[^\n]{1,300}\n\^\^\^ )"
)
_MOST_TOLD: Final = 8
"""Lines for the user among which the first one of a failure stands."""

_QUESTION: Final = "Attempt to fix "
"""The question to the user after a failure."""

_APPLIED: Final = "Applied edit to "
_ASKED_TO_RUN: Final = ("/run ", "!")
_COMMANDS: Final = ("/", "!")
_MIN_REPEATED: Final = 20
"""Characters that show that a message repeats what the user was told."""

_ASKED: Final = lazy_pattern(r"(?:(?P<run>/run |!)|/test\b) ?(?P<command>[^\n]*)")
_HOUSEKEEPING: Final = lazy_pattern(
    r"Added [0-9,]{1,12} lines? of output to the chat\.|Add (?:[0-9.]{1,12}k tokens of command|the) output "
    r"to the chat\?"
    r"|Attempt to fix |https?://\S{1,300}\Z"
)
"""What aider tells of an output itself."""


def detect(value: object) -> bool:
    """Recognise a text in which a chat begins."""
    return isinstance(value, Text) and value.kind == AIDER


def read(values: Values) -> Runs:
    """Read each chat as a run."""
    for value, place in values:
        chat: _Chat | None = None
        for number, line in lines_of(value):
            if line.startswith(AIDER):
                if chat is not None:
                    yield chat.run()
                chat = _Chat(place, line.removeprefix(AIDER).strip())
                continue
            if chat is None and line.startswith(f"{_USER} "):  # the rest of a chat whose beginning was cut off
                chat = _Chat(place, "")
            if chat is not None:
                chat.take(line, number)
        if chat is not None:
            yield chat.run()


@dataclass(slots=True)
class _Part:
    """Lines of one speaker."""

    speaker: str = ""
    lines: list[str] = field(default_factory=list[str])

    last: int = 0
    """The number of the last line."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


@dataclass(slots=True)
class _Chat:
    place: Place
    started: str
    builder: RunBuilder = field(default_factory=RunBuilder)
    part: _Part = field(default_factory=_Part)
    failure: tuple[str, str, int] | None = None
    """Tool, text and line of a failure that the user has seen, and the model perhaps not."""

    answer: str = ""
    """What the model said last, which holds its edits."""

    asked: str = ""
    """What the user asked for last."""

    command: re.Match[str] | None = None
    """The command that the user asked for last, until its output was seen."""

    def __post_init__(self) -> None:
        begin = parse_time(self.started)
        if begin is not None:
            self.builder.begin(begin)

    def run(self) -> RecordedRun:
        self.end_part()
        self.settle()
        return self.builder.build(self.started or self.place.stem, AGENT, self.place.path)

    def take(self, line: str, number: int) -> None:
        speaker = next((mark for mark in (_USER, _TOLD) if line == mark or line.startswith(f"{mark} ")), "")
        # Of a text of many lines for the user, aider marks only the first.
        if not speaker and self.is_told_failure():
            speaker = _TOLD
        if speaker != self.part.speaker:
            self.end_part()
            self.part = _Part(speaker)
        if speaker:
            line = line.removeprefix(speaker).removeprefix(" ").removesuffix(_LINE_END)
        self.part.lines.append(line)
        self.part.last = number

    def is_told_failure(self) -> bool:
        told = self.part.speaker == _TOLD
        return told and self.command is None and any(_tool_of(line) for line in self.part.lines[:_MOST_TOLD])

    def end_part(self) -> None:
        part, text = self.part, self.part.text
        self.part = _Part()
        if not text:
            return
        if part.speaker == _USER:
            self.take_user(text, part.last)
        elif part.speaker == _TOLD:
            self.take_told(part)
        else:
            self.settle()
            self.builder.say(text)
            self.answer, self.command = text, None

    def take_user(self, text: str, line: int) -> None:
        ran = _RAN.match(text)
        tool = _tool_of(text)
        if self.failure is not None and (self.failure[0] == tool or _repeats(text, self.failure[1])):
            tool, self.failure = self.failure[0], None
        self.settle()
        self.command = None if ran else _ASKED.match(text)
        if ran:
            self.note_command(ran["command"], ran["output"], line, by_user=self.asked.startswith(_ASKED_TO_RUN))
        elif tool:
            self.note_failure(tool, text, line)
        else:
            self.builder.say(text)
        self.asked = text

    def take_told(self, part: _Part) -> None:
        if self.command is not None:
            asked, self.command = self.command, None
            output = "\n".join(line for line in part.lines if not _HOUSEKEEPING.match(line))
            if output.strip("\n"):
                self.note_command(asked["command"], output, part.last, by_user=bool(asked["run"]))
            return
        first = next((index for index, line in enumerate(part.lines) if _tool_of(line)), len(part.lines))
        for line in part.lines[:first]:
            if line.startswith(_APPLIED):
                self.note(_EDIT, line, part.last, arguments=self.answer, flagged=False)
        told = list(itertools.takewhile(lambda line: not line.startswith(_QUESTION), part.lines[first:]))
        if told:
            self.settle()
            self.failure = _tool_of(told[0]), "\n".join(told).strip("\n"), part.last

    def settle(self) -> None:
        """Record a failure that the model has not seen."""
        if self.failure is not None:
            self.note_failure(*self.failure)
        self.failure = None

    def note_failure(self, tool: str, text: str, line: int) -> None:
        linter = _LINTER.search(text)
        arguments = self.answer if tool == _EDIT else linter[1] if linter else ""
        self.note(tool, text, line, arguments=arguments, flagged=True)

    def note_command(self, command: str, output: str, line: int, *, by_user: bool) -> None:
        # Of tests aider keeps the output only where they failed.
        tool, flagged = (_RUN, None) if by_user else (_TEST, True)
        self.note(tool, output.strip("\n"), line, arguments=command.strip(), flagged=flagged)

    def note(self, tool: str, result: str, line: int, *, arguments: str, flagged: bool | None) -> None:
        # The edits stand in the answer, which was said.
        self.builder.request("", tool=tool, arguments=arguments, spoken=tool == _EDIT)
        self.builder.answer("", result=result, line=line, flagged=flagged)


def _repeats(text: str, failure: str) -> bool:
    # What the user types next may be any word of a failure.
    return len(text) >= _MIN_REPEATED and failure.endswith(text) and not text.startswith(_COMMANDS)


def _tool_of(text: str) -> str:
    return _LINT if _LINTED.match(text) else _EDIT if _BAD_EDIT.match(text) else ""
