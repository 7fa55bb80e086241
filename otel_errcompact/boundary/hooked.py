"""Tool calls of a framework that tells of their start, failure and end in hooks apart from one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.detector.results import is_control_flow
from otel_errcompact.runtime.bounded import BoundedTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from otel_errcompact.boundary.call import Call
    from otel_errcompact.boundary.runs import Run

MAX_CALLS: Final = 4_096

_OPEN, _GUARDED, _TOLD = "open", "guarded", "told"


class Hooked(NamedTuple):
    """
    What each hook is told of the call.
    """

    run: Run
    tool: str
    arguments: str | None
    call_id: str

    @property
    def key(self) -> tuple[str, str]:
        """What its hooks have in common."""
        return self.run.run_id, self.call_id


class HookedCalls:
    """
    The calls under way: an end after a failure is no success, also where the failure became a result.
    """

    def __init__(self) -> None:
        self._calls: BoundedTable[tuple[str, str], str | Exception] = BoundedTable(MAX_CALLS)
        self._began: BoundedTable[tuple[str, str], int] = BoundedTable(MAX_CALLS)

    def started(self, call: Hooked) -> None:
        """Take note of a call."""
        self._calls.put(call.key, _OPEN)
        self._began.put(call.key, call.run.port.mark_request())

    def failed(self, call: Hooked, error: Exception) -> str:
        """Count a failure, and return what the agent reads; inside `guarded` that is known when the call is over."""
        if self._calls.get(call.key) == _GUARDED:
            self._calls.put(call.key, error)
            return ""
        self._calls.put(call.key, _TOLD)
        told = self._executed(call, error, None)
        call.run.port.ask_handler()
        return told.text if told.failed else str(error)

    def ended(self, call: Hooked, result: object, *, error: str | None = None) -> None:
        """Take note of a result, unless the call was told of already."""
        if self._calls.pop(call.key) != _TOLD:
            self._executed(call, error, result)

    def _executed(self, call: Hooked, error: Exception | str | None, result: object) -> Call:
        return call.run.port.record_call(
            call.tool,
            arguments=call.arguments,
            call_id=call.call_id,
            error=error,
            result=result,
            began=self._began.pop(call.key) or 0,
        )

    def is_any_open(self, run_id: str) -> bool:
        """Return whether calls of a run have started and not ended: what ends now is inside of one."""
        return any(known == run_id for known, _ in tuple(self._calls.entries))

    async def guarded(self, call: Hooked, execute: Callable[[], Awaitable[Any]]) -> Any:
        """
        Execute a call in a boundary of our own, and return its result, or the text of its failure or refusal.

        Args:
            call: The call.
            execute: Executes it; a failure may leave it, or be passed to `failed` inside.
        """
        inside = call.run.tool(
            call.tool,
            arguments=call.arguments,
            call_id=call.call_id,
            began=self._began.get(call.key) or 0,
            reraise=call.run.port.only_observes,
            gated=False,
        )
        try:
            async with inside:
                self._calls.put(call.key, _GUARDED)
                try:
                    if not inside.refused:
                        inside.result = await execute()
                finally:
                    error = self._calls.pop(call.key)
                if isinstance(error, Exception):
                    _fail(inside, error)
        finally:
            self._calls.put(call.key, _TOLD)
        return inside.text if inside.compacted else inside.result


def _fail(call: Call, error: Exception) -> None:
    """Declare that a call has failed with an exception that the framework has made a result of; raise control flow."""
    if is_control_flow(error):
        raise error
    call.fail(error)
