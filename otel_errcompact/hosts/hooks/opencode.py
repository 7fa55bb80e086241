"""
OpenCode: refuse before, replace the output, count what was thrown.

Its events come from our plugin in the host's own process, which does what the answer says: throw `refuse` before a
call, put `output` in place of a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.hosts.calls import HostResult
from otel_errcompact.hosts.hooks.decorations import is_refused_by_hook, undecorate
from otel_errcompact.hosts.hooks.gate import join, refuse, stop_of, take_prompt
from otel_errcompact.hosts.hooks.payloads import CallFields, name_of, number_of, read_call, record_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostRuns

    Event = Mapping[str, object]
    Output = dict[str, object]

HOST: Final = "opencode"
_CALL: Final = CallFields(
    tool=("tool",), arguments=("args",), call_id=("callID",), agent=("agent",), directory=("directory",)
)

_DECLINED: Final = (
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "Tool execution aborted",
)
"""How an error begins that is none: a person or a rule has declined, or the run was interrupted."""


def answer(event: Event, runs: HostRuns) -> Output:
    """Return what the plugin in OpenCode does about an event."""
    respond = _RESPONSES.get(name_of(event, "event"))
    return respond(event, runs) if respond is not None and name_of(event, "sessionID") else {}


def _before(event: Event, runs: HostRuns) -> Output:
    call = _read_call(event)
    reason = refuse(call, runs) if call is not None else ""
    return {"refuse": reason} if reason else {}


def _after(event: Event, runs: HostRuns) -> Output:
    call, shown = _read_call(event), text_of(event, "output")
    if call is None or is_refused_by_hook(shown):
        return {}
    text, said, file = undecorate(HOST, shown)
    exit_code = number_of(record_of(event, "metadata"), "exit")
    exit_code = said if exit_code is None else exit_code
    # The plugin has no channel beside a result: what a human has answered waits for one that failed.
    answered = runs.conclude(
        call, HostResult(text=text, failed=bool(exit_code), exit_code=exit_code), is_read=bool(exit_code)
    )
    if answered.outcome == "failure" and answered.text:
        place = file and f"whole output: {file}"
        return {"output": join(answered.text, place, answered.guidance, stop_of(call.run_id, runs))}
    return {}


def _on_error(event: Event, runs: HostRuns) -> Output:
    call, shown = _read_call(event), text_of(event, "error")
    if call is None or is_refused_by_hook(shown) or shown.removeprefix("Error: ").startswith(_DECLINED):
        return {}
    # The agent has read the error when the plugin learns of it: what a human has answered waits for the next call.
    runs.conclude(call, HostResult(text=shown, failed=True), is_read=False)
    return {}


def _on_turn(event: Event, runs: HostRuns) -> Output:
    runs.begin_turn(_run_id(event))
    return {}


def _on_prompt(event: Event, runs: HostRuns) -> Output:
    if not name_of(event, "parentID"):  # the prompt of a sub-agent is written by a model
        take_prompt(_run_id(event), text_of(event, "prompt"), runs)
    return {}


def _on_end(event: Event, runs: HostRuns) -> Output:
    runs.end(_run_id(event))
    return {}


def _read_call(event: Event) -> HostCall | None:
    return read_call(event, host=HOST, run_id=_run_id(event), fields=_CALL)


def _run_id(event: Event) -> str:
    return "/".join(filter(None, (name_of(event, "parentID"), name_of(event, "sessionID"))))


_RESPONSES: Final[Mapping[str, Callable[[Event, HostRuns], Output]]] = {
    "before": _before,
    "after": _after,
    "error": _on_error,
    "turn": _on_turn,
    "prompt": _on_prompt,
    "end": _on_end,
}
