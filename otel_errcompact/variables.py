"""
Every variable of ours as a name of this module: `opentelemetry-instrument` makes command-line flags of them.
"""

from __future__ import annotations

from otel_errcompact.config import environment_variables

globals().update({name: name for name in environment_variables()})
