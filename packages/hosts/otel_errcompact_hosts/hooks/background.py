"""Conclude commands in the background when their host reports the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_hosts.calls import HostCall
from otel_errcompact_hosts.hooks.gate import join_texts
from otel_errcompact_hosts.hooks.profile import read_shown
from otel_errcompact_hosts.hooks.saved_output import read_saved

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from otel_errcompact_hosts.runs import LedgerRuns

_ENDS: Final[Mapping[str, re.Pattern[str]]] = {
    "claude-code": lazy_pattern(
        r"<task-id>(?P<task>[\w-]{1,80})</task-id>(?:\s*<(?!output-file|status)[\w-]{1,40}>[^<]{0,400}</[\w-]{1,40}>){0,4}"
        r"(?:\s*<output-file>(?P<file>[^<\n]{1,4096})</output-file>)?\s*<status>(?:completed|failed)</status>"
        r"(?:\s*<summary>(?:(?!exit code|</summary>).){0,2000}exit code (?P<code>-?[0-9]{1,10}))"
    ),
    "gemini": lazy_pattern(
        r"(?m)^- \[PID (?P<task>[0-9]{1,10})\] EXITED: [^\n]{0,4000} \(Exit Code: (?P<code>-?[0-9]{1,10})\)$(?P<file>)"
    ),
}
_MAX_TEXT: Final = 64_000


def conclude_tasks(host: str, run_id: str, text: str, runs: LedgerRuns) -> str:
    """Conclude the commands that have ended; return what is new."""
    report, news = HostCall(run_id=run_id, tool=host), list[str]()
    for found in _ENDS[host].finditer(text[:_MAX_TEXT]):
        call = runs.announced.follow_task(report, found["task"], is_over=True)
        if call is not None:
            code = int(found["code"])
            seen = read_shown(host, read_saved(found["file"] or ""), failed=code != 0, exit_code=code)
            answer = runs.conclude(call, seen.result)
            # Of its output the agent has read nothing.
            news += answer.text, answer.beside
    return join_texts(*news)
