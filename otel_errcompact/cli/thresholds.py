"""Thresholds that were asked for on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_errcompact.config import Options


def with_thresholds(options: Options, *, same: int | None, consecutive: int | None, total: int | None) -> Options:
    """Return options with these thresholds in place of theirs, where one was asked for."""
    asked = {"same": same, "consecutive": consecutive, "total": total}
    thresholds = {name: limit for name, limit in asked.items() if limit is not None}
    return options.model_copy(update={"thresholds": options.thresholds.model_copy(update=thresholds)})
