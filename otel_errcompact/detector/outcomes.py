"""Whether a failed call may have taken effect all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.kinds import MAX_CAUSE, is_ended_from_outside, statement_of, status_of, words_of
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, RawError

_UNANSWERED: Final = frozenset({"500", "502", "504", "520", "524"})
"""Statuses of servers that had the request; 503 and 429 turn it away."""

_ADDRESS: Final = lazy_pattern(r"\bhttps?://\S+")
"""Its words are names of servers and paths."""

_BEGUN: Final = lazy_pattern(
    r"\bread(?:ing)? (?:tcp|from)\b|\bread: connection|recv failure|without (?:sending a )?response|during query"
)
"""What can only be said of an answer that was waited for."""

_NOT_BEGUN: Final = lazy_pattern(
    r"connect(?:ion|ing)? ?(?:attempt )?time|\b(?:connect|dial|lookup|resolve)\b|connecting\b|\bconnection to\b"
    r"|(?:failed|unable|could not|cannot|can't) (?:to )?(?:establish|open|connect|obtain|get|acquire)|establish"
    r"|econnrefused|refused|unreachable|handshake|\bkex_|\btls\b|\bssl\b|name resolution|eai_?again"
    r"|\block\b|\blocked\b|\bblocking ?io\b|\bacquir(?:e|ing)\b|\bacquisition\b|check ?out|\bpool|queue|deadlock"
    r"|serializ|roll(?:ed|ing) ?back|cancel+ing statement|too many|rate[ -]?limit|throttl|exhausted|overload"
    r"|over capacity|\bbusy\b|unavailable|not (?:yet )?(?:ready|available)|starting|booting|warming|in progress|pending"
    r"|for (?:an? )?(?:free |available )?(?:connection|slot|worker|channel)\b"
)
"""What happens before the work begins, or takes it back."""

_CUT_OFF: Final = lazy_pattern(
    r"(?<!e)timed? ?-?out|deadline[ _]?(?:has )?(?:been )?exceeded|took too long"
    r"|connection ?(?:was |has been |is )?(?:forcibly )?(?:reset|aborted|closed)|econnreset|econnaborted"
    r"|(?:server|remote) ?disconnected|remote end closed|remote protocol error|(?:hang|hung) up"
    r"|bad gateway|gateway timeout|internal server error|\bkilled\b|sigkill|sigterm|oom killed"
)
"""What ends a call whose work may have begun."""

_WORDS_OF_END: Final = (
    "time", "exceed", "took", "reset", "abort", "closed", "disconnect", "remote", "hang", "hung", "gateway", "internal",
    "kill", "sigterm", "read", "recv", "without", "query", *_UNANSWERED,
)  # fmt: skip
"""Strings of which each text that any of these match holds one: to look for them costs little."""


def is_outcome_unknown(raw: RawError, facts: Facts) -> bool:
    """
    Tell whether a transient failure leaves open if the call took effect.

    An answer that did not come says nothing of the work (RFC 9110, section 9.2.2). Where the words name a step before
    the work, such as a connection or a lock, or none at all, the answer is no: less is said, and nothing untrue.
    """
    cause = facts.cause[:MAX_CAUSE]
    is_ended = is_ended_from_outside(raw, facts)
    if not (is_ended or has_any(f"{facts.type}\n{cause}".lower(), _WORDS_OF_END)):
        return False
    status = status_of(facts.type, cause)
    if status:
        return status in _UNANSWERED
    said = f"{' '.join(words_of(facts.type))}\n{_ADDRESS.sub('', statement_of(cause))}"
    if _BEGUN.search(said):
        return True
    return (is_ended or _CUT_OFF.search(said) is not None) and _NOT_BEGUN.search(said) is None
