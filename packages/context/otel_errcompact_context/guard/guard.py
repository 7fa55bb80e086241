"""Survive overflow: compact before the call, and again when the provider refuses it, within bounds."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, NoReturn, TypeVar, cast

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.coroutines import run_synchronously
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context import providers
from otel_errcompact_context.breaker import SESSIONS, CircuitBreaker
from otel_errcompact_context.exceptions import ContextOverflowError, ConversationError
from otel_errcompact_context.guard.lanes import Lanes
from otel_errcompact_context.providers.overflow import find_at, overflow_in_error, overflow_in_event, overflow_in_reply
from otel_errcompact_context.providers.refusals import make_forms
from otel_errcompact_context.providers.usage import Calibration, Usage, overflow_in_usage, read_usage
from otel_errcompact_context.telemetry import global_telemetry
from otel_errcompact_context.window.window import ContextWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact_context.messages import FormatName
    from otel_errcompact_context.notes import Compaction, Overflow
    from otel_errcompact_context.telemetry import OverflowResult

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Generic[T]):
    """What came of a guarded call."""

    reply: T
    """What `send` returned."""

    messages: list[object]
    """The list as it was sent: go on with it, so that the next call need not compact the same again."""

    compactions: tuple[Compaction, ...]
    """What was done to it, in order."""


class OverflowGuard:
    """
    Keeps calls of a model within its window, and saves those that the provider refuses as too long.

    `sent = guard.call(send, messages)` compacts the list where it must be, calls `send(list)`, and if the provider says
    that the context is too long, compacts harder and calls again. The first item of a generator that `send` returns is
    fetched, for it is there that a stream fails; what was told is not taken back by a second call. Where a reply tells
    its usage, estimates of the conversation are calibrated by it, and a prompt that the server has cut is sent again.

    Args:
        window: Compacts.
        lanes: One compaction of a conversation at a time, and a few of all; share them between guards.
        breaker: Leaves a conversation alone that compaction does not help; by the window's options if None.
        validate: Whether a list is sent that broke the provider's rules when it came; what we break is never sent.
        on_overflow: Told what became of each call that was refused, and by whom; if None, metrics of the global
            provider tell of it: `ContextTelemetry.overflowed`.
        sessions: Of how many conversations the windows that providers named are remembered.
    """

    def __init__(
        self,
        window: ContextWindow,
        lanes: Lanes | None = None,
        breaker: CircuitBreaker | None = None,
        *,
        validate: bool = True,
        on_overflow: Callable[[OverflowResult, str], object] | None = None,
        sessions: int = SESSIONS,
    ) -> None:
        options = window.options
        self.window = window
        self.lanes = lanes or Lanes()
        self.breaker = breaker or CircuitBreaker(options.breaker_failures, options.breaker_seconds)
        self.validate = validate
        self._on_overflow = on_overflow or global_telemetry().overflowed
        self.forms = make_forms(options.refusals)
        """The forms of refusals that the options add."""

        self.calibration = Calibration(sessions)
        """By how much the estimates of each conversation are too low."""

        self._windows: BoundedTable[str, int] = BoundedTable(sessions)
        self._passed: BoundedTable[str, int] = BoundedTable(sessions)
        """Tokens of the longest list of each conversation that went through."""

        self._cleared: BoundedTable[str, int] = BoundedTable(sessions)
        """Tokens that providers cleared from the newest prompt of each conversation, because its request asked."""

    def call(
        self,
        send: Callable[[list[object]], T],
        messages: Sequence[object],
        *,
        session: str = "",
        beside: object = None,
        beside_tokens: int = 0,
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Sent[T]:
        """
        Call a model with a list that fits.

        Args:
            send: Calls the model with the list that it is given; what it raises for another reason passes through.
            messages: The conversation; it is not changed.
            session: Whose it is: name it where a process has more than one conversation.
            beside: What is sent beside the list and is counted: the system prompt, the schemas of tools, or both.
            beside_tokens: What else is sent beside the list, counted already.
            format: The provider's format; told apart by content if none is named.

        Raises:
            ConversationError: The list breaks the provider's rules; nothing was sent.
            ContextOverflowError: The provider refused it, and compacting it did not help.
            LaneError: The conversation cannot be compacted here and now.
        """
        course = Course(self, messages, session, beside_tokens + self.window.count_beside(beside), format)
        return _unwrap(run_synchronously(partial(self._take_course, course, send)))

    async def acall(
        self,
        send: Callable[[list[object]], Awaitable[T] | T],
        messages: Sequence[object],
        *,
        session: str = "",
        beside: object = None,
        beside_tokens: int = 0,
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Sent[T]:
        """Call a model with a list that fits; the form for asynchronous code."""
        course = Course(self, messages, session, beside_tokens + self.window.count_beside(beside), format)
        return _unwrap(await self._take_course(course, send, blocking=False))

    async def _take_course(
        self, course: Course, send: Callable[[list[object]], Awaitable[T] | T], *, blocking: bool
    ) -> Sent[T] | Exception:
        while True:
            if course.compacts:
                compaction = await course.take_lane(blocking=blocking)
                if course.keeps_reply(compaction):
                    return course.hand_back()
                course.compacted(compaction)
            course.check()
            reply, error, overflow = await _attempt_call(send, course.messages, self.forms, blocking=blocking)
            if error is not None and course.doubted is not None:
                return course.hand_back()
            if course.refused(overflow, error, reply=reply):
                continue
            if error is not None:
                return error
            if not course.doubts(reply):
                return course.sent(reply)

    def lowered_window(self, session: str = "") -> int:
        """
        Return the window of a conversation in tokens, by our estimates.

        It is what the options say, or less where a refusal has taught so, or where a provider counts more tokens than
        are estimated.
        """
        known = self._windows.get(session)
        window = int(self.window.window_tokens / self.calibration.factor(session))
        return window if known is None else min(known, window)

    @property
    def learned_windows(self) -> dict[str, int]:
        """Windows that refusals have taught, by conversation; `forget` resets one."""
        return self._windows.entries.copy()

    def forget(self, session: str = "") -> None:
        """Forget what was learned of a conversation: it goes on with another model, or is over."""
        self._windows.pop(session)
        self._passed.pop(session)
        self._cleared.pop(session)
        self.calibration.forget(session)
        self.breaker.succeeded(session)

    def widened_window(self, session: str = "") -> int:
        """
        Return the window of a conversation and what its provider clears.

        In tokens. The provider clears the same results again from each longer list, so the newest reply says how much
        longer a list may be than the window.
        """
        return self.lowered_window(session) + (self._cleared.get(session) or 0)

    def note_cleared(self, session: str, tokens: int) -> None:
        """Note what a provider has cleared from a prompt by itself."""
        if tokens:
            self._cleared.put(session, tokens)
        else:
            self._cleared.pop(session)

    def lower_window(self, session: str, tokens: int) -> bool:
        """Lower a conversation's window, unless a longer list went through; tell whether."""
        if tokens < (self._passed.get(session) or 0):
            return False
        if tokens < self.window.window_tokens:
            self._windows.update(session, lambda known: min(tokens, known or tokens))
        return True

    def note_passed(self, session: str, tokens: int) -> None:
        """Note that so many tokens went through, against any lower window."""
        if tokens > (self._windows.get(session) or tokens):
            self._windows.pop(session)
        self._passed.update(session, lambda known: max(tokens, known or 0))

    def tell_result(self, result: OverflowResult, provider: str) -> None:
        """Tell whoever counts what became of a call that was refused."""
        with self.window.guard.stage("context.on_overflow"):
            self._on_overflow(result, provider)


def guard_of(window: ContextWindow | OverflowGuard | None) -> OverflowGuard:
    """Return the guard for an integration."""
    if isinstance(window, OverflowGuard):
        return window
    return OverflowGuard(ContextWindow() if window is None else window, validate=False)


class _Attempt(NamedTuple):
    reply: Any
    """What came; of a stream that began with an error, that event."""

    error: Exception | None = None
    overflow: Overflow | None = None


class Course:
    """
    The course of one call.

    `guard.call` takes it by itself. Where a framework calls the model and only tells of it, its hooks take the steps:
    `compact`, `refused` for each refusal and `compact` again, and `sent` in the end.

    Args:
        guard: Compacts, and remembers what refusals have taught.
        messages: The conversation; it is not changed.
        session: Whose it is.
        beside_tokens: What is sent beside the list.
        format_name: The provider's format; told apart by content if None.
    """

    def __init__(
        self,
        guard: OverflowGuard,
        messages: Sequence[object],
        session: str,
        beside_tokens: int,
        format_name: FormatName | None,
    ) -> None:
        self.messages = list(messages)
        self.reason: Literal["over_trigger", "overflow"] = "over_trigger"
        self.compacts = guard.breaker.allows(session)
        self.doubted: object = None
        """A reply that came, of which the usage tells that the context was too long."""
        self._guard = guard
        self._given = messages
        self._session = session
        self._beside_tokens = beside_tokens
        self._format: FormatName | None = format_name
        self._compactions: list[Compaction] = []
        self._refusals = 0
        self._overflow: Overflow | None = None
        self._cause: Exception | None = None
        self._reply: object = None
        self._refused_tokens = 0
        """What was refused last without naming a window, by our estimate; 0 if nothing was."""
        self._read_tokens: int | None = None
        self._is_helped = True

    @property
    def forgets(self) -> bool:
        """Whether the newest compaction took something out of the agent's sight: `Compaction.forgets`."""
        return bool(self._compactions) and self._compactions[-1].forgets

    def compact(self) -> list[object]:
        """
        Return the list to send, compacted where it must be.

        On an event loop it takes no lane, for it would have to wait there.

        Raises:
            ConversationError: It breaks the provider's rules for the order of turns.
            ContextOverflowError: The provider has refused it, and it cannot be made shorter.
        """
        if self.compacts:
            self.compacted(self._guard.window.compact(**self._choose_arguments()))
        self.check()
        return self.messages

    async def acompact(self) -> list[object]:
        """Return the list to send, compacted in the lane of the session."""
        if self.compacts:
            self.compacted(await self.take_lane(blocking=False))
        self.check()
        return self.messages

    async def take_lane(self, *, blocking: bool) -> Compaction:
        """Compact the list in the lane of the session."""
        lane, window = self._guard.lanes.visit(self._session), self._guard.window
        if blocking:
            with lane:
                return window.compact(**self._choose_arguments())
        async with lane:
            return await window.acompact(**self._choose_arguments())

    def compacted(self, compaction: Compaction) -> None:
        """
        Go on with a compacted list.

        Raises:
            ContextOverflowError: The provider refused it, and it is hardly shorter now: it would be refused again.
        """
        self._compactions.append(compaction)
        if any(note.cuts and note.reason != "always" for note in compaction.notes):
            self._guard.note_cleared(self._session, 0)
        self.messages = list(compaction.messages)
        if self.reason != "overflow":
            return
        before, after, room = compaction.tokens_before, compaction.tokens_after, compaction.room_tokens
        if after >= before:
            self._raise_overflow(f"compacting did not make it shorter than {before} tokens")
        if not compaction.fits:
            self._raise_overflow(
                f"compacting brought it from {before} to {after} tokens, but there is room for {room} only"
            )

    def check(self) -> None:
        """
        Look whether the list may be sent.

        Raises:
            ConversationError: It breaks the provider's rules for the order of turns.
        """
        problems = self._compactions[-1].problems if self._compactions else self._find_problems(self.messages)
        if problems and (self._guard.validate or len(problems) > len(self._find_problems(self._given))):
            raise ConversationError(f"not sent, for the list breaks the provider's rules: {'; '.join(problems)}")

    def refused(self, overflow: Overflow | None, error: Exception | None = None, *, reply: object = None) -> bool:
        """
        Tell whether to compact harder and send again.

        Raises:
            ContextOverflowError: It was refused, and that was the last attempt.
        """
        if overflow is None:
            return False
        self._overflow, self._cause, self._reply = overflow, error, reply
        if not self.compacts:
            self._raise_overflow("it is not compacted, for that has not helped lately", "refused")
        estimate = self._estimate_tokens()
        limit, sent = overflow.limit_tokens, overflow.sent_tokens
        if limit is not None and sent is not None and sent > estimate > 0:
            limit = max(1, limit * estimate // sent)
        if (limit is None or not self._guard.lower_window(self._session, limit)) and _counts_tokens(overflow):
            self._refused_tokens = estimate
        if self.reason == "overflow":
            self._guard.breaker.failed(self._session)
            if self._guard.breaker.is_open(self._session):
                self._raise_overflow("compacting has not helped lately", counts=False)
        if self._refusals >= self._guard.window.options.retries:
            self._raise_overflow(f"it was compacted and sent again {self._refusals} times", counts=False)
        self._refusals += 1
        self.reason = "overflow"
        return True

    def doubts(self, reply: object) -> bool:
        """Tell whether a reply's usage asks for a shorter list; if not, calibrate by it."""
        usage = read_usage(reply)
        if usage is None or not self.compacts:
            return False
        estimate = self._estimate_read(usage)
        overflow = overflow_in_usage(usage, self._guard.window.window_tokens, estimate)
        if overflow is None or overflow.limit_tokens is not None:
            # A whole prompt was read, be it larger than the window that the options name: the next is compacted sooner.
            self._learn_usage(usage, estimate)
            return False
        self._is_helped = self._refusals < self._guard.window.options.retries
        self._overflow, self.doubted = overflow, reply
        if not self._is_helped:
            return False
        if usage.answer_tokens == 0:
            self._refused_tokens = estimate
        else:
            self._guard.lower_window(self._session, usage.prompt_tokens)
        self._refusals += 1
        self.reason = "overflow"
        return True

    def calibrate(self, reply: object) -> None:
        """
        Calibrate the conversation's estimates by a reply's usage.

        For hooks that cannot have the call made again: `guard.call` also doubts a reply by its usage.

        Args:
            reply: The whole reply, or its usage alone.
        """
        usage = read_usage(reply)
        if usage is not None and self._compactions:
            self._learn_usage(usage, self._estimate_read(usage))

    def keeps_reply(self, compaction: Compaction) -> bool:
        """Tell whether a doubted reply is all there will be, for the list cannot be made to fit."""
        return self.doubted is not None and (compaction.tokens_after >= compaction.tokens_before or not compaction.fits)

    def hand_back(self) -> Sent[Any]:
        """Return the reply that was doubted: no error was told, so that none is raised."""
        self._is_helped = False
        return self.sent(self.doubted)

    def sent(self, reply: T) -> Sent[T]:
        """Return what came of it."""
        if self.compacts:
            self._guard.breaker.succeeded(self._session)
            if self._is_helped and not self._compactions[-1].opaque:
                tokens = self._estimate_tokens() if self._read_tokens is None else self._read_tokens
                self._guard.note_passed(self._session, tokens)
        if self._refused_tokens and self._is_helped:
            # A shorter list went through, so that it was the length: the window is less than what was refused last.
            self._guard.lower_window(self._session, self._refused_tokens)
        if self._overflow is not None:
            self._guard.tell_result("recovered" if self._is_helped else "failed", self._overflow.provider)
        return Sent(reply=reply, messages=self.messages, compactions=tuple(self._compactions))

    def _choose_arguments(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "session": self._session,
            "beside_tokens": self._beside_tokens,
            # A provider may have named a smaller window than the options say, or clear the prompt by itself.
            "window_tokens": (
                self._guard.lowered_window(self._session)
                if self.reason == "overflow"
                else self._guard.widened_window(self._session)
            ),
            "reason": self.reason,
            "format": self._format,
        }

    def _estimate_tokens(self) -> int:
        return self._compactions[-1].tokens_after + self._beside_tokens

    def _estimate_read(self, usage: Usage) -> int:
        # Return what the provider must have read of what was sent; 0 if that is not known.
        last = self._compactions[-1]
        # What stands before a compaction of the provider is in the list, but may not have been read.
        return 0 if usage.compacted or last.opaque else self._estimate_tokens()

    def _learn_usage(self, usage: Usage, estimate: int) -> None:
        # Of a prompt that the server has cut or cleared, no more went through than it has read.
        self._read_tokens = min(estimate, usage.prompt_tokens)
        self._guard.calibration.learn(self._session, estimate, usage.prompt_tokens + usage.cleared_tokens)
        self._guard.note_cleared(self._session, usage.cleared_tokens)

    def _find_problems(self, messages: Sequence[object]) -> tuple[str, ...]:
        if not messages:
            return ()
        return providers.find_problems(providers.read_list(messages, self._guard.window.count_tokens, self._format))

    def _raise_overflow(self, problem: str, result: OverflowResult = "failed", *, counts: bool = True) -> None:
        overflow = cast("Overflow", self._overflow)
        if counts and self.compacts:
            self._guard.breaker.failed(self._session)
        self._guard.tell_result(result, overflow.provider)
        raise ContextOverflowError(
            self._session, overflow, problem + self._advise_on_room(), self._compactions, self._reply
        ) from self._cause

    def _advise_on_room(self) -> str:
        last = self._compactions[-1] if self._compactions else None
        if last is None:
            return ""
        if not last.room_tokens:
            window = self._guard.lowered_window(self._session)
            return f" (what is sent beside the list, {self._beside_tokens} tokens, leaves nothing of {window})"
        limit = cast("Overflow", self._overflow).limit_tokens
        if limit is not None and limit < self._guard.lowered_window(self._session):
            return f" (longer lists than {limit} tokens went through: `guard.forget` the session if its model changed)"
        found = next((note for note in reversed(last.notes) if note.problem), None)
        return f" ({found.layer}: {found.problem})" if found is not None else ""


_OTHER_UNITS: Final = lazy_pattern(
    r"\b(?:[kmg]i?b|bytes?|characters?|string|payload|entity|body|request[_ ]too[_ ]large|maximum size)\b",
    re.IGNORECASE,
)
"""Words of limits that are not counted in tokens, so that they say nothing about the window."""


def _counts_tokens(overflow: Overflow) -> bool:
    return overflow.provider != "http" and not _OTHER_UNITS.search(overflow.message)


def _unwrap(ended: Sent[T] | Exception) -> Sent[T]:
    if isinstance(ended, Exception):
        # Raised here and not in the coroutine, which would turn a StopIteration of the application into another error.
        raise ended
    return ended


async def _attempt_call(
    send: Callable[[list[object]], object], messages: list[object], forms: Sequence[re.Pattern[str]], *, blocking: bool
) -> _Attempt:
    try:
        reply = send(messages)
        if inspect.isawaitable(reply):
            reply = _refuse_awaitable(reply) if blocking else await reply
        if isinstance(reply, Generator if blocking else AsyncGenerator):
            return await _fetch_first(reply, forms, blocking=blocking)
    except Exception as error:  # noqa: BLE001 - raised again unless the provider says that the context is too long
        return _Attempt(None, error, overflow_in_error(error, forms))
    return _Attempt(reply, None, overflow_in_reply(reply, forms))


def _refuse_awaitable(reply: object) -> NoReturn:
    if inspect.iscoroutine(reply):
        reply.close()
    raise ConfigurationError("send is asynchronous: use `await guard.acall(...)`")


_OPENING: Final = frozenset({"message_start", "ping", "response.created", "response.in_progress", "response.queued"})
"""Types of the items with which a stream opens, before it can have failed for its length."""

_MOST_OPENING: Final = 8

_END: Final = object()


async def _fetch_first(stream: Any, forms: Sequence[re.Pattern[str]], *, blocking: bool) -> _Attempt:
    # Return a stream of which the first item is there, since many connect only then.
    head: list[object] = []
    while (event := next(stream, _END) if blocking else await anext(stream, _END)) is not _END:
        head.append(event)
        overflow = overflow_in_event(event, forms)
        if overflow is not None:
            _ = stream.close() if blocking else await stream.aclose()
            return _Attempt(event, None, overflow)
        if len(head) == _MOST_OPENING or find_at(event, ("type",)) not in _OPENING:
            break
    resume = _resume_stream if blocking else _aresume_stream
    return _Attempt(resume(head, stream) if head else stream)


def _resume_stream(head: list[object], stream: Generator[object, object, object]) -> Generator[object, object, object]:
    try:
        yield from head
        return (yield from stream)
    finally:
        stream.close()


async def _aresume_stream(head: list[object], stream: AsyncGenerator[object, object]) -> AsyncGenerator[object, object]:
    try:
        for item in head:
            yield item
        async for item in stream:
            yield item
    finally:
        await stream.aclose()
