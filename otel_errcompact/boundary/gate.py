"""The gate of a run: asks the escalation handler, stops the run."""

from __future__ import annotations

import inspect
import os
import time
from contextlib import nullcontext
from contextvars import ContextVar
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.boundary.claims import keep_claiming
from otel_errcompact.boundary.waiting import ThreadWaiter, call_beside, is_waited_for, task_waiter, within
from otel_errcompact.digest import one_line
from otel_errcompact.engine.events import Settled
from otel_errcompact.engine.ladder import NO_HANDLER
from otel_errcompact.escalator.actions import Action, Continue, FinalText, Halt, Handler, Pause
from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.coroutines import is_asynchronous, loop_is_running, run_awaited, run_synchronously
from otel_errcompact.runtime.foreign import name_of, string_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

    from otel_errcompact.boundary.waiting import Waiter
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.engine.state import Verdict
    from otel_errcompact.escalator.escalation import Escalation


class Question:
    """
    An escalation while its handler is being asked.

    It is over when the handler has answered or failed, or was cancelled.

    Args:
        escalation: The escalation.
        deadline: Until when it may be answered, by the gate's clock; None for ever.
        within: The question whose handler has led to this one.
    """

    def __init__(self, escalation: Escalation, deadline: float | None, within: Question | None) -> None:
        self.escalation: Final = escalation
        self.thread = 0
        """The thread in which a synchronous handler runs; 0 for an asynchronous one."""
        self.deadline: Final = deadline
        self.within: Final = within
        self.is_over = False
        self.has_expired = False
        self._waiters: set[Waiter] = set()

    def add(self, waiter: Waiter) -> None:
        """Wake `waiter` at the end; check `is_over` before it waits."""
        self._waiters.add(waiter)

    def remove(self, waiter: Waiter) -> None:
        """Wake `waiter` no more."""
        self._waiters.discard(waiter)

    def end(self) -> None:
        """Wake all waiters: the escalation is answered, or one of them asks."""
        self.is_over = True
        try:
            self._wake_waiters()
        except BaseException:  # an interrupt: waking twice does no harm
            self._wake_waiters()
            raise

    def _wake_waiters(self) -> None:
        for waiter in tuple(self._waiters):
            waiter.wake()


LOOK_S: Final = 0.1
"""Between two looks whether another process has the answer."""

_asking: Final[ContextVar[Question | None]] = ContextVar("errcompact-asking", default=None)
"""Set while a handler runs, so that what the handler itself calls is not gated."""


class _Elsewhere(NamedTuple):
    """Since when this process waits for the answer to another one."""

    since: float
    waiter: Waiter | None


class Gate:
    """
    Asks the handler once per breach; others wait for the answer.

    Args:
        ledger: Where the run's state is.
        run_id: The run's id.
        handler: Answers an escalation.
        on_answer: Called with every answer; None where no handler has answered.
        final_text: What the end user reads of a stopped run; plain words about what failed if empty.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        ledger: Ledger,
        run_id: str,
        handler: Handler | None,
        on_answer: Callable[[Action | None], None],
        *,
        final_text: FinalText = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._handler = handler
        self._on_answer = on_answer
        self._final_text = final_text
        self._clock = clock
        self._asynchronous = handler is not None and is_asynchronous(handler)
        self._process = os.getpid()
        self._lock = RLock()
        self._open: Question | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the run may continue."""
        return self._ledger.verdict(self._run_id)

    def ask(self) -> None:
        """Ask the handler about a breach, unless it is being asked."""
        run_synchronously(self._ask_handler)

    async def aask(self) -> None:
        """Ask the handler, also an asynchronous one, as `ask` does."""
        await self._ask_handler(blocking=False)

    def release(self) -> None:
        """End the open question, which was answered otherwise, as by `Run.answer`."""
        if self._open is not None:
            self._end_question(self._open)

    def stop(self) -> RunHalted | None:
        """Return what stops the run, once the handler has answered."""
        return run_synchronously(self._find_stop)

    async def astop(self) -> RunHalted | None:
        """Return what stops the run; the form for asynchronous code."""
        return await self._find_stop(blocking=False)

    # Returns whether another process is to ask.
    async def _ask_handler(self, *, blocking: bool) -> bool:
        escalation = self._find_pending()
        if escalation is None or self._is_asking() or not self._can_ask(blocking=blocking):
            return False
        if self._open is None and not self._claim_question():
            return True
        limit = self._ledger.options.ask_timeout_seconds
        deadline = self._clock() + limit if limit else None
        question = Question(escalation, deadline, _asking.get())
        try:
            if self._open_question(question):
                with keep_claiming(self._claim_question) if self._ledger.store.is_shared else nullcontext():
                    answer = await self._call_handler(question, blocking=blocking)
                self._settle_question(question, answer)
        finally:
            self._end_question(question)
        return False

    async def _find_stop(self, *, blocking: bool) -> RunHalted | None:
        elsewhere: _Elsewhere | None = None
        while (verdict := self.verdict).standing == "pending":
            if self._is_asking():
                return None
            if await self._ask_handler(blocking=blocking):
                elsewhere = elsewhere or _Elsewhere(self._clock(), _make_waiter(blocking=blocking))
                if elsewhere.waiter is None:
                    break
                await self._wait_elsewhere(elsewhere.waiter, elsewhere.since)
                continue
            question = self._open
            if question is None:
                if self._can_ask(blocking=blocking):
                    continue  # the question was settled, or its asker was cancelled
                break
            waiter = _make_waiter(blocking=blocking)
            if waiter is None:
                break
            if not await self._wait_for_answer(question, waiter, blocking=blocking):
                return None
        if elsewhere is not None:
            self._take_answer_of_others()
        return self.stopped_by(verdict)

    def stopped_by(self, verdict: Verdict) -> RunHalted | None:
        """Return the exception of a verdict; None if the run may continue."""
        if verdict.escalation is None or not verdict.stopped or self._is_asking():
            return None
        if verdict.standing == "halt":
            return self.make_halt(verdict.escalation, verdict.reason)
        if verdict.standing == "pause":
            return RunPaused(verdict.escalation, verdict.reason or verdict.escalation.reached)
        how = "it is asynchronous, so use" if self._asynchronous else "in a running event loop use"
        reason = f"the escalation handler has not answered yet; {how} `await run.acheck()` or `async with`"
        return RunPaused(verdict.escalation, reason)

    def make_halt(self, escalation: Escalation, reason: str) -> RunHalted:
        """Return what stops a run that was halted, with its final text."""
        text = self._final_text
        if callable(text):
            try:
                text = string_of(text(escalation))
            except Exception as error:  # noqa: BLE001 - it may raise anything
                what = f"final_text {name_of(text)} failed: {type(error).__name__}: {one_line(string_of(error))}"
                self._ledger.guard.record_failure("final_text", error, fatal=False, what=what)
                text = ""
        return RunHalted(escalation, reason or escalation.reached, text)

    def _find_pending(self) -> Escalation | None:
        verdict = self.verdict
        if verdict.standing != "pending":
            return None
        if self._process != os.getpid():  # who asks, or holds the lock, is in the parent process
            self._process, self._lock, self._open = os.getpid(), RLock(), None
        return verdict.escalation

    def _claim_question(self) -> bool:
        has_handler = self._handler is not None
        return self._ledger.claim_question(self._run_id, has_handler=has_handler, now_ns=time.time_ns())

    async def _wait_elsewhere(self, waiter: Waiter, since: float) -> None:
        limit = self._ledger.options.ask_timeout_seconds
        if limit and self._clock() - since > limit:
            why = f"no answer of another process within {limit:g} seconds"
            self._ledger.apply(Settled(run_id=self._run_id, action=None, message=why))
        else:
            await waiter.wait(LOOK_S)

    def _take_answer_of_others(self) -> None:
        answered = self._ledger.newest_answer(self._run_id)
        if answered is not None and answered.action == "continue":
            self._on_answer(Continue(answered.message))

    def _can_ask(self, *, blocking: bool) -> bool:
        # Synchronous code can wait for a coroutine only where no event loop runs.
        return not (blocking and self._asynchronous and loop_is_running())

    def _is_asking(self, context: Context | None = None) -> bool:
        question = self._open
        if question is None:
            return False
        if context is None and question.thread == get_ident():
            return True  # also a signal handler that interrupts it, or a function that it calls in a context of its own
        asking = _asking.get() if context is None else context.get(_asking)
        while asking is not None and asking is not question:
            asking = asking.within
        return asking is question

    def _open_question(self, question: Question) -> bool:
        with self._lock:
            if self._open is None:
                self._open = question
        # Since the escalation was looked up it may have been answered.
        return self._open is question and self._find_pending() == question.escalation

    def _end_question(self, question: Question) -> None:
        with self._lock:
            if self._open is question:
                self._open = None
        question.end()

    async def _wait_for_answer(self, question: Question, waiter: Waiter, *, blocking: bool) -> bool:
        question.add(waiter)
        try:
            while not question.is_over:
                if blocking and is_waited_for(question.thread, self._is_asking):
                    return False
                left = self._seconds_left(question)
                if left is not None and left <= 0:
                    self._expire_question(question)
                    continue
                await waiter.wait(left)
        finally:
            question.remove(waiter)
        return True

    def _seconds_left(self, question: Question) -> float | None:
        return None if question.deadline is None or question.has_expired else question.deadline - self._clock()

    def _expire_question(self, question: Question) -> None:
        with self._lock:
            mine, question.has_expired = not question.has_expired, True
        if not mine:
            return
        try:
            limit = self._ledger.options.ask_timeout_seconds
            self._settle_question(question, self._count_failure(TimeoutError(f"no answer within {limit:g} seconds")))
        finally:
            self._end_question(question)

    def _settle_question(self, question: Question, answer: Action | str) -> None:
        if self._find_pending() != question.escalation:
            return
        if isinstance(answer, str):  # why the handler has not answered: as without one
            self._ledger.apply(Settled(run_id=self._run_id, action=None, message=answer))
            self._on_answer(None)
            return
        self._ledger.answer(self._run_id, answer)
        self._on_answer(answer)

    async def _call_handler(self, question: Question, *, blocking: bool) -> Action | str:
        if self._handler is None:
            return NO_HANDLER
        _asking.set(question)
        try:
            answer = await self._begin_answer(self._handler, question, blocking=blocking)
            if inspect.isawaitable(answer):
                waiting = within(self._seconds_left(question), answer)
                answer = run_awaited(waiting) if blocking else await waiting
            return _check_answer(answer)
        except Exception as error:  # noqa: BLE001 - a handler may raise anything
            return self._count_failure(error)
        finally:
            _asking.set(question.within)

    async def _begin_answer(self, handler: Handler, question: Question, *, blocking: bool) -> object:
        def call() -> object:
            question.thread = get_ident() if blocking or beside else 0
            return handler(question.escalation)

        beside = None if blocking or self._asynchronous else task_waiter()
        return call() if beside is None else await call_beside(call, beside, self._seconds_left(question))

    def _count_failure(self, error: Exception) -> str:
        how = f"failed: {type(error).__name__}: {one_line(redact(string_of(error)))}"
        what = f"the escalation handler {name_of(self._handler)} {how}"
        self._ledger.guard.record_failure("escalation_handler", error, fatal=False, what=what)
        return f"the escalation handler {how}"  # several frameworks show it to the model


def _make_waiter(*, blocking: bool) -> Waiter | None:
    if not blocking:
        return task_waiter()
    return None if loop_is_running() else ThreadWaiter()


def _check_answer(answer: object) -> Action:
    if isinstance(answer, Halt | Continue | Pause):
        return answer
    raise ConfigurationError(f"an escalation handler returned {answer!r}; return Halt(), Continue() or Pause()")
