"""The runs of all hosts in one process, counted by its ledger."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from otel_errcompact.boundary.runs import Run
from otel_errcompact.boundary.scope import RunScope, RunSettings, check_settings
from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.engine.ladder import explain_stop
from otel_errcompact.installation.install import current_ledger
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact_hosts.announced import AnnouncedCalls
from otel_errcompact_hosts.calls import Answer

if TYPE_CHECKING:
    from typing import Unpack

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.engine.state import Verdict
    from otel_errcompact_hosts.calls import HostCall, HostResult
    from otel_errcompact_hosts.heard import Heard

MAX_RUNS: Final = 1_000
"""Runs whose turns and call ids are remembered; counts and verdicts are the store's, and outlive that."""

MAX_HOOKED: Final = 4_096
"""Runs of which is remembered that hooks report them, the newest."""

MAX_CALLS: Final = 1_024
"""Call ids of a run that are remembered."""

MAX_TURNS: Final = 64
"""Turns of a run whose late calls are still counted as theirs."""

MAX_IDENTICAL: Final = 64
"""Identical calls without ids that are under way at the same time."""

MAX_REFUSALS: Final = 16
"""Refusals of a run that are recognised when a host reports them as failures."""

_NO_TEXT: Final = "the call has failed without a text"


class _Hosted:
    def __init__(self, scope: RunScope) -> None:
        self.scope = scope
        self.run = Run(scope)
        self.lock = ReentrantLock()
        self.concluded: BoundedTable[str, bool] = BoundedTable(MAX_CALLS)
        self.began: BoundedTable[str, tuple[int, ...]] = BoundedTable(MAX_CALLS)
        self.refused: BoundedTable[str, str] = BoundedTable(MAX_CALLS)
        self.turns: BoundedTable[str, int] = BoundedTable(MAX_TURNS)
        self.refusals: BoundedTable[str, bool] = BoundedTable(MAX_REFUSALS)

    def claim(self, call_id: str) -> bool:
        with self.lock:
            is_new = self.concluded.get(call_id) is None
            if is_new and call_id:
                self.concluded.put(call_id, True)
            return is_new

    def begin(self, call: HostCall) -> int:
        # The tick at which the agent asked for a call that has not been made yet.
        with self.lock:
            if call.says_turns and not self.run.port.has_turns:
                self.run.begin_turn()
        # Without an id, an identical call may be under way.
        known = self.find_tick(call) if call.call_id or call.turn else 0
        return known or self.run.port.mark_request()

    def keep_tick(self, call: HostCall, began: int) -> None:
        key = _name_call(call)
        with self.lock:
            others = () if call.call_id else (self.began.get(key) or ())[1 - MAX_IDENTICAL :]
            self.began.put(key, (*others, began))

    def find_tick(self, call: HostCall) -> int:
        # The tick at which the agent asked for it; 0 if unknown.
        with self.lock:
            # The newest: of an older one without an id the host may never have brought a result.
            *others, began = self.began.pop(_name_call(call)) or (0,)
            if others:
                self.began.put(_name_call(call), tuple(others))
            if began or not call.turn:
                return began
            known = self.turns.get(call.turn)
            if known is None:
                self.run.begin_turn()
                known = self.run.port.mark_request()
                self.turns.put(call.turn, known)
            return known

    def is_refusal(self, call_id: str, text: str) -> bool:
        if call_id and self.refused.get(call_id):
            return True
        return any(refusal in text for refusal in tuple(self.refusals.entries))


class LedgerRuns:
    """
    Counts the calls of all hosts in the ledger of this process.

    A run begins at its first call and lasts until `end`, however long no call comes. A sub-agent `session/agent` is a
    run of its own, which stops where its session does.

    Raises:
        ConfigurationError: There is no such setting, or it is not what it should be.
    """

    def __init__(self, **settings: Unpack[RunSettings]) -> None:
        check_settings(settings)
        self._settings = settings
        self._lock = ReentrantLock()
        self._hosted: OrderedDict[str, _Hosted] = OrderedDict()
        self.heard: Heard | None = None
        """Where it is noted that a host was heard of, if anywhere."""

        self.announced = AnnouncedCalls()
        """The calls that hosts have announced, or started in the background."""

        self._hooked: BoundedTable[str, bool] = BoundedTable(MAX_HOOKED)

    @property
    def ledger(self) -> Ledger:
        """Where failures are counted."""
        return self._settings.get("ledger") or current_ledger()

    def refuse(self, call: HostCall) -> str:
        """
        Return why a call must not be executed; empty if it may.

        Two hooks that ask about one call id get one answer, and count it once.
        """
        hosted = self._host_run(call.run_id, call.agent, stoppable=True)
        if call.call_id and (known := hosted.refused.get(call.call_id)):
            return known
        began = hosted.begin(call)
        refusal = self._refuse_stopped(call.run_id)
        if not refusal and not call.is_left_alone:
            refusal = hosted.run.port.refuse(
                call.tool, arguments=call.arguments, call_id=call.call_id, began=began, directory=call.directory
            )
        if refusal:
            hosted.refusals.put(refusal, True)
            if call.call_id:
                hosted.refused.put(call.call_id, refusal)
        else:
            hosted.keep_tick(call, began)
            self.announced.add(call)
        return refusal

    def conclude(
        self, call: HostCall, result: HostResult, *, is_read: bool = True, is_recorded: bool = False
    ) -> Answer:
        """
        Judge and count what a call returned, once per call id.

        Where the host or the exit status declares how it ended, that is believed; else what the text states counts.

        Args:
            call: The call.
            result: What it returned.
            is_read: Whether the agent reads the answer; else what a human has answered is kept for one that it reads.
            is_recorded: Whether telemetry of its host holds the call, so that a failure needs no span of ours.
        """
        if call.is_left_alone:
            return Answer(outcome="ignored")
        call = self.announced.find(call)
        hosted = self._host_run(call.run_id, call.agent, stoppable=call.stoppable)
        port = hosted.run.port
        if not hosted.claim(call.call_id):
            return Answer(outcome="counted", guidance=port.take_guidance() if is_read else "")
        if hosted.is_refusal(call.call_id, result.text):
            port.settle_call(call.call_id)
            return Answer(outcome="ignored")
        failed = result.failed is True
        made = port.record_call(
            call.tool,
            arguments=call.arguments,
            call_id=call.call_id,
            error=(result.text or _describe_result(result)) if failed else None,
            error_type=result.type,
            result=None if failed else result.text,
            began=hosted.find_tick(call),
            exit_code=result.exit_code,
            directory=call.directory,
            says_success=result.failed is False,
            is_recorded=is_recorded,
        )
        port.ask_handler()
        notice, guidance = port.take_notice(), port.take_guidance() if is_read else ""
        if not made.failed:
            notice = notice if is_read else ""
            return Answer(outcome="ignored" if made.is_ignored else "success", guidance=guidance, notice=notice)
        is_open = result.failed is None and result.exit_code is None
        return self._make_answer(made, guidance, is_read=is_read, is_open=is_open)

    def begin_turn(self, run_id: str) -> None:
        """Begin a turn: later calls answer the next message of the model."""
        self._host_run(run_id).run.begin_turn()

    def verdict(self, run_id: str) -> Verdict:
        """
        Return whether the run may continue.

        A session that is stopped stops its sub-agents too.
        """
        own = self.ledger.verdict(run_id)
        while not own.stopped and "/" in run_id:
            run_id = run_id.rpartition("/")[0]
            own = self.ledger.verdict(run_id)
        return own

    def list_stopped(self, run_id: str) -> tuple[str, ...]:
        """Return those of a run and its sub-agents that are stopped."""
        below = (known for known in self.ledger.store.run_ids() if known.startswith(f"{run_id}/"))
        return tuple(each for each in (run_id, *below) if self.ledger.verdict(each).stopped)

    def resume(self, run_id: str, message: str = "") -> None:
        """Let a stopped run continue, and the session that has stopped it."""
        if self.knows(run_id):
            self._host_run(run_id).run.resume(message)
        while "/" in run_id:
            run_id = run_id.rpartition("/")[0]
            if self.ledger.verdict(run_id).stopped:
                self._host_run(run_id).run.resume(message)

    def end(self, run_id: str) -> None:
        """End a run, unless a verdict stands: it outlives the host's session."""
        if self.knows(run_id) and not self.ledger.verdict(run_id).stopped:
            self.close(run_id)

    def close(self, run_id: str) -> RunReport:
        """End a run in any case and return its final account."""
        with self._lock:
            hosted = self._hosted.pop(run_id, None)
        run = hosted.run if hosted is not None else Run(self._open_scope(run_id))
        run.port.close()
        return run.report()

    def knows(self, run_id: str) -> bool:
        """Return whether anything is known of a run."""
        return self.ledger.store.peek(run_id) is not None

    def is_hooked(self, run_id: str) -> bool:
        """Return whether hooks, or others that ask before calls, report a run."""
        return self._hooked.get(run_id) is not None

    def _host_run(self, run_id: str, agent: str = "", *, stoppable: bool = False) -> _Hosted:
        if stoppable:
            self._hooked.put(run_id, True)
        with self._lock:
            hosted = self._hosted.get(run_id)
            if hosted is None:
                hosted = self._hosted[run_id] = _Hosted(self._open_scope(run_id, agent, stoppable=stoppable))
                # What is forgotten here stays counted: its state is in the store, which has bounds of its own.
                if len(self._hosted) > MAX_RUNS:
                    self._hosted.popitem(last=False)
            elif stoppable and not hosted.scope.stoppable:
                hosted.scope.let_stop()
            self._hosted.move_to_end(run_id)
            if agent and not hosted.run.agent:  # it began with a turn, which does not say whose it is
                hosted.run.port.name_agent(agent)
            return hosted

    def _open_scope(self, run_id: str, agent: str = "", *, stoppable: bool = False) -> RunScope:
        settings: RunSettings = {**self._settings, "agent": agent or self._settings.get("agent", "")}
        scope = RunScope(run_id, stoppable=stoppable, **settings)
        scope.open()
        return scope

    def _refuse_stopped(self, run_id: str) -> str:
        verdict = self.verdict(run_id)
        if verdict.standing not in {"halt", "pause"}:
            return ""
        return f"NOT EXECUTED: {explain_stop(verdict.escalation, verdict.reason)}"

    def _make_answer(self, call: Call, guidance: str, *, is_read: bool, is_open: bool) -> Answer:
        counted = call.failure
        # Of a failure that is only stated nothing is replaced by as much: its host may show a success. Otherwise the
        # text holds, once, what a human has answered.
        replaces = counted is None or not counted.raw.stated or (is_open and counted.digest_tokens < counted.raw_tokens)
        text = call.text if call.compacted and is_read and replaces else ""
        if counted is None:  # it quotes a digest of this run: the inner call was counted
            return Answer(outcome="counted", text=text, guidance=guidance)
        state = self.ledger.store.peek(call.run_id)
        found = state.history.get(counted.found.key) if state is not None else None
        return Answer(
            outcome="failure",
            text=text,
            key=counted.found.key,
            short=found.short if found is not None else "",
            count=counted.count,
            streak=counted.streak,
            total=counted.counts.total,
            guidance=guidance,
        )


def _name_call(call: HostCall) -> str:
    return call.call_id or call_fingerprint(call.tool, call.arguments) or call.tool


def _describe_result(result: HostResult) -> str:
    return f"exit code {result.exit_code}" if result.exit_code else _NO_TEXT
