"""Thresholds that were asked for on the command line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otel_errcompact.config import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The thresholds that were asked for; None for one that was not."""

    same: int | None = None
    rejected: int | None = None
    loop: int | None = None
    consecutive: int | None = None
    total: int | None = None


NOT_ASKED: Final = Limits()


def with_thresholds(options: Options, limits: Limits) -> Options:
    """Return options with the thresholds of the command line."""
    thresholds = {name: limit for name, limit in asdict(limits).items() if limit is not None}
    return options.model_copy(update={"thresholds": options.thresholds.model_copy(update=thresholds)})
