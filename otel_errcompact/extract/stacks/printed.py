"""Printed stacks of any language: which of an output's chains counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import details
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.stacks.failure import Failure

_MAX_OTHERS: Final = 8


def facts_of_stacks(chains: Sequence[Sequence[Failure]]) -> Facts:
    """
    Return the facts of the last chain, with the others as lines.

    Each chain has the outermost exception first.
    """
    facts = facts_of(chains[-1])
    if len(chains) == 1:
        return facts
    told = set(_list_statements(chains[-1]))
    others = dict.fromkeys(
        _describe_others([chain for chain in chains[:-1] if not told.issuperset(_list_statements(chain))], facts)
    )
    return replace(facts, details=details((*facts.details, *others))) if others else facts


def _list_statements(chain: Iterable[Failure]) -> Iterator[tuple[str, str]]:
    for failure in chain:
        yield failure.type, failure.message
        for child in failure.children:
            yield from _list_statements(child)


def _describe_others(chains: Sequence[Sequence[Failure]], facts: Facts) -> Iterator[str]:
    for chain in chains[-_MAX_OTHERS:]:
        other = facts_of(chain)
        if (other.type, other.cause) != (facts.type, facts.cause):
            at = f" at {other.location}" if other.location else ""
            yield f"also {other.type}{at}: {other.cause}"
