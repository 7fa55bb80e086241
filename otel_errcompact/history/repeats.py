"""Count identical failing calls without success: refusals and loops."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.history.streaks import Attempts
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CALLS: Final = 64
"""Calls of one agent that are remembered; the least recently failed goes first."""

MAX_AGENTS: Final = 16
"""Agents of one run whose calls are remembered."""


@dataclass(slots=True, kw_only=True)
class RepeatedCall:
    """
    Holds one call that has failed since the last success.

    Tool, arguments and working directory identify it.
    """

    attempts: Attempts = field(default_factory=Attempts)
    """Its failures and refusals, by turns; none that waiting may help, and none that is only stated."""

    failures: Attempts = field(default_factory=Attempts)
    """Its failures without the refusals, by turns."""

    key: str = ""
    """The dedup key of its newest failure."""

    failed_at_ns: int = 0
    """When it failed last, in nanoseconds since the epoch; 0 where that is unknown."""

    @property
    def failed(self) -> int:
        """Turns in which the call was executed and failed."""
        return self.failures.count

    def is_refused(self, limit: int, seconds: int, now_ns: int) -> bool:
        """
        Return whether the call failed `limit` times for reasons that stay.

        Args:
            limit: Failures from which on it is refused.
            seconds: For how long after its last failure; later it may be made once, as a probe.
            now_ns: The time in nanoseconds since the epoch; 0 where that is unknown.
        """
        if self.failed < limit:
            return False
        return not (now_ns and self.failed_at_ns and now_ns - self.failed_at_ns >= seconds * 1_000_000_000)

    def dump(self) -> list[object]:
        """Return the call as JSON has it."""
        attempts, failures = self.attempts.dump(), self.failures.dump()
        return [self.key, self.failed_at_ns, attempts, None if failures == attempts else failures]

    @classmethod
    def load(cls, dumped: Sequence[Any]) -> RepeatedCall:
        """Return the call that `dump` has written."""
        key, failed_at, attempts, failures = dumped
        return cls(
            key=key,
            failed_at_ns=failed_at,
            attempts=Attempts.load(attempts),
            failures=Attempts.load(attempts if failures is None else failures),
        )


class RepeatedCalls:
    """
    Holds the failed calls of a run, by agent.

    The success of any call of an agent clears those of that agent.
    """

    def __init__(self) -> None:
        self._agents: OrderedDict[str, OrderedDict[str, RepeatedCall]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._agents)

    def find(self, agent: str, call: str) -> RepeatedCall | None:
        """Return the call's record, or None since the agent's last success."""
        calls = self._agents.get(agent)
        return calls.get(call) if calls is not None else None

    def fail(self, agent: str, call: str, *, began: int, tick: int, key: str, time_ns: int) -> None:
        """Record that a call failed; unknown arguments are identical to none."""
        if not call:
            return
        calls = self._agents.setdefault(agent, OrderedDict())
        known = calls.setdefault(call, RepeatedCall())
        known.attempts.fail(began, tick)
        known.failures.fail(began, tick)
        known.key, known.failed_at_ns = key, time_ns
        calls.move_to_end(call)
        if len(calls) > MAX_CALLS:
            calls.popitem(last=False)
        if len(self._agents) > MAX_AGENTS:
            self._agents.popitem(last=False)

    def succeed(self, agent: str) -> None:
        """
        Forget the failed calls of an agent after a success.

        It may have changed what they need.
        """
        self._agents.pop(agent, None)

    def clear(self) -> None:
        """Forget all failed calls, after an answer or a resume."""
        self._agents.clear()

    def dump(self) -> list[object]:
        """Return the calls as JSON has them, least recently failed first."""
        return [
            [agent, *([call, *known.dump()] for call, known in calls.items())] for agent, calls in self._agents.items()
        ]

    @classmethod
    def load(cls, dumped: Sequence[Any]) -> RepeatedCalls:
        """Return the calls that `dump` has written."""
        repeats = cls()
        for agent, *calls in dumped:
            repeats._agents[agent] = OrderedDict((call, RepeatedCall.load(known)) for call, *known in calls)
        return repeats
