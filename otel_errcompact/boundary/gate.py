"""The gate of a run: it asks the escalation handler once per breach, and stops a run that must not go on."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Lock
from typing import TYPE_CHECKING, Final

from otel_errcompact.coroutines import is_asynchronous, loop_is_running, run_awaited
from otel_errcompact.digest import one_line
from otel_errcompact.escalation import Action, Continue, Escalation, Halt, Handler, Pause
from otel_errcompact.exceptions import ConfigurationError, RunHalted, RunPaused
from otel_errcompact.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from otel_errcompact.ledger import Ledger, Verdict

NO_HANDLER: Final = Halt("no escalation handler was given")

_asking: Final[ContextVar[bool]] = ContextVar("errcompact-asking", default=False)
"""Set while the handler runs, so that what the handler itself calls is not gated."""


class Gate:
    """
    Asks the handler about each breach of one run exactly once, and holds everybody else back until it has answered.

    Args:
        ledger: Where the run's state is.
        run_id: The run's id.
        handler: Answers an escalation; without one the answer is `Halt`.
        on_answer: Told every answer.
    """

    def __init__(
        self, ledger: Ledger, run_id: str, handler: Handler | None, on_answer: Callable[[Action], None]
    ) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._handler = handler
        self._on_answer = on_answer
        self._asynchronous = handler is not None and is_asynchronous(handler)
        self._lock = Lock()
        self._open_question: Event | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the run may go on."""
        return self._ledger.verdict(self._run_id)

    def settle(self) -> None:
        """Ask the handler if a breach stands unanswered and it can be asked from synchronous code."""
        escalation = self._unanswered()
        if escalation is None or (self._asynchronous and loop_is_running()):
            return
        with self._question() as mine:
            if mine:
                self._answered(self._ask(escalation))

    async def asettle(self) -> None:
        """Ask the handler, also an asynchronous one, if a breach stands unanswered."""
        escalation = self._unanswered()
        if escalation is None:
            return
        with self._question() as mine:
            if mine:
                self._answered(await self._aask(escalation))

    def stop(self) -> RunHalted | None:
        """
        Return what stops the run, once the handler has been asked; `RunPaused` where it waits for a human.
        """
        self.settle()
        question = self._open_question
        if question is not None and not _asking.get() and not loop_is_running():
            question.wait()
        return self._stop()

    async def astop(self) -> RunHalted | None:
        """
        Return what stops the run; the form for asynchronous code.
        """
        await self.asettle()
        question = self._open_question
        if question is not None and not _asking.get():
            await asyncio.to_thread(question.wait)
        return self._stop()

    def _answered(self, action: Action) -> None:
        self._ledger.answer(self._run_id, action)
        self._on_answer(action)

    def _stop(self) -> RunHalted | None:
        verdict = self.verdict
        if verdict.escalation is None or not verdict.stopped or _asking.get():
            return None
        if verdict.standing == "halt":
            return RunHalted(verdict.escalation, verdict.reason or str(verdict.escalation))
        reason = verdict.reason or (
            "the escalation handler has not answered yet" if verdict.standing == "pending" else str(verdict.escalation)
        )
        if verdict.standing == "pending" and self._asynchronous:
            reason += "; it is asynchronous, so use `await run.acheck()` or `async with`"
        return RunPaused(verdict.escalation, reason)

    def _unanswered(self) -> Escalation | None:
        verdict = self.verdict
        return verdict.escalation if verdict.standing == "pending" and not _asking.get() else None

    @contextmanager
    def _question(self) -> Generator[bool, None, None]:
        """Yield whether the caller is the one who asks; everybody else goes on to wait for the answer."""
        with self._lock:
            mine = self._open_question is None and self.verdict.standing == "pending"
            question = self._open_question = Event() if mine else self._open_question
        if not mine or question is None:
            yield False
            return
        token = _asking.set(True)
        try:
            yield True
        finally:
            _asking.reset(token)
            self._open_question = None
            question.set()

    def _ask(self, escalation: Escalation) -> Action:
        if self._handler is None:
            return NO_HANDLER
        try:
            answer = self._handler(escalation)
            return _checked(run_awaited(answer) if inspect.isawaitable(answer) else answer)
        except Exception as error:  # noqa: BLE001 - a handler that fails must not let the run go on unseen
            return self._failed(error)

    async def _aask(self, escalation: Escalation) -> Action:
        if self._handler is None:
            return NO_HANDLER
        try:
            answer = self._handler(escalation)
            return _checked(await answer if inspect.isawaitable(answer) else answer)
        except Exception as error:  # noqa: BLE001 - a handler that fails must not let the run go on unseen
            return self._failed(error)

    def _failed(self, error: Exception) -> Halt:
        self._ledger.guard.failed("escalation_handler", error, fatal=False)
        # Several frameworks show it to the model.
        return Halt(f"the escalation handler failed: {type(error).__name__}: {one_line(redact(str(error)))}")


def _checked(answer: object) -> Action:
    if isinstance(answer, Halt | Continue | Pause):
        return answer
    raise ConfigurationError(f"an escalation handler returned {answer!r}; return Halt(), Continue() or Pause()")
