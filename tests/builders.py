"""Raw errors and classified errors with few words."""

from __future__ import annotations

from otel_errcompact.compactor.classify import Classified
from otel_errcompact.errors import NOWHERE, UNKNOWN, Facts, Location, Operation, RawError


def raw(
    text: str = "connection refused",
    *,
    tool: str = "db.query",
    arguments: str = "",
    operation: Operation = UNKNOWN,
    boundary: bool = True,
    time_ns: int = 0,
    began: int = 0,
) -> RawError:
    return RawError(
        text=text,
        tool=tool,
        arguments=arguments,
        operation=operation,
        boundary=boundary,
        time_ns=time_ns,
        began=began,
    )


def facts(
    cause: str = "connection refused",
    *,
    type: str = "ConnectionError",
    location: Location = NOWHERE,
    details: tuple[str, ...] = (),
) -> Facts:
    return Facts(type=type, cause=cause, location=location, details=details, format="plain")


def classified(key: str = "3f2a000000000000", found: Facts | None = None) -> Classified:
    found = found or facts()
    return Classified(facts=found, key=key, template=found.cause)
