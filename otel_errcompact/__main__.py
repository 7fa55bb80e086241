"""Runs the command line as `python -m otel_errcompact`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from runpy import run_module

from otel_errcompact.exceptions import MissingExtraError

if find_spec("otel_errcompact_lab") is None:
    sys.exit(f"errcompact: {MissingExtraError('the command line', 'cli')}")
run_module("otel_errcompact_lab", run_name="__main__")
