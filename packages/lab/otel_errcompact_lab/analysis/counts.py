"""Sums over one run or many, and their shares; retries and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


@dataclass(slots=True, kw_only=True)
class Counts:
    """Sums over one run or many; tokens are estimated from characters."""

    calls: int = 0
    """Tool calls with a result."""

    failures: int = 0
    silent: int = 0
    """Those of the failures that the record calls successes: recognised by their text, so each of them is a guess."""

    unflagged: int = 0
    """Failures without a flag or exit status in the record, also recognised by their text."""

    ignored: int = 0
    """Declined calls, empty searches, cancellations: they look like failures and are none."""

    classes: int = 0
    """Distinct failures in a run; over all runs, the sum of those."""

    error_tokens: int = 0
    silent_tokens: int = 0
    unflagged_tokens: int = 0
    result_tokens: int = 0
    context_tokens: int = 0
    """Everything that was said, asked and answered, once."""

    digest_tokens: int = 0
    """The texts that would have stood in place of the errors."""

    class_repeats: int = 0
    """Failures whose class had failed before in the run."""

    def add(self, other: Counts) -> None:
        """Add the sums of `other` to these."""
        for name in _NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def stated_tokens(self) -> int:
        """Tokens of errors that nothing declares and a tool states."""
        return self.silent_tokens + self.unflagged_tokens

    @property
    def saved_tokens(self) -> int:
        """Tokens of the context that digests save; negative if digests are longer."""
        return self.error_tokens - self.digest_tokens

    def to_json(self) -> dict[str, int | float]:
        """Return the sums and the shares, under stable names."""
        sums: dict[str, int | float] = {name: getattr(self, name) for name in _NAMES}
        shares: dict[str, int | float] = {
            "saved_tokens": self.saved_tokens,
            "error_share_of_results": share(self.error_tokens, self.result_tokens),
            "error_share_of_context": share(self.error_tokens, self.context_tokens),
            "silent_share_of_context": share(self.silent_tokens, self.context_tokens),
            "unflagged_share_of_context": share(self.unflagged_tokens, self.context_tokens),
            "saved_share_of_context": share(self.saved_tokens, self.context_tokens),
            "class_repeat_share": share(self.class_repeats, self.failures),
        }
        return sums | {name: round(value, 6) for name, value in shares.items()}


_NAMES = tuple(field.name for field in fields(Counts))


def share(part: float, whole: float) -> float:
    """Return `part` of `whole`; of nothing, nothing."""
    return part / whole if whole else 0.0


@dataclass(slots=True, kw_only=True)
class Refusals:
    """Calls identical to one that has failed while nothing has succeeded since."""

    retries: int = 0
    """All of them, refused or not."""

    refused: int = 0
    """Those that the rule refuses."""

    worked: int = 0
    """Of the refused those that succeeded in the record: mistakes."""

    differed: int = 0
    """Of the refused those that failed with another class."""

    failed_again: int = 0
    """Of the refused those that failed with the same class: saved."""

    missed: int = 0
    """Those that the rule lets through and that failed with the same class again: first retries, transient failures."""

    def add(self, other: Refusals) -> None:
        """Add the sums of `other` to these."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def to_json(self) -> dict[str, int]:
        """Return it under stable names."""
        return {each.name: int(getattr(self, each.name)) for each in fields(self)}


@dataclass(slots=True)
class Retries:
    """The failed calls of one run while it is read."""

    sums: Refusals = field(default_factory=Refusals)
    _failed: dict[Hashable, str] = field(default_factory=dict["Hashable", str])
    """The class of each call that has failed since something succeeded."""

    def __bool__(self) -> bool:
        return bool(self._failed)

    def before(self, call: Hashable) -> str:
        """Return the class that this call failed with since a success."""
        return self._failed.get(call, "")

    def record_failure(self, call: Hashable, key: str, *, before: str, refused: bool) -> None:
        """Count a call that failed with the class `key`."""
        if before:
            self._count_retry(refused)
            self.sums.differed += refused and key != before
            self.sums.failed_again += refused and key == before
            self.sums.missed += not refused and key == before
        self._failed[call] = key

    def record_success(self, *, before: str, refused: bool) -> None:
        """Count a call that succeeded, which may have changed what others need."""
        if before:
            self._count_retry(refused)
            self.sums.worked += refused
        self._failed.clear()

    def _count_retry(self, refused: bool) -> None:
        self.sums.retries += 1
        self.sums.refused += refused
