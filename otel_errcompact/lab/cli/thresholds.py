"""Options with the thresholds that were asked for on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.config import Options

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_options(limits: Mapping[str, int | None]) -> Options:
    """Return all options, those of the environment where none is asked for."""
    options = Options.from_environ()
    asked = {name: limit for name, limit in limits.items() if limit is not None}
    return options.model_copy(update={"thresholds": options.thresholds.model_copy(update=asked)})
