"""Refusals of identical calls in recorded runs, and the calls' recorded outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


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
            self._count(refused)
            self.sums.differed += refused and key != before
            self.sums.failed_again += refused and key == before
            self.sums.missed += not refused and key == before
        self._failed[call] = key

    def record_success(self, *, before: str, refused: bool) -> None:
        """Count a call that succeeded, which may have changed what others need."""
        if before:
            self._count(refused)
            self.sums.worked += refused
        self._failed.clear()

    def _count(self, refused: bool) -> None:
        self.sums.retries += 1
        self.sums.refused += refused
