"""Tool calls that a framework announces in one hook and tells the outcome of in another, or in several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.escalator.exceptions import RunPaused
from otel_errcompact.otel.spans.claims import claims_of
from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.registry import RunRegistry
    from otel_errcompact.boundary.runs import Run
    from otel_errcompact.otel.spans.claims import Claims

MAX_CALLS: Final = 4_096
"""Calls that are under way at the same time."""


@dataclass(slots=True, kw_only=True, eq=False)
class AnnouncedCall:
    """
    One tool call, from its announcement until it is forgotten.
    """

    run: Run
    tool: str
    arguments: Mapping[str, object]
    call_id: str
    spans_say: str
    """How spans that others make of it in this process name it: by its id, or by the tool; empty if there are none."""

    began: int = 0
    """The tick at which the agent asked for it."""

    told: bool = False
    """Whether its outcome has been counted, or must not be."""

    asked: bool = False
    """Whether a human was asked about it, because the run waits for one."""

    def refusal(self) -> str:
        """
        Return why it must not be executed; empty if it may. `asked` tells whether that is for a human to decide.
        """
        stop = self.run.gate() if self.run.verdict.standing in {"halt", "pause"} else None
        self.asked = isinstance(stop, RunPaused)
        if stop is not None:
            return stop.reason
        refusal = self.run.port.refuse(self.tool, arguments=self.arguments, began=self.began)
        self.told = bool(refusal)
        return refusal

    def begin(self) -> None:
        """Take note that it is executed, and that its outcome will be told: a human who was asked has said yes."""
        self.told = True
        if self.asked:
            self.run.answer(True)

    def execute(self) -> Call:
        """Begin it here: what is returned goes around the tool, as `run.tool(...)` does."""
        self.begin()
        return self.run.tool(
            self.tool,
            arguments=self.arguments,
            call_id=self.call_id,
            began=self.began,
            reraise=self.run.port.only_observes,
            gated=False,
        )

    def outcome(self, error: BaseException | str | None, result: object) -> str:
        """Count what came of it, unless that was told already; return what the agent reads of a failure."""
        call = self._executed(error, result)
        if call is None:
            return ""
        self.run.port.ask_handler()
        return call.text if call.compacted else ""

    async def aoutcome(self, error: BaseException | str | None, result: object) -> str:
        """Count what came of it, as `outcome` does, in asynchronous code."""
        call = self._executed(error, result)
        if call is None:
            return ""
        await self.run.port.aask_handler()
        return call.text if call.compacted else ""

    def _executed(self, error: BaseException | str | None, result: object) -> Call | None:
        if self.told:
            return None
        self.begin()
        return self.run.port.record_call(
            self.tool,
            arguments=self.arguments,
            call_id=self.call_id,
            error=error,
            result=result,
            began=self.began,
        )


class AnnouncedCalls:
    """
    The calls that are under way, found again by their ids.

    Args:
        runs: The runs they belong to.
    """

    def __init__(self, runs: RunRegistry) -> None:
        self._runs = runs
        self._calls: BoundedTable[tuple[str, str], AnnouncedCall] = BoundedTable(MAX_CALLS)

    @property
    def _claims(self) -> Claims:
        return claims_of(self._runs.ledger)

    def of(
        self, run_id: str, call_id: str, tool: str, arguments: Mapping[str, object], *, spans_say: str, agent: str
    ) -> AnnouncedCall:
        """Return a call, which is announced where it is not known yet."""
        known = self._calls.get((run_id, call_id))
        if known is None:
            run = self._runs.of(run_id, agent=agent)
            if not run.port.has_turns:  # the first: later ones begin where the framework says that the model is asked
                run.begin_turn()
            known = AnnouncedCall(
                run=run,
                tool=tool,
                arguments=arguments,
                call_id=call_id,
                spans_say=spans_say,
                began=run.port.mark_request(),
            )
            self._calls.put((run_id, call_id), known)
            if spans_say:
                self._claims.expect(spans_say)
        return known

    def waiting(self, spans_say: str, arguments: object) -> AnnouncedCall | None:
        """
        Find the call that a tool of this process is executed for, where the tool is only told the arguments.

        Where several agents make the same call at the same time it may be another's: each is still counted once. Where
        none has these arguments, something has changed them on the way.
        """
        calls = tuple(self._calls.entries.values())
        named = [call for call in calls if call.spans_say == spans_say and not call.told]
        return next((call for call in named if call.arguments == arguments), named[0] if named else None)

    def forget(self, run_id: str, call_id: str = "") -> None:
        """Forget one call of a run, or all of them."""
        for key in [(run_id, call_id)] if call_id else [key for key in tuple(self._calls.entries) if key[0] == run_id]:
            call = self._calls.pop(key)
            if call is None:
                continue
            call.run.port.settle_call(call.call_id)  # a span of it may end later
            if call.spans_say:
                self._claims.expect_no_more(call.spans_say)
