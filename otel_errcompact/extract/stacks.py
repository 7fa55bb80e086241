"""Printed stacks of any language: which of an output's chains counts, and what wrappers repeat of their cause."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.chain import MAX_CHAIN, Failure, facts_of
from otel_errcompact.extract.clipping import details

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts

_MAX_OTHERS: Final = 4
_JOINTS: Final = " :;,.(["
_LEADS: Final = ("; nested exception is", "; Reason", "; cause", " caused by", " because of")
_MIN_QUOTE: Final = 8


def facts_of_stacks(chains: Sequence[Sequence[Failure]], *, form: str) -> Facts:
    """
    Return the facts of the last of several chains; the others become a line each.

    Args:
        chains: The chains in the order of the output, each outermost first; at least one.
        form: The name of the format.
    """
    facts = facts_of(without_quotes(chains[-1]), form=form)
    others = dict.fromkeys(_others(chains[:-1], facts, form))
    return replace(facts, details=details((*facts.details, *others))) if others else facts


def without_quotes(chain: Sequence[Failure]) -> tuple[Failure, ...]:
    """
    Take from each wrapper's message what it quotes of its cause.
    """
    chain = chain[-MAX_CHAIN:]
    shortened = [outer._replace(message=_unquoted(outer.message, inner)) for outer, inner in pairwise(chain)]
    return (*shortened, *chain[-1:])


def _unquoted(message: str, cause: Failure) -> str:
    first = cause.message.partition("\n")[0].strip()
    start = message.find(first) if len(first) >= _MIN_QUOTE else -1
    if start >= 0:
        message = message[:start]
    message = message.rstrip(_JOINTS)
    if message.endswith(cause.type):
        message = message[: message.rfind(" ") + 1].rstrip(_JOINTS)
    for lead in _LEADS:
        message = message.removesuffix(lead)
    return message.rstrip(_JOINTS)


def _others(chains: Sequence[Sequence[Failure]], facts: Facts, form: str) -> Iterator[str]:
    for chain in chains[-_MAX_OTHERS:]:
        other = facts_of(without_quotes(chain), form=form)
        if (other.type, other.cause) != (facts.type, facts.cause):
            at = f" at {other.location}" if other.location else ""
            yield f"also {other.type}{at}: {other.cause}"
