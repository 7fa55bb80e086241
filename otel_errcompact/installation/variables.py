"""Name every variable of ours, for flags of `opentelemetry-instrument`."""

from __future__ import annotations

from otel_errcompact.config import PREFIX, environment_variables

# That program reads the names of a module.
globals().update({name: name for name in environment_variables() if name.startswith(PREFIX)})
