"""Options with the thresholds that were asked for on the command line."""

from __future__ import annotations

from otel_errcompact.config import Options


def read_options(**limits: int | None) -> Options:
    """Return all options, those of the environment where none is asked for."""
    options = Options.from_environ()
    asked = {name: limit for name, limit in limits.items() if limit is not None}
    return options.model_copy(update={"thresholds": options.thresholds.model_copy(update=asked)})
