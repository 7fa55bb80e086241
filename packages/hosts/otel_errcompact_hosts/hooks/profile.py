"""What a host calls events and fields, and how it is answered."""

from __future__ import annotations

import re
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.decorations import is_refused_by_hook, undecorate
from otel_errcompact_hosts.hooks.gate import join_texts, refuse_call, stop_of, take_prompt
from otel_errcompact_hosts.hooks.saved_output import read_saved
from otel_errcompact_hosts.payloads import CallFields, arguments_of, name_of, output_for, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact_hosts.calls import Answer
    from otel_errcompact_hosts.runs import LedgerRuns

    Event = Mapping[str, object]
    Output = dict[str, object]
    Own = Callable[["Profile", Event, LedgerRuns], Output]

Kind = Literal["before", "after", "failure", "batch", "turn", "prompt", "start", "end", "agent_end"]

TRIAL: Final = "doctor-"
"""How the sessions are called in which our own doctor tries the hooks."""

OF_CALLS: Final = frozenset({"before", "after", "failure"})
_NOTHING: Final[Mapping[Kind, Own]] = {}


class Seen(NamedTuple):
    """What an event says of a call that has ended."""

    shown: str
    """What the agent reads, if nothing is said."""

    read: str
    """The same without what the host has written around it."""

    result: HostResult
    file: str = ""
    """Where the host keeps the whole output; empty where all is shown."""

    task: str = ""
    """What the host calls a command in the background; without an exit status it still runs."""

    is_read: bool = True
    """Whether the agent reads the answer."""

    signal: str = ""
    """The host's line on the signal that has ended a command."""

    @property
    def status(self) -> str:
        """How a command has ended; empty where nothing says so."""
        return f"exit code {self.result.exit_code}" if self.result.exit_code else self.signal

    @property
    def place(self) -> str:
        """The line that leads to the whole output, if any."""
        partly = "only a part of the output was read; " if self.file and self.result.text == self.read else ""
        return f"{partly}whole output: {self.file}" if self.file else ""


def read_shown(host: str, shown: str, *, failed: bool | None = None, exit_code: int | None = None) -> Seen:
    """Read a result as its host shows it."""
    read, said, file, task = undecorate(host, shown)
    exit_code = said if exit_code is None else exit_code
    result = HostResult(text=read_saved(file) or read, failed=failed, exit_code=exit_code)
    return Seen(shown, read, result, file, task)


class Verdict(NamedTuple):
    """What there is to say of it."""

    kind: Kind
    call: HostCall
    answer: Answer
    find_stop: Callable[[], str]
    """Says why the run is stopped; empty if it may continue."""

    @property
    def replaces(self) -> bool:
        """Whether there is a digest for the place of the output."""
        return self.answer.outcome == "failure" and bool(self.answer.text)

    def write_digest(self, seen: Seen) -> str:
        """Write what the agent reads in place of the output."""
        text = self.answer.text
        status = "" if re.search(rf"\b{seen.status}\b", text) else seen.status
        return join_texts(text, status, seen.place, self.answer.guidance, self.find_stop())


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A host."""

    name: str
    events: Mapping[str, Kind]
    """Its events in the order of its settings, and what they are."""

    refuse: Callable[[str], Output]
    """Write that a call is not to be executed, and why."""

    read: Callable[[Event, Kind], Seen | None]
    """Read what a call has returned; None for one that was not executed."""

    write: Callable[[Event, Seen, Verdict], Output]
    name_event: Callable[[Event], str] = lambda event: name_of(event, "hook_event_name")
    run: tuple[tuple[str, ...], ...] = (("session_id",), ("agent_id",))
    """The fields of the session and of the sub-agent, as they stand in the id of a run."""

    agent: str = "agent_id"
    """The field that only sub-agents have."""

    call: CallFields = CallFields()
    says_stops: bool = True
    """Whether something can be added to a prompt and to the start of a session."""

    says_turns: bool = False
    own: Mapping[Kind, Own] = field(default_factory=lambda: _NOTHING)
    """What it is truly different in."""

    def find_run(self, event: Event) -> str:
        """Return the id of the run; of a sub-agent `session/agent`."""
        return "/".join(filter(None, (name_of(event, *names) for names in self.run)))

    def read_call(self, event: Event) -> HostCall | None:
        """Return the call that an event is about; None without."""
        fields = self.call
        tool, call_id = name_of(event, *fields.tool), name_of(event, *fields.call_id)
        if not tool:
            return None
        return HostCall(
            run_id=self.find_run(event),
            tool=tool,
            arguments=arguments_of(event, *fields.arguments),
            call_id=call_id,
            agent=name_of(event, *fields.agent) or self.name,
            directory=text_of(event, *fields.directory),
            says_turns=self.says_turns and bool(call_id),
        )


def answer_event(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    """Return what a host reads as the output of a hook."""
    kind = host.events.get(host.name_event(event))
    run_id = host.find_run(event)
    if kind is None or not run_id:
        return {}
    told = ""
    # The end of a session comes by a way of its own, as its start does.
    if runs.heard is not None and kind != "end" and not run_id.startswith(TRIAL):
        told = runs.heard.note(host.name, run_id, is_start=kind == "start")
    find_answer = host.own.get(kind) or _ANSWERS.get(kind) or partial(after_call, kind=kind)
    said = find_answer(host, event, runs)
    return {**said, "systemMessage": told} if told and host.says_stops else said


def add_context(event: str, text: str) -> Output:
    """Return an answer that adds a text, as Claude Code has it."""
    return output_for(event, additionalContext=text) if text else {}


def _before_call(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    call = host.read_call(event)
    reason = refuse_call(call, runs) if call is not None else ""
    return host.refuse(reason) if reason else {}


def after_call(host: Profile, event: Event, runs: LedgerRuns, kind: Kind) -> Output:
    """Conclude a call that has ended; return the answer."""
    call, seen = host.read_call(event), host.read(event, kind)
    if call is None or seen is None or is_refused_by_hook(seen.shown):
        return {}
    if seen.task:
        call = runs.announced.follow_task(call, seen.task, is_over=seen.result.exit_code is not None)
        if call is None:
            return {}
    answer = runs.conclude(call, seen.result, is_read=seen.is_read)
    return host.write(event, seen, Verdict(kind, call, answer, partial(stop_of, call.run_id, runs)))


def _on_turn(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    runs.begin_turn(host.find_run(event))
    return {}


def _on_prompt(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    if not name_of(event, host.agent):  # the prompt of a sub-agent is written by a model
        take_prompt(host.find_run(event), text_of(event, "prompt"), runs)
    return _on_start(host, event, runs)


def _on_start(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    stop = stop_of(host.find_run(event), runs) if host.says_stops else ""
    return add_context(host.name_event(event), stop and f"errcompact: {stop}")


def _on_end(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    runs.end(host.find_run(event))
    return {}


def _on_agent_end(host: Profile, event: Event, runs: LedgerRuns) -> Output:
    # An older host does not say which one has ended: then it must not be the session.
    return _on_end(host, event, runs) if name_of(event, host.agent) else {}


_ANSWERS: Final[Mapping[Kind, Own]] = {
    "before": _before_call,
    "turn": _on_turn,
    "prompt": _on_prompt,
    "start": _on_start,
    "end": _on_end,
    "agent_end": _on_agent_end,
}
