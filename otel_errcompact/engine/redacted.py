"""Take secrets out of what a shared store would hold."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from otel_errcompact import late
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from otel_errcompact.errors import Operation, RawError


@lru_cache(maxsize=1_024)
def redact_operation(operation: Operation) -> Operation:
    """
    Return an operation without secrets in its name and targets.

    The same secret gives the same text, so that failures and successes of one operation still meet.
    """
    name, targets = late.redact(operation.name), tuple(late.redact(target) for target in operation.targets)
    return (
        operation
        if (name, targets) == (operation.name, operation.targets)
        else replace(operation, name=name, targets=targets)
    )


def redact_target(raw: RawError) -> RawError:
    """Return a raw error without secrets in its operation."""
    operation = redact_operation(raw.operation)
    return raw if operation == raw.operation else replace(raw, operation=operation)
