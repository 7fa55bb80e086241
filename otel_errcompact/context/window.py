"""The context window: a message list through the layers in order, until it fits."""

from __future__ import annotations

import asyncio
import gc
import inspect
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar, cast

from otel_errcompact.config import Options
from otel_errcompact.context import formats
from otel_errcompact.context.archive import FolderArchive
from otel_errcompact.context.breaker import CircuitBreaker
from otel_errcompact.context.layers import Edited, Layer, Workspace
from otel_errcompact.context.layers.errors import ErrorPass
from otel_errcompact.context.layers.micro import micro
from otel_errcompact.context.layers.reactive import reactive
from otel_errcompact.context.layers.results import results
from otel_errcompact.context.layers.snip import snip
from otel_errcompact.context.layers.summary import summarise
from otel_errcompact.context.notes import LAYERS, Compaction, LayerNote, invalidated_tokens
from otel_errcompact.context.telemetry import global_telemetry
from otel_errcompact.digest.tokens import default_counter
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.coroutines import is_asynchronous, loop_is_running, run_awaited
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence

    from otel_errcompact.config import ContextOptions
    from otel_errcompact.context.archive import Archive
    from otel_errcompact.context.layers.summary import Answer, Summarize, Summary, SummaryRequest
    from otel_errcompact.context.messages import Conversation, FormatName
    from otel_errcompact.context.notes import LayerName, Reason
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.digest.tokens import TokenCounter

T = TypeVar("T")

Occasion = Literal["over_trigger", "overflow", "asked"]
"""Why a list is compacted: before every call of a model, after one that was refused, or because somebody wants it."""

BATCHES: Final = 4
"""Old results are not touched for less than this part of the way from the trigger to the target."""

_CHEAP: Final[Mapping[LayerName, Layer]] = {"results": results, "snip": snip, "micro": micro}
_BY_THEIR_OWN_LIMITS: Final = ("results", "errors")

LONG: Final = 10_000
"""Messages from which on reading a list would keep the garbage collector busy for more than half of the time."""


class ContextWindow:
    """
    Keeps message lists within a model's context window.

    `window.compact(messages)` before each call of the model returns a `Compaction`, whose `messages` are sent instead.
    Below the trigger nothing is changed but failures and huge results, so that prompt caches hold.

    Args:
        options: How large the window is, and when what is cut; as the environment says if None.
        archive: Where the whole of what is cut is kept; files in `options.folder` by default.
        count_tokens: What a text costs; `default_counter()` if None.
        summarize: Is given a `SummaryRequest` and returns a text, at once or awaited. Without it nothing is summarised.
        digest: How long the digests of errors may be, and which tools' errors stay whole; the defaults if None.
        clock: Nanoseconds since the epoch.
        timer: Nanoseconds, monotonic.
        observers: Told every compaction; what they raise is kept away from the caller. If None, spans and metrics of
            the global providers tell of it: `ContextTelemetry`.
        guard: Counts and logs what fails in us.

    Raises:
        ConfigurationError: The options contradict one another.
    """

    def __init__(  # noqa: PLR0913 - all but the first by name, and none must be given
        self,
        options: ContextOptions | None = None,
        *,
        archive: Archive | None = None,
        count_tokens: TokenCounter | None = None,
        summarize: Summarize | None = None,
        digest: DigestOptions | None = None,
        clock: Callable[[], int] = time.time_ns,
        timer: Callable[[], int] = time.perf_counter_ns,
        observers: Sequence[Callable[[Compaction], object]] | None = None,
        guard: Guard | None = None,
    ) -> None:
        environment = Options.from_environ() if options is None else Options(context=options)
        self.options = _checked(environment.context)
        self.archive: Archive = FolderArchive(self.options.folder) if archive is None else archive
        self.count_tokens = count_tokens or default_counter()
        self.guard = guard or Guard()
        self._summarize = summarize
        self._summaries = CircuitBreaker(self.options.breaker_failures, self.options.breaker_seconds)
        errors = ErrorPass(digest=digest or environment.digest, hidden_failures=environment.hidden_failures)
        self._cheap = {**_CHEAP, "errors": errors}
        self._clock = clock
        self._timer = timer
        self._observers = (global_telemetry(),) if observers is None else tuple(observers)

    def compact(
        self,
        messages: Sequence[object],
        *,
        session: str = "",
        beside_tokens: int = 0,
        reason: Occasion = "over_trigger",
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Compaction:
        """
        Compact a message list as far as it needs to be.

        Args:
            messages: A provider's list; neither it nor anything in it is changed.
            session: Whose conversation it is, for whoever observes.
            beside_tokens: What is sent beside the list: the system prompt, the schemas of tools.
            reason: `overflow` after a provider has refused the list, however small its estimate is; `asked` to cut
                to the target whatever the estimate.
            format: The provider's format; told apart by content if none is named.

        Raises:
            ConfigurationError: The list is of no known format, or `beside_tokens` is negative.
        """
        steps = self._compacting(messages, session, beside_tokens, reason, format)
        try:
            request = next(steps)
            while True:
                request = steps.send(self._ask(request))
        except StopIteration as done:
            return self._told(done.value)

    async def acompact(
        self,
        messages: Sequence[object],
        *,
        session: str = "",
        beside_tokens: int = 0,
        reason: Occasion = "over_trigger",
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Compaction:
        """
        Compact a message list; the form for asynchronous code. A synchronous summariser runs in a thread.
        """
        steps = self._compacting(messages, session, beside_tokens, reason, format)
        try:
            request = next(steps)
            while True:
                request = steps.send(await self._aask(request))
        except StopIteration as done:
            return self._told(done.value)

    def _compacting(
        self,
        messages: Sequence[object],
        session: str,
        beside_tokens: int,
        reason: Occasion,
        format_name: FormatName | None,
    ) -> Generator[SummaryRequest, Answer, Compaction]:
        """Run the layers; what only the caller's summariser can answer is yielded."""
        room = self._room(beside_tokens)
        if not messages:
            return Compaction(messages=[], session=session, notes=(), tokens_before=0, tokens_after=0, room_tokens=room)
        with _collector_paused(len(messages)):
            given = formats.read(messages, self.count_tokens, format_name)
        progress = _Progress(given)
        schedule = _Schedule(self.options, room, progress.tokens, reason)
        for layer in LAYERS:
            if layer == "summary" and self._summarize is None:
                continue
            due = schedule.due(layer, progress.tokens)
            if due is not None:
                yield from self._run(layer, due, progress, schedule, session)
        problems = self._settle(given, progress)
        return Compaction(
            messages=formats.write(progress.conversation),
            session=session,
            notes=tuple(progress.notes),
            tokens_before=progress.notes[0].tokens_before,
            tokens_after=progress.tokens,
            room_tokens=room,
            problems=problems,
        )

    def _room(self, beside_tokens: int) -> int:
        if beside_tokens < 0:
            raise ConfigurationError(
                f"beside_tokens is {beside_tokens}; pass what the system prompt and tools cost, or 0"
            )
        return max(0, self.options.window_tokens - self.options.reserve_tokens - beside_tokens)

    def _run(
        self, layer: LayerName, reason: Reason, progress: _Progress, schedule: _Schedule, session: str
    ) -> Generator[SummaryRequest, Answer, None]:
        before, tokens = progress.conversation, progress.tokens
        start, began = self._clock(), self._timer()
        try:
            edited = yield from self._edit(layer, before, schedule, session)
        except Exception as error:  # noqa: BLE001 - the agent goes on with what it had, and a note says so
            self.guard.record_failure(f"context.{layer}", error)
            edited = Edited(before, problem=f"the layer failed: {type(error).__name__}: {error}")
        after = tokens if edited.conversation is before else edited.conversation.tokens
        if after > tokens:
            edited = Edited(before, problem=f"discarded: the estimate grew from {tokens} to {after} tokens")
            after = tokens
        progress.step(
            edited.conversation,
            LayerNote(
                layer=layer,
                reason=reason,
                tokens_before=tokens,
                tokens_after=after,
                invalidated_tokens=invalidated_tokens(before, edited.conversation),
                start_ns=start,
                duration_ns=self._timer() - began,
                cuts=edited.cuts,
                problem=edited.problem or _too_large(layer, after, schedule.hard_limit),
            ),
        )

    def _edit(
        self, layer: LayerName, conversation: Conversation, schedule: _Schedule, session: str
    ) -> Generator[SummaryRequest, Answer, Edited]:
        workspace = Workspace(
            archive=self.archive,
            options=self.options,
            count_tokens=self.count_tokens,
            target_tokens=schedule.target,
            least_gain_tokens=schedule.least_gain,
        )
        if layer == "summary":
            return (yield from self._summary(conversation, workspace, session))
        with _collector_paused(len(conversation.messages)):
            if layer == "reactive":
                return reactive(conversation, workspace, room_tokens=schedule.hard_limit)
            return self._cheap[layer](conversation, workspace)

    def _summary(
        self, conversation: Conversation, workspace: Workspace, session: str
    ) -> Generator[SummaryRequest, Answer, Edited]:
        """Have the middle summarised, unless that has failed lately: each attempt is a call of a model."""
        if not self._summaries.allows(session):
            failures, seconds = self.options.breaker_failures, self.options.breaker_seconds
            problem = (
                f"nobody was asked, for summaries have failed {failures} times in a row; again after {seconds:g} s"
            )
            return Edited(conversation, problem=problem)
        edited = yield from summarise(conversation, workspace, session=session)
        if edited.problem:
            self._summaries.failed(session)
        elif edited.cuts:
            self._summaries.succeeded(session)
        return edited

    def _settle(self, given: Conversation, progress: _Progress) -> tuple[str, ...]:
        """
        Return what is wrong with the list by the provider's rules, after taking back layers that made it worse.
        """
        problems = formats.problems(progress.conversation)
        if progress.conversation is given or not problems:
            return problems
        allowed = len(formats.problems(given))
        while len(problems) > allowed and progress.conversation is not given:
            layer = progress.take_back(f"discarded: it broke the provider's rules: {problems[-1]}")
            self.guard.record_failure(f"context.{layer}", AssertionError(f"{layer}: {problems}"))
            problems = formats.problems(progress.conversation)
        return problems

    def _ask(self, request: SummaryRequest) -> Answer:
        try:
            answer = self._asked(request)
            return run_awaited(_unless_in_loop(answer)) if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - the conversation stays as it is, and a note says why
            return self._failed(error)

    async def _aask(self, request: SummaryRequest) -> Answer:
        try:
            if is_asynchronous(self._summarize):
                answer = self._asked(request)
            else:
                answer = await _in_own_thread(self._asked, request)
            return await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - the conversation stays as it is, and a note says why
            return self._failed(error)

    def _asked(self, request: SummaryRequest) -> Summary | Awaitable[Summary]:
        # Whoever gave no summariser is not asked.
        return cast("Summarize", self._summarize)(request)

    def _failed(self, error: Exception) -> Exception:
        self.guard.record_failure("summarize", error, fatal=False)
        return error

    def _told(self, compaction: Compaction) -> Compaction:
        for observer in self._observers:
            with self.guard.stage("context.observer"):
                observer(compaction)
        return compaction


class _Schedule:
    """
    Which layer is due at which estimate.

    Args:
        options: The shares of the room.
        room: What the list may cost.
        tokens: What it costs.
        reason: Why it is compacted. What a provider has refused is too large, however small its estimate is.
    """

    def __init__(self, options: ContextOptions, room: int, tokens: int, reason: Occasion) -> None:
        limit = min(room, tokens) if reason == "overflow" else room
        self.room = room
        self.target = int(limit * options.target_share)
        self.hard_limit = self.target if reason == "overflow" else room
        """What the reactive layer must reach."""
        self._trigger = int(limit * options.trigger_share)
        self.least_gain = (self._trigger - self.target) // BATCHES if reason == "over_trigger" else 0
        """What is worth a prompt cache; what gains less is left to the reactive layer, which goes to the target."""
        self._reason: Occasion = reason
        self._begun = reason != "over_trigger"

    def due(self, layer: LayerName, tokens: int) -> Reason | None:
        """Return why a layer runs now; None if it does not."""
        if layer in _BY_THEIR_OWN_LIMITS:
            return "always"
        if layer == "reactive":
            return self._last_resort(tokens)
        # What has begun goes on to the target, so that the next time is far.
        self._begun = self._begun or tokens > self._trigger
        return self._reason if self._begun and tokens > self.target else None

    def _last_resort(self, tokens: int) -> Reason | None:
        if tokens <= self.hard_limit:
            return None
        return "overflow" if self._reason == "overflow" else "over_window"


class _Step(NamedTuple):
    conversation: Conversation
    tokens: int


class _Progress:
    """
    How far a list has come.

    Args:
        given: The list as it came.
    """

    def __init__(self, given: Conversation) -> None:
        self._steps = [_Step(given, given.tokens)]
        self.notes: list[LayerNote] = []

    @property
    def conversation(self) -> Conversation:
        return self._steps[-1].conversation

    @property
    def tokens(self) -> int:
        return self._steps[-1].tokens

    def step(self, conversation: Conversation, note: LayerNote) -> None:
        """Go on with what a layer has made of the list."""
        self._steps.append(_Step(conversation, note.tokens_after))
        self.notes.append(note)

    def take_back(self, problem: str) -> LayerName:
        """Return the layer whose change, the newest one, is taken back; what ran after it has changed nothing."""
        newest = max(
            place for place, note in enumerate(self.notes) if note.tokens_before != note.tokens_after or note.cuts
        )
        before = self._steps[newest]
        note = self.notes[newest]
        self._steps[newest + 1 :] = [before] * (len(self.notes) - newest)
        self.notes[newest:] = [
            replace(note, tokens_before=before.tokens, tokens_after=before.tokens, invalidated_tokens=0, cuts=())
            for note in self.notes[newest:]
        ]
        self.notes[newest] = replace(self.notes[newest], problem=problem)
        return note.layer


def _checked(options: ContextOptions) -> ContextOptions:
    """
    Return options that do not contradict one another.

    Raises:
        ConfigurationError: They do.
    """
    if options.reserve_tokens >= options.window_tokens:
        raise ConfigurationError(
            f"reserve_tokens ({options.reserve_tokens}) leaves nothing of window_tokens ({options.window_tokens}): "
            "make the reserve smaller than the model's window"
        )
    if options.target_share > options.trigger_share:
        raise ConfigurationError(
            f"target_share ({options.target_share}) is above trigger_share ({options.trigger_share}): compaction stops "
            "at the target, so that it must not lie above where it begins"
        )
    if options.preview_tokens > options.result_budget_tokens:
        raise ConfigurationError(
            f"preview_tokens ({options.preview_tokens}) is above result_budget_tokens "
            f"({options.result_budget_tokens}): a preview must cost less than all results may"
        )
    if options.head_messages >= options.snip_messages:
        raise ConfigurationError(
            f"head_messages ({options.head_messages}) is not below snip_messages ({options.snip_messages}): there is "
            "no middle that could be taken out"
        )
    return options


@contextmanager
def _collector_paused(messages: int) -> Generator[None]:
    """
    Keep the garbage collector from going through a long list again and again while it is being made.

    The collector runs for so many new objects and follows all that are alive; of a hundred thousand messages none is
    garbage before the list is done. Never while a summariser is waited for. Who has switched the collector off
    finds it off.
    """
    if messages < LONG or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _too_large(layer: LayerName, tokens: int, limit: int) -> str:
    if layer != "reactive" or tokens <= limit:
        return ""
    return f"{tokens} tokens do not fit into {limit}, and nothing that is left can be shortened"


async def _in_own_thread(function: Callable[[SummaryRequest], T], request: SummaryRequest) -> T:
    """
    Call a function in a new thread: those of the event loop's own pool may all be waiting for the lane held here.
    """
    context = copy_context()
    pool = ThreadPoolExecutor(1, "errcompact-summary")
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, lambda: context.run(function, request))
    finally:
        pool.shutdown(wait=False)


def _unless_in_loop(answer: Awaitable[Summary]) -> Awaitable[Summary]:
    """
    Return what can be awaited by a loop of its own.

    Raises:
        ConfigurationError: There is a loop already, which must not be held up.
    """
    if not loop_is_running():
        return answer
    if inspect.iscoroutine(answer):
        # Or it warns that it was never awaited.
        answer.close()
    raise ConfigurationError("the summariser is asynchronous: use `await window.acompact(...)`")
