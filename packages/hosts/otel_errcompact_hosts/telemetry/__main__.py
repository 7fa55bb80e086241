"""Receive telemetry alone: `python -m otel_errcompact_hosts.telemetry`."""

from __future__ import annotations

import sys

from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_hosts.telemetry.serving import main

if __name__ == "__main__":
    try:
        main()
    except ErrcompactError as error:
        sys.exit(str(error))
