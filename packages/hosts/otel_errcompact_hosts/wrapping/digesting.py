"""Judge a command and make its digest in this process, without counts."""

from __future__ import annotations

import logging
import os
import warnings
from typing import TYPE_CHECKING

from otel_errcompact.config import Options
from otel_errcompact.detector.operation import operation_of
from otel_errcompact.detector.results import classify_result
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.history.history import SHORT_LENGTH
from otel_errcompact_hosts.calls import Answer, find_way_back

if TYPE_CHECKING:
    from otel_errcompact_hosts.calls import HostCall, HostResult


def conclude_command(call: HostCall, result: HostResult) -> Answer:
    """Judge what a command has printed, as the service does."""
    # A command's standard error is not ours.
    logging.disable()
    warnings.simplefilter("ignore")
    options = Options.from_environ().with_way_back(find_way_back(os.environ))
    verdict = classify_result(result.text, tool=call.tool, arguments=call.arguments, exit_code=result.exit_code)
    if verdict.outcome != "failure":
        return Answer(outcome=verdict.outcome)
    raw = RawError(
        text=result.text,
        exit_code=result.exit_code,
        stated=verdict.stated,
        tool=call.tool,
        arguments=call.arguments,
        directory=call.directory,
        operation=operation_of(call.tool, call.arguments),
    )
    observation = Ledger(options).observe(call.run_id, raw)
    text = observation.text if options.mode != "observe" else ""
    key = observation.found.key
    return Answer(outcome="failure", text=text, key=key, short=key[:SHORT_LENGTH], count=observation.count)
