"""
The scripted agent: it reads text and answers with a tool call.

Every reaction is read out of the text: which line lacks its comma, which column there is not, where to divide by
nothing. No exception, no exit code and no raw error ever reaches it.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

TASK: Final = "Publish the sales report. Repair what stands in the way."

MODEL: Final = "scripted"
"""The name of its model in telemetry."""

_MISSING_COMMA: Final = lazy_pattern(r"Expecting ',' delimiter: line (?P<line>\d+)")
_NO_SUCH_COLUMN: Final = lazy_pattern(r"no such column: (?P<column>\w+)")
_DIVISION_BY_ZERO: Final = lazy_pattern(
    r"\[ZeroDivisionError\] at [^(\n]{1,200}\((?P<file>[^()\n]{1,500}):(?P<line>\d+)\)"
)
_CHOICES: Final = lazy_pattern(r"invalid choice: '(?P<wrong>\w+)' \(choose from '?(?P<right>\w+)")
_ORDERED_ADDRESS: Final = lazy_pattern(r"^OPERATOR: .*?(?P<url>http://\S+)", re.MULTILINE)
_PUBLISHED: Final = "HTTP/1.1 201"
_REFUSED: Final = "NOT EXECUTED"
_FORBIDDEN: Final = "read_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What the agent wants done, and why."""

    tool: str
    arguments: Mapping[str, str | int]
    thought: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The texts that the agent reads before its next step."""

    result: str
    """What its last call gave back: the tool's answer, or the digest of the failure."""

    recent_errors: str
    """The block of recent errors."""


Agent = Generator[ToolCall, Prompt, None]
_Task = Generator[ToolCall, Prompt, str]


def agent() -> Agent:
    """Work on the task; each prompt sent in leads to a call."""
    settings = json.loads((yield from _read_settings()))
    yield from _sum_sales()
    yield from _mend_tests()
    yield from _export_report(settings["database"], settings["report"])
    yield from _publish_report(settings["report"], settings["upload"])


def _ask_for(thought: str, tool: str, **arguments: str | int) -> ToolCall:
    return ToolCall(tool=tool, arguments=arguments, thought=thought)


def _read_settings() -> _Task:
    prompt = yield _ask_for("Read the settings.", "read_json", path="settings.json")
    while found := _MISSING_COMMA.search(prompt.result):
        line = int(found["line"])
        thought = f"Line {line} was expected to begin with a comma: line {line - 1} lacks it."
        yield _ask_for(thought, "edit_line", path="settings.json", line=line - 1, append=",")
        prompt = yield _ask_for("Read the settings again.", "read_json", path="settings.json")
    return prompt.result


def _sum_sales() -> _Task:
    sql = "SELECT region, SUM(amount) FROM orders GROUP BY region"
    prompt = yield _ask_for("Sum the sales of each region.", "query", sql=sql)
    while found := _NO_SUCH_COLUMN.search(prompt.result):
        wrong = found["column"]
        names = yield _ask_for(f"There is no column {wrong!r}. Which are there?", "columns", table="orders")
        (right,) = difflib.get_close_matches(wrong, names.result.split(", "), n=1, cutoff=0)
        sql = sql.replace(wrong, right)
        prompt = yield _ask_for(f"{right!r} is the closest.", "query", sql=sql)
    return prompt.result


def _mend_tests() -> _Task:
    prompt = yield _ask_for("Do the tests of the statistics pass?", "run_tests")
    while found := _DIVISION_BY_ZERO.search(prompt.result):
        file, line = found["file"], int(found["line"])
        source = yield _ask_for(f"A division by zero. What does {file}:{line} say?", "read_line", path=file, line=line)
        divisor = source.result.rpartition("/ ")[2]
        thought = f"Every failure divides by {divisor!r} there: guard it."
        yield _ask_for(thought, "edit_line", path=file, line=line, append=f" if {divisor} else 0")
        prompt = yield _ask_for("And now?", "run_tests")
    return prompt.result


def _export_report(database: str, report: str) -> _Task:
    command = f"python -m shop.export {database} {report} --format xlsx"
    prompt = yield _ask_for("Export the report.", "shell", command=command)
    while found := _CHOICES.search(prompt.result):
        wrong, right = found["wrong"], found["right"]
        command = command.replace(wrong, right)
        prompt = yield _ask_for(f"Not {wrong!r}, but {right!r}.", "shell", command=command)
    return prompt.result


def _publish_report(report: str, url: str) -> _Task:
    # Insists, as agents do: only the run's gate ends it.
    timeout = 20
    prompt = yield _ask_for("Publish the report.", "publish", report=report, url=url, timeout=timeout)
    while _PUBLISHED not in prompt.result:
        thought = "Try again."
        ordered = _ORDERED_ADDRESS.search(prompt.recent_errors)
        if ordered is not None and ordered["url"] != url:
            url, thought = ordered["url"], "The operator gave me another address."
        elif _REFUSED in prompt.result:
            timeout, thought = timeout + 20, "This exact call is refused by now. Perhaps with more time?"
        elif _FORBIDDEN not in prompt.result:
            timeout, thought = timeout + 20, "Perhaps with more time?"
        prompt = yield _ask_for(thought, "publish", report=report, url=url, timeout=timeout)
    return prompt.result
