"""What became of identical calls while a run is played."""

from __future__ import annotations

from collections import Counter

from otel_errcompact.lab.html_report.steps import Repeats


class RepeatedCalls:
    """Counts failures and refusals by call since the last success."""

    def __init__(self) -> None:
        self._failed: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._newest = ""

    def fail(self, call: str) -> None:
        """Count a failure; without a fingerprint no call is identical to it."""
        self._newest = call
        self._failed[call] += 1

    def refuse(self, call: str) -> None:
        """Count a refusal."""
        self._newest = call
        self._refused[call] += 1

    def clear(self) -> None:
        """Forget all, after a success, an answer or a resume."""
        self._failed.clear()
        self._refused.clear()

    def divide(self, count: int) -> Repeats | None:
        """
        Return how many attempts of the newest call failed or were refused.

        None where that is not certain: attempts of one turn count once, and a success of another agent ends nothing.
        """
        failed, refused = self._failed[self._newest], self._refused[self._newest]
        if not refused:
            return Repeats(failed=count, refused=0)
        return Repeats(failed=failed, refused=refused) if failed + refused == count else None
