"""What kind of failure a class is: whether waiting helps, and whether anything was executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, RawError


@dataclass(frozen=True, slots=True)
class FailureKind:
    """
    Whether waiting helps, and whether anything was executed.
    """

    transient: bool = False
    """Whether its own words say that waiting helps."""

    rejected: bool = False
    """Whether nothing was executed."""


def kind_of(raw: RawError, facts: Facts) -> FailureKind:  # noqa: ARG001 - rules follow
    """Return what kind of failure a raw error is."""
    said = f"{facts.type} {facts.cause}".lower()
    return FailureKind(
        transient=any(word in said for word in ("timeout", "503", "refused")), rejected="command not found" in said
    )
