"""Tool calls under way, whose start and outcome come in separate hooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.detector.control_flow import is_control_flow
from otel_errcompact.escalator.exceptions import RunPaused
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from otel_errcompact.boundary.arguments import Arguments
    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.registry import RunRegistry
    from otel_errcompact.boundary.runs import Run

MAX_CALLS: Final = 4_096
"""Calls that are under way at the same time."""


@dataclass(slots=True, kw_only=True, eq=False)
class PendingCall:
    """
    One tool call, from its first hook until it is forgotten.
    """

    run: Run
    tool: str
    arguments: Arguments
    call_id: str
    span_name: str = ""
    """What spans of others in this process name it by: its id, or the tool; empty without such spans."""

    began: int = 0
    """The tick at which the agent asked for it; 0 if unknown."""

    is_counted: bool = False
    """Whether its outcome has been counted, or must not be."""

    is_asked: bool = False
    """Whether a human was asked about it, because the run waits for one."""

    is_guarded: bool = False
    """Whether it is inside `guard`."""

    _caught: Exception | None = None
    """What it has failed with inside `guard`, where the framework has made a result of it."""

    def start(self) -> None:
        """Note that the agent asks for the call now."""
        self.began, self.is_counted = self.run.port.mark_request(), False

    def refuse(self) -> str:
        """Return why the call must not be executed; empty if it may."""
        stop = self.run.gate() if self.run.verdict.standing in {"halt", "pause"} else None
        self.is_asked = isinstance(stop, RunPaused)
        if stop is not None:
            return stop.reason
        refusal = self.run.port.refuse(self.tool, arguments=self.arguments, began=self.began)
        self.is_counted = bool(refusal)
        return refusal

    def begin(self) -> None:
        """Note that the call is executed: a human who was asked agreed."""
        self.is_counted = True
        if self.is_asked:
            self.run.answer(True)

    def execute(self) -> Call:
        """Begin the call and return the block around the tool."""
        self.begin()
        return self.run.tool(
            self.tool,
            arguments=self.arguments,
            call_id=self.call_id,
            began=self.began,
            reraise=self.run.port.only_observes,
            gated=False,
        )

    async def conclude(self, error: BaseException | str | None, result: object) -> str:
        """Count the outcome once and return the text of a failure."""
        if self.is_counted:
            return ""
        self.begin()
        call = self.record(error, result)
        await self.run.port.aask_handler()
        return call.text if call.compacted else ""

    def fail(self, error: Exception) -> str:
        """Count a failure and return its text, which `guard` does later."""
        if self.is_guarded:
            self._caught = error
            return ""
        self.is_counted = True
        call = self.record(error, None)  # the handler is asked at the gate, since this may run on an event loop
        return call.text if call.failed else str(error)

    async def guard(self, execute: Callable[[], Awaitable[Any]]) -> Any:
        """
        Execute the call in a boundary; return its result or text.

        Args:
            execute: Executes it; a failure may leave it, or be passed to `fail` inside.
        """
        made = self.execute()
        async with made:
            self.is_guarded = True
            try:
                if not made.refused:
                    made.result = await execute()
            finally:
                self.is_guarded, error, self._caught = False, self._caught, None
            if error is not None and is_control_flow(error):
                raise error
            if error is not None:
                made.fail(error)
        return made.text if made.compacted else made.result

    def record(self, error: BaseException | str | None, result: object) -> Call:
        """Count the outcome and return the call."""
        began, self.began = self.began, 0
        return self.run.port.record_call(
            self.tool, arguments=self.arguments, call_id=self.call_id, error=error, result=result, began=began
        )


class PendingCalls:
    """
    The calls under way, found by run id and call id.

    Args:
        runs: The runs they belong to.
    """

    def __init__(self, runs: RunRegistry) -> None:
        self._runs = runs
        self._calls: BoundedTable[tuple[str, str], PendingCall] = BoundedTable(MAX_CALLS)

    def find(self, run: Run, call_id: str, tool: str, arguments: Arguments) -> PendingCall:
        """Return a call as its newest hook names it, maybe new."""
        call = self._calls.get((run.run_id, call_id))
        if call is None:
            call = PendingCall(run=run, tool=tool, arguments=arguments, call_id=call_id)
            self._calls.put((run.run_id, call_id), call)
        call.tool, call.arguments = tool, arguments
        return call

    def announce(
        self, run_id: str, call_id: str, tool: str, arguments: Arguments, *, span_name: str, agent: str
    ) -> PendingCall:
        """Return a call with its first hook's names; claim its spans."""
        call = self._calls.get((run_id, call_id))
        if call is None:
            run = self._runs.of(run_id, agent=agent)
            if not run.port.has_turns:  # the first: later ones begin where the framework asks the model
                run.begin_turn()
            call = PendingCall(run=run, tool=tool, arguments=arguments, call_id=call_id, span_name=span_name)
            call.start()
            self._calls.put((run_id, call_id), call)
            if span_name:
                claims_of(self._runs.ledger).expect(span_name)
        return call

    def find_by_arguments(self, span_name: str, arguments: object) -> PendingCall | None:
        """
        Find the call behind a tool that gets only the arguments.

        Where several agents make the same call at the same time it may be another's: each is still counted once. Where
        no call has these arguments, something has changed them on the way.
        """
        calls = tuple(self._calls.entries.values())
        named = [call for call in calls if call.span_name == span_name and not call.is_counted]
        return next((call for call in named if call.arguments == arguments), named[0] if named else None)

    def is_any_open(self, run_id: str) -> bool:
        """Return whether calls of a run are under way."""
        return any(known == run_id for known, _ in tuple(self._calls.entries))

    def end(self, call: PendingCall, result: object, *, error: str | None = None) -> None:
        """Forget a call and count its result, unless it is counted."""
        self._calls.pop((call.run.run_id, call.call_id))
        if not call.is_counted:
            call.record(error, result)

    def forget(self, run_id: str, call_id: str = "") -> None:
        """Forget one announced call of a run, or all of them."""
        for key in [(run_id, call_id)] if call_id else [key for key in tuple(self._calls.entries) if key[0] == run_id]:
            call = self._calls.pop(key)
            if call is None:
                continue
            call.run.port.settle_call(call.call_id)  # a span of it may end later
            if call.span_name:
                claims_of(self._runs.ledger).expect_no_more(call.span_name)
