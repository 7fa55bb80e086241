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
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from otel_errcompact.config import Options, state_folder
from otel_errcompact.digest.tokens import default_counter
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.coroutines import is_asynchronous, loop_is_running, run_awaited, run_synchronously
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.roots import open_roots
from otel_errcompact_context import providers
from otel_errcompact_context.breaker import SESSIONS, CircuitBreaker
from otel_errcompact_context.memory.archive import FolderArchive
from otel_errcompact_context.memory.memory import Memories
from otel_errcompact_context.notes import Compaction, LayerNote, invalidated_tokens
from otel_errcompact_context.telemetry import global_telemetry
from otel_errcompact_context.window.layers import Edited, Workspace, all_layers
from otel_errcompact_context.window.layers.requests import SUMMARY_HEADINGS
from otel_errcompact_context.window.pairs import count_turn_tokens
from otel_errcompact_context.window.room import count_beside, reserve_of, window_by_options
from otel_errcompact_context.window.schedule import Schedule, check_options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence

    from otel_errcompact.config import ContextOptions
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.memory.archive import Archive
    from otel_errcompact_context.memory.memory import Memory
    from otel_errcompact_context.messages import Conversation, FormatName
    from otel_errcompact_context.notes import LayerName, Reason
    from otel_errcompact_context.window.layers import Layer
    from otel_errcompact_context.window.layers.requests import Answer, Summarize, Summary, SummaryRequest
    from otel_errcompact_context.window.schedule import Occasion

T = TypeVar("T")

LONG: Final = 10_000
"""Messages from which on reading a list would keep the garbage collector busy for more than half of the time."""


class ContextWindow:
    """
    Keeps message lists within a model's context window.

    `window.compact(messages)` before each call of the model returns a `Compaction`, whose `messages` are sent instead.
    Below the trigger nothing is changed but failures and huge results, so that prompt caches hold.

    Args:
        options: How large the window is, and when what is cut; as the environment says if None.
        archive: Where the whole of what is cut is kept; files in the folder that the options say by default.
        count_tokens: What a text costs; `default_counter(options.model)` if None.
        summarize: Is given a `SummaryRequest` and returns a text, at once or awaited. Without it nothing is summarised.
        headings: The headings of a summary, and what stands under each; `SUMMARY_HEADINGS` if None.
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
        headings: Mapping[str, str] | None = None,
        digest: DigestOptions | None = None,
        clock: Callable[[], int] = time.time_ns,
        timer: Callable[[], int] = time.perf_counter_ns,
        observers: Sequence[Callable[[Compaction], object]] | None = None,
        guard: Guard | None = None,
    ) -> None:
        environment = Options.from_environ() if options is None else Options(context=options)
        self.options = environment.context
        check_options(self.options)
        self.window_tokens: int = window_by_options(self.options)
        """The window by the options: given, the model's, or the default."""

        self.archive: Archive = _open_folder(self.options) if archive is None else archive
        self.count_tokens = count_tokens or default_counter(self.options.model)
        self.guard = guard or Guard()
        self._summarize = summarize
        self._layers = [layer for layer in all_layers() if summarize is not None or not layer.asks]
        self._workspace = Workspace(
            archive=self.archive,
            options=self.options,
            window_tokens=self.window_tokens,
            headings=SUMMARY_HEADINGS if headings is None else headings,
            summarises_compacted=getattr(summarize, "reads_compacted", False) is True,
            count_tokens=self.count_tokens,
            target_tokens=0,
            summaries=CircuitBreaker(self.options.breaker_failures, self.options.breaker_seconds),
            digest=digest or environment.digest,
            hidden_failures=environment.hidden_failures,
            roots=open_roots(environment.workspace_roots),
        )
        self._last_ns: BoundedTable[str, int] = BoundedTable(SESSIONS)
        """When each session was compacted last, which is shortly before its request is sent."""
        self._memories = Memories()
        self._requested: BoundedTable[str, bool] = BoundedTable(SESSIONS)
        self._clock = clock
        self._timer = timer
        self._observers = (global_telemetry(),) if observers is None else tuple(observers)

    def compact(
        self,
        messages: Sequence[object],
        *,
        session: str = "",
        beside: object = None,
        beside_tokens: int = 0,
        window_tokens: int | None = None,
        reason: Occasion = "over_trigger",
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Compaction:
        """
        Compact a message list as far as it needs to be.

        Args:
            messages: A provider's list; neither it nor anything in it is changed.
            session: Whose conversation it is, for whoever observes.
            beside: What is sent beside the list and is counted: the system prompt, the schemas of tools, or both.
            beside_tokens: What else is sent beside the list, counted already.
            window_tokens: The window of this conversation, if it is another than the options say.
            reason: `overflow` after a provider has refused the list, however small its estimate is; `asked` to cut
                to the target whatever the estimate.
            format: The provider's format; told apart by content if none is named.

        Raises:
            ConfigurationError: The list is of no known format, `beside_tokens` is negative, or `beside` is neither text
                nor JSON.
        """
        room = self._compute_room(beside_tokens + self.count_beside(beside), window_tokens)
        return run_synchronously(partial(self._run_layers, messages, session, room, reason, format))

    async def acompact(
        self,
        messages: Sequence[object],
        *,
        session: str = "",
        beside: object = None,
        beside_tokens: int = 0,
        window_tokens: int | None = None,
        reason: Occasion = "over_trigger",
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Compaction:
        """
        Compact a message list, in asynchronous code.

        A synchronous summariser runs in a thread.
        """
        room = self._compute_room(beside_tokens + self.count_beside(beside), window_tokens)
        return await self._run_layers(messages, session, room, reason, format, blocking=False)

    async def _run_layers(
        self,
        messages: Sequence[object],
        session: str,
        room: int,
        reason: Occasion,
        format_name: FormatName | None,
        *,
        blocking: bool,
    ) -> Compaction:
        steps = self._read_and_run(messages, session, room, reason, format_name)
        answer: Any = None
        while True:
            # What was read is gone before the collector runs again, and never looked through.
            with _pause_collector(len(messages)):
                try:
                    request = steps.send(answer)
                except StopIteration as done:
                    compaction: Compaction = done.value
                    break
            answer = await self._answer_request(request, blocking=blocking)
        for observer in self._observers:
            with self.guard.stage("context.observer"):
                observer(compaction)
        return compaction

    def _read_and_run(
        self,
        messages: Sequence[object],
        session: str,
        room: int,
        reason: Occasion,
        format_name: FormatName | None,
    ) -> Generator[SummaryRequest, Answer, Compaction]:
        # Run the layers; what only the caller's summariser can answer is yielded.
        if not messages:
            return Compaction(messages=[], session=session, notes=(), tokens_before=0, tokens_after=0, room_tokens=room)
        if self._requested.pop(session) and reason == "over_trigger":
            reason = "asked"
        memory = self._memories.take_memory(session, messages)
        given = memory.read_list(messages, self.count_tokens, format_name)
        progress = _Progress(given)
        turn, cold = 0 if self._summarize else count_turn_tokens(given.messages), self._is_cold(session)
        schedule = Schedule(self.options, room, progress.tokens, reason, is_cold=cold, turn_tokens=turn)
        workspace = replace(
            self._workspace,
            target_tokens=schedule.target,
            ample_tokens=schedule.ample,
            room_tokens=schedule.room,
            least_gain_tokens=schedule.least_gain,
            batch_tokens=schedule.batch,
            session=session,
            states=memory.states,
        )
        for layer in self._layers:
            due = layer.due(schedule, progress.tokens)
            if due == "cache_expired":
                all_of_it = replace(workspace, target_tokens=0, least_gain_tokens=0)
                yield from self._run_layer(layer, due, progress, all_of_it)
            elif due is not None:
                yield from self._run_layer(layer, due, progress, workspace)
        problems = self._take_back_faults(given, progress, memory)
        opaque = memory.check_list(progress.conversation).has_compacted
        # From here on another thread may have it.
        self._memories.put_memory(session, memory)
        return Compaction(
            messages=providers.write_list(progress.conversation),
            session=session,
            notes=tuple(progress.notes),
            tokens_before=progress.notes[0].tokens_before,
            tokens_after=progress.tokens,
            room_tokens=room,
            problems=problems,
            opaque=opaque,
        )

    def request_compaction(self, session: str = "") -> None:
        """
        Have the next compaction of a conversation cut to the target.

        It is what the model's tool does; whoever holds the list calls `compact` with the reason `asked` instead.

        Args:
            session: Whose conversation it is, as `compact` is given it.
        """
        self._requested.put(session, value=True)

    def count_beside(self, beside: object) -> int:
        """
        Count what is sent beside a list, in tokens.

        Raises:
            ConfigurationError: It is neither text nor JSON.
        """
        return count_beside(beside, self.count_tokens)

    def _is_cold(self, session: str) -> bool:
        if not self.options.cache_seconds:
            return False
        now = self._clock()
        last = self._last_ns.get(session)
        self._last_ns.put(session, now)
        return last is not None and now - last >= self.options.cache_seconds * 1e9

    def _compute_room(self, beside_tokens: int, window_tokens: int | None) -> int:
        if beside_tokens < 0:
            raise ConfigurationError(
                f"beside_tokens is {beside_tokens}; pass what the system prompt and tools cost, or 0"
            )
        window = self.window_tokens if window_tokens is None else window_tokens
        return max(0, window - reserve_of(self.options, window) - beside_tokens)

    def _run_layer(
        self, layer: Layer, reason: Reason, progress: _Progress, workspace: Workspace
    ) -> Generator[SummaryRequest, Answer, None]:
        before, tokens = progress.conversation, progress.tokens
        start, began = self._clock(), self._timer()
        try:
            steps = layer.edit(before, workspace)
            edited = steps if isinstance(steps, Edited) else (yield from steps)
        except Exception as error:  # noqa: BLE001 - the agent goes on with what it had, and a note says so
            self.guard.record_failure(f"context.{layer.name}", error)
            edited = Edited(before, problem=f"the layer failed: {type(error).__name__}: {error}")
        after = tokens if edited.conversation is before else edited.conversation.tokens
        if after > tokens:
            edited = Edited(before, problem=f"discarded: the estimate grew from {tokens} to {after} tokens")
            after = tokens
        progress.take_step(
            edited.conversation,
            LayerNote(
                layer=layer.name,
                reason=reason,
                tokens_before=tokens,
                tokens_after=after,
                invalidated_tokens=invalidated_tokens(before, edited.conversation),
                start_ns=start,
                duration_ns=self._timer() - began,
                cuts=edited.cuts,
                problem=edited.problem,
                forgets=layer.forgets,
            ),
        )

    def _take_back_faults(self, given: Conversation, progress: _Progress, memory: Memory) -> tuple[str, ...]:
        # Return what is wrong with the list by the provider's rules, after taking back layers that made it worse.
        problems = memory.check_list(progress.conversation).problems
        if progress.conversation is given or not problems:
            return problems
        allowed = len(memory.check_list(given, is_given=True).problems)
        while len(problems) > allowed and progress.conversation is not given:
            layer = progress.take_back(f"discarded: it broke the provider's rules: {problems[-1]}")
            self.guard.record_failure(f"context.{layer}", AssertionError(f"{layer}: {problems}"))
            problems = memory.check_list(progress.conversation).problems
        return problems

    async def _answer_request(self, request: SummaryRequest, *, blocking: bool) -> Answer:
        # Whoever gave no summariser is not asked.
        summarize = cast("Summarize", self._summarize)
        try:
            if blocking or is_asynchronous(summarize):
                answer = summarize(request)
            else:
                answer = await _run_in_own_thread(summarize, request)
            if not inspect.isawaitable(answer):
                return answer
            return run_awaited(_refuse_in_loop(answer)) if blocking else await answer
        except Exception as error:  # noqa: BLE001 - the conversation stays as it is, and a note says why
            self.guard.record_failure("summarize", error, fatal=False)
            return error


def _open_folder(options: ContextOptions) -> FolderArchive:
    folder = state_folder() if options.folder is None else options.folder
    return FolderArchive(
        folder,
        max_bytes=options.folder_max_bytes,
        max_days=options.folder_max_days,
        redacts=options.folder_redact,
    )


class _Step(NamedTuple):
    conversation: Conversation
    tokens: int


class _Progress:
    """How far a list has come."""

    def __init__(self, given: Conversation) -> None:
        self._steps = [_Step(given, given.tokens)]
        self.notes: list[LayerNote] = []

    @property
    def conversation(self) -> Conversation:
        return self._steps[-1].conversation

    @property
    def tokens(self) -> int:
        return self._steps[-1].tokens

    def take_step(self, conversation: Conversation, note: LayerNote) -> None:
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


@contextmanager
def _pause_collector(messages: int) -> Generator[None, None, None]:
    # The collector runs for so many new objects and follows all that are alive; of a hundred thousand messages none is
    # garbage before the list is done. Never while a summariser is waited for. Who has switched it off finds it off.
    is_paused = messages >= LONG and gc.isenabled()
    if is_paused:
        gc.disable()
    try:
        yield
    finally:
        if is_paused:
            gc.enable()


async def _run_in_own_thread(function: Callable[[SummaryRequest], T], request: SummaryRequest) -> T:
    # Call a function in a new thread: those of the event loop's own pool may all be waiting for the lane held here.
    context = copy_context()
    pool = ThreadPoolExecutor(1, "errcompact-summary")
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, lambda: context.run(function, request))
    finally:
        pool.shutdown(wait=False)


def _refuse_in_loop(answer: Awaitable[Summary]) -> Awaitable[Summary]:
    # Return what a loop of its own can await; a loop that runs already must not be held up.
    if not loop_is_running():
        return answer
    if inspect.iscoroutine(answer):
        # Or it warns that it was never awaited.
        answer.close()
    raise ConfigurationError("the summariser is asynchronous: use `await window.acompact(...)`")
