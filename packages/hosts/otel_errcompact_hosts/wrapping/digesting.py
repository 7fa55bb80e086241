"""Judge a command and make its digest in this process, without counts."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

from otel_errcompact.config import Options
from otel_errcompact.detector.operation import operation_of
from otel_errcompact.detector.outcomes import find_wait, is_worth_saying
from otel_errcompact.digest import Situation
from otel_errcompact.engine.pipeline import FailureMemory, Pipeline
from otel_errcompact.errors import RawError
from otel_errcompact.history.history import SHORT_LENGTH, History
from otel_errcompact.runtime.roots import open_roots
from otel_errcompact_hosts.calls import find_way_back

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.history.history import ErrorClass


def judge_command(text: str, status: int, command: Mapping[str, str]) -> tuple[str, str] | None:
    """Return a failure's digest and class's short name; None without one."""
    # A command's standard error is not ours.
    logging.disable()
    warnings.simplefilter("ignore")
    options = Options.from_environ().with_way_back(find_way_back())
    # Of one failure a ledger has nothing to count, and takes a third of the imports.
    pipeline = Pipeline(options.digest, roots=open_roots(options.workspace_roots))
    tool, arguments = command["tool"], command["arguments"]
    verdict = pipeline.detect(text, tool=tool, arguments=arguments, flagged=None, exit_code=status)
    if verdict.outcome != "failure":
        return None
    raw = RawError(
        text=text,
        exit_code=status,
        stated=verdict.stated,
        tool=tool,
        arguments=arguments,
        directory=command["directory"],
        operation=operation_of(tool, arguments),
    )
    memory, found = FailureMemory(history=History(max_classes=1)), pipeline.classify(raw)
    kind = pipeline.kind_of(raw, found)
    error_class = pipeline.record(memory, raw, found, kind=kind).error_class
    digest = "" if options.mode == "observe" else pipeline.render(memory, raw, error_class, _describe(raw, error_class))
    return digest, found.key[:SHORT_LENGTH]


def _describe(raw: RawError, error_class: ErrorClass) -> Situation:
    kind = error_class.kind
    wait = find_wait(raw, error_class.facts) if kind.transient else ""
    return Situation(
        rejected=kind.rejected,
        transient=kind.transient,
        unknown=kind.unknown and is_worth_saying(raw),
        wait="" if wait.split(" ")[0] in raw.text else wait,
    )
