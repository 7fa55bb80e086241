"""
A run in the making, with its tokens and times.

Formats without times get made-up ones: each step is one millisecond after the last known time, and a run without any
time at all begins at `FIRST_NS`. So the same file always gives the same times, and their order is that of the record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_lab.transcripts.model import RecordedCall, RecordedRun
from otel_errcompact_lab.transcripts.records import is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from otel_errcompact_lab.transcripts.records import Record, Value

Values: TypeAlias = "Iterable[Value]"
Runs: TypeAlias = "Iterator[RecordedRun]"
"""What a format reads, and what it returns."""

FIRST_NS: Final = 946_684_800_000_000_000
"""Where made-up times begin: 2000-01-01T00:00:00Z."""

FULL_REWARD: Final = 1 - 1e-6
"""From where on a reward is that of a task that was done, as tau-bench counts."""

STEP_NS: Final = 1_000_000
"""How far made-up times are apart: one millisecond."""

_IDS: Final = ("call_id", "toolCallId", "id")
_TOOLS: Final = ("name", "toolName", "function")
_ARGUMENTS: Final = ("arguments", "args", "input", "action", "operation", "code")
"""How programs name the parts of a call."""


@dataclass(slots=True)
class RunBuilder:
    """One run while its records are read."""

    calls: list[RecordedCall] = field(default_factory=list[RecordedCall])
    context_tokens: int = 0
    result_tokens: int = 0
    _requests: dict[str, RecordedCall] = field(default_factory=dict[str, RecordedCall])
    _now_ns: int = FIRST_NS - STEP_NS

    def begin(self, time_ns: int) -> None:
        """Set the beginning of the run, if its calls have no times."""
        self._now_ns = time_ns - STEP_NS

    def say(self, text: str) -> None:
        """Count a text of the user, the assistant or the system."""
        self.context_tokens += estimate_tokens(text)

    def request(
        self,
        key: str,
        *,
        tool: str,
        arguments: str,
        call_id: str | None = None,
        operation: str = "",
        spoken: bool = False,
        time_ns: int | None = None,
    ) -> None:
        """
        Add a call of a tool.

        Args:
            key: The key of the result; a later request with the same key replaces this one.
            tool: The tool's name.
            arguments: Its arguments.
            call_id: The id of the call, if it is not the key.
            operation: What must succeed for a failure to count as resolved, if not the tool.
            spoken: Whether the arguments are part of a text that was counted already.
            time_ns: When, if the record says.
        """
        if not spoken:
            self.say(arguments)
        now_ns = self._at(time_ns)
        self._requests[key] = RecordedCall(
            tool=tool,
            call_id=key if call_id is None else call_id,
            arguments=arguments,
            operation=operation,
            result="",
            start_ns=now_ns,
            end_ns=now_ns,
            line=0,
        )

    def request_call(self, call: Record, *, tool: str = "", time_ns: int | None = None) -> None:
        """Add a call, flat or nested; `tool` if it has no name."""
        nested = next((key for key in ("custom", "function") if is_object(call.fields.get(key))), "")
        inner = call.child(nested) if nested else call
        name, arguments = inner.first(*_TOOLS) or tool, inner.first_json(*_ARGUMENTS)
        self.request(call.first(*_IDS), tool=name, arguments=arguments, time_ns=time_ns)

    def answer(
        self,
        key: str,
        *,
        result: str,
        line: int | None = None,
        tool: str = "",
        call_id: str | None = None,
        flagged: bool | None = None,
        exit_code: int | None = None,
        time_ns: int | None = None,
    ) -> None:
        """
        Add the result of a tool.

        Args:
            key: The key of the request; without a request the result has no arguments.
            result: The whole text.
            line: The line of the file; without it, the position in the run.
            tool: The tool's name as the result tells it, for when the request is missing.
            call_id: The id of the call as the result tells it, if it is not the key.
            flagged: The record's own flag: failed, not failed, None without one.
            exit_code: The exit status, if the record has it apart from the text.
            time_ns: When, if the record says.
        """
        asked = self._requests.pop(key, None)
        end_ns = self._at(time_ns)
        call_id = key if call_id is None else call_id
        if asked is None:
            asked = RecordedCall(tool=tool, call_id=call_id, result="", start_ns=end_ns, end_ns=end_ns, line=0)
        self.say(result)
        self.result_tokens += estimate_tokens(result)
        self.calls.append(
            replace(
                asked,
                call_id=asked.call_id or call_id,
                result=result,
                flagged=flagged,
                exit_code=exit_code,
                start_ns=min(asked.start_ns, end_ns),
                end_ns=end_ns,
                line=line or len(self.calls) + 1,
                context_tokens=self.context_tokens,
            )
        )

    def after(self, duration_ns: int) -> int:
        """Return the time that long after the last known one."""
        return self._now_ns + max(duration_ns, 0)

    def build(
        self,
        run_id: str,
        agent: str,
        source: str,
        *,
        outcome: str = "",
        succeeded: bool | None = None,
        reward: float | None = None,
    ) -> RecordedRun:
        """Return the run as it stands; a reward decides how it ended."""
        return RecordedRun(
            run_id=run_id,
            agent=agent,
            source=source,
            calls=tuple(self.calls),
            context_tokens=self.context_tokens,
            result_tokens=self.result_tokens,
            outcome=outcome if reward is None else f"reward {reward:g}",
            succeeded=succeeded if reward is None else reward >= FULL_REWARD,
        )

    def _at(self, time_ns: int | None) -> int:
        if time_ns is None:
            time_ns = self._now_ns + STEP_NS
        self._now_ns = time_ns
        return time_ns


def words_of(succeeded: bool | None, yes: str = "success", no: str = "failure") -> str:
    """Return an outcome in words; empty if it is not known."""
    return "" if succeeded is None else yes if succeeded else no
