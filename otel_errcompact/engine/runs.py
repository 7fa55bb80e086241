"""Hold the runs of this process, change them by events, read them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import Options
from otel_errcompact.digest import ALL_FORGOTTEN
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.engine.events import Event, Evicted, OfRaw, Refused
from otel_errcompact.engine.listeners import Listeners
from otel_errcompact.engine.load import Load
from otel_errcompact.engine.pipeline import Pipeline
from otel_errcompact.engine.postponed import PostponedCounts
from otel_errcompact.engine.redacted import redact_operation
from otel_errcompact.engine.refusals import find_refused
from otel_errcompact.engine.rules import Rules
from otel_errcompact.engine.state import CONTINUES, RunState, Verdict, create_run
from otel_errcompact.history.stores.memory import MemoryStore
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.roots import open_roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.compactor.model import ModelExtractor
    from otel_errcompact.engine.report import RunReport
    from otel_errcompact.engine.rules import Effects
    from otel_errcompact.errors import Operation
    from otel_errcompact.escalator.escalation import AnsweredEscalation
    from otel_errcompact.history.stores import Store
    from otel_errcompact.history.stores.parts import Backend


class Runs:
    """
    Holds the state of all runs of this process, and their listeners.

    Args:
        options: All options; the defaults if None.
        backend: Where the state of runs lives that other processes work on too; this process's memory if None.
        timer: Nanoseconds for measuring our own cost; injected, since the core reads no clock.
        work_timer: Nanoseconds that a thread has worked; without it failures are read however fast they come.
        count_tokens: How tokens are counted.
        guard: Keeps failing listeners away from the application.
        model: Reads prose that no parser understands.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        backend: Backend | None = None,
        timer: Callable[[], int] = lambda: 0,
        work_timer: Callable[[], int] = lambda: 0,
        count_tokens: TokenCounter = estimate_tokens,
        guard: Guard | None = None,
        model: ModelExtractor | None = None,
    ) -> None:
        self.options = options or Options()
        self.guard = guard or Guard()
        self.listeners: Final = Listeners(self.guard)
        self.roots: Final = open_roots(self.options.workspace_roots)
        self._pipeline = Pipeline(
            self.options.digest,
            count_tokens,
            guard=self.guard,
            model=model,
            roots=self.roots,
            load=Load(work_timer),
        )
        self._create = partial(create_run, options=self.options, is_shared=backend is not None)
        self.store: Final = self._make_store(backend)
        self._rules = Rules(self.options, self._pipeline, create=self._create, timer=timer)
        self._postponed = PostponedCounts(self.store.is_held, self.apply)

    def _make_store(self, backend: Backend | None) -> Store[RunState]:
        limits = self.options.memory
        if backend is None:
            return MemoryStore(limits, self._tell_evicted)
        from otel_errcompact.engine.stored import RunCodec
        from otel_errcompact.history.stores.shared import SharedStore

        count_alone = partial(self.guard.count, "store_away")
        return SharedStore(backend, RunCodec(), self._create, limits, count_alone=count_alone)

    def _tell_evicted(self, state: RunState) -> None:
        if state.attended:
            return
        with self.guard.stage("evict"):  # another thread may still hold the run
            self.listeners.notify(Evicted(report=state.report()))

    def apply(self, event: Event) -> Effects:
        """
        Change a run by an event; return what comes of it.

        Listeners hear of it. Of a run that is not known nothing is changed, and what comes is as in a run of its own.
        """
        run_id, store = event.run_id, self.store
        with store.edit(run_id, self._create) if event.makes_run else store.find(run_id) as known:
            state, begun = (self._create(run_id), ()) if known is None else (known, self._begin_run(known, event))
            tick = event.tick or store.next_tick()
            if store.is_shared:
                again = partial(self._rules.apply, event=event.keep(state.history.tick), tick=tick)
                store.repeat_later(run_id, again, characters=event.characters)
            effects = self._rules.apply(state, event, tick)
        if event.makes_run:
            store.account(state)
        for each in begun + effects if begun else effects:
            self.listeners.notify(each)
        return effects

    def _begin_run(self, state: RunState, event: Event | None = None) -> Effects:
        # Listeners hear of a run with its first failure, or, where that was another process's, before anything else of
        # it.
        if state.begun:
            return ()
        raw = event.raw if isinstance(event, OfRaw) else None
        if raw is None and not state.has_failed:
            return ()
        state.begun = True
        agent, time_ns = (raw.agent, raw.time_ns) if raw is not None else ("", 0)
        return (state.settings(self.next_tick(), agent=state.agent or agent, time_ns=time_ns),)

    def next_tick(self) -> int:
        """Return the next tick, which orders calls, failures and successes."""
        return self.store.next_tick()

    def report(self, run_id: str) -> RunReport:
        """Return the account of a run so far."""
        self._postponed.run()
        with self.store.view(run_id) as state:
            return (state or self._create(run_id)).report()

    def is_failing(self, run_id: str, operation: Operation) -> bool:
        """Return whether a success of an operation would resolve anything."""
        with self.store.view(run_id) as state:
            if self.store.is_shared:
                operation = redact_operation(operation)
            return state is not None and state.history.is_failing(operation)

    def may_refuse(self, run_id: str) -> bool:
        """Return whether calls of a run may be refused, without a lock."""
        known = self.store.peek(run_id)
        return known is not None and bool(known.history.repeats)

    def refusal(self, call: Refused) -> str:
        """
        Return why an identical call is refused, without counting it.

        The text is empty if the call may be made.

        A call is refused once it has failed `thresholds.refuse` times with the same arguments in the same directory,
        none of them transient, while no call of the agent has succeeded: of 1,773 such retries none worked. Five
        minutes after its last failure it may be made once.

        Args:
            call: The call; where its arguments are unknown none is identical, and a time of 0 is unknown.
        """
        if not self.may_refuse(call.run_id):
            return ""
        with self.store.view(call.run_id) as state:
            refused = find_refused(state, call)
            if state is None or refused is None:
                return ""
            return refused.render(state, self.options.digest, attempt=1)

    def digest(self, run_id: str) -> str:
        """
        Return the block of recent errors for the agent's next prompt.

        It is empty without open classes, and in mode `observe`.
        """
        self._postponed.run()
        with self.store.view(run_id) as state:
            return "" if state is None else self._digest(state)

    def _digest(self, state: RunState) -> str:
        return "" if state.mode == "observe" else state.render_block(self._pipeline)

    def forget_shown(self, run_id: str) -> None:
        """
        Forget what the agent has read, since its context lost messages.

        The next digest of each class is whole again, where it would have named the class only. Counts and thresholds
        stay as they are.
        """
        with self.store.view(run_id) as state:
            if state is not None:
                state.shown = ALL_FORGOTTEN

    def raw(self, run_id: str, key: str) -> str | None:
        """
        Return the newest raw error of the class with this key prefix.

        None if there is none.
        """
        with self.store.view(run_id) as state:
            return state.find_raw(key) if state is not None else None

    def verdict(self, run_id: str) -> Verdict:
        """Return whether the run may continue."""
        with self.store.view(run_id) as state:
            return CONTINUES if state is None else state.verdict()

    def claim_question(self, run_id: str, *, has_handler: bool, now_ns: int) -> bool:
        """
        Return whether this process is to ask about the open escalation.

        Of several processes one asks, and the others wait for its answer.

        Args:
            run_id: The run's id.
            has_handler: Whether this process has a handler.
            now_ns: The time in nanoseconds since the epoch.
        """
        if not self.store.is_shared:
            return True
        with self.store.find(run_id) as state:
            return state is None or state.claim_question(has_handler=has_handler, now_ns=now_ns)

    def newest_answer(self, run_id: str) -> AnsweredEscalation | None:
        """Return the newest answered escalation of a run; None without one."""
        with self.store.view(run_id) as state:
            return state.answered[-1] if state is not None and state.answered else None

    def is_quiet(self, run_id: str) -> bool:
        """Return whether no escalation stands in a run, without its lock."""
        known = self.store.peek(run_id)
        return known is None or known.escalation is None
