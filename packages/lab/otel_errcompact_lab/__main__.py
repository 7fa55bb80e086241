"""Runs the command line as `python -m otel_errcompact_lab`."""

from __future__ import annotations

from otel_errcompact_lab.cli.start import main

if __name__ == "__main__":
    main()
