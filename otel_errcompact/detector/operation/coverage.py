"""Whether a success of one operation is surely a success of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.detector.operation.programs import row_of, words_of

if TYPE_CHECKING:
    from otel_errcompact.errors import Operation
    from otel_errcompact.extract.command import Checker


def covers(operation: Operation, other: Operation) -> bool:
    """Tell whether a success of `operation` is surely a success of `other`."""
    return operation == other or (
        operation.wide and operation.name == other.name and _covers_targets(operation.targets, other)
    )


def leaves_behind(operation: Operation, other: Operation) -> bool:
    """
    Tell whether a success of `operation` may stand for one of `other`.

    It may if the same tool or program has done something else instead. A check of one thing says nothing of another.
    """
    return operation.name == other.name and row_of(other.name.partition(" ")[2]).checks is None


def _covers_targets(mine: tuple[str, ...], other: Operation) -> bool:
    checker = row_of(other.name.partition(" ")[2]).checks
    if checker is None or any(target.endswith("/") and target not in other.targets for target in mine):
        return False
    paths = [target for target in mine if not target.endswith("/")]
    inside = [target for target in mine if target.endswith("/")]
    found = False
    for target in other.targets:
        if target in inside:
            continue
        if target.startswith("-"):
            if target.partition(" ")[0] not in words_of(f"{checker.narrowing} {checker.narrowing_flags}"):
                return False
        elif target.endswith("/") or not _lies_within(target, paths, inside, checker):
            return False
        else:
            found = True
    return found or not paths


def _lies_within(target: str, paths: list[str], inside: list[str], checker: Checker) -> bool:
    if not paths:
        return not target.startswith(("/", "..", "~", "$")) or any(map(target.startswith, inside))
    for path in paths:
        if target == path:
            return True
        if checker.patterns:
            if path.endswith("/...") and f"{target}/".startswith(path[:-3]):
                return True
        elif target.startswith((f"{path}/", f"{path}::", f"{path}[")):
            return True
    return False
