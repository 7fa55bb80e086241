"""Whether a failed call may have taken effect all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.kinds import (
    MAX_CAUSE,
    is_ended_from_outside,
    search_wait,
    statement_of,
    status_of,
    words_of,
)
from otel_errcompact.detector.roles import Call
from otel_errcompact.extract.lexicon import Sense, Words
from otel_errcompact.extract.table import names_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, RawError

_UNANSWERED: Final = frozenset({"500", "502", "504", "520", "524"})
"""Statuses of servers that had the request; 503 and 429 turn it away."""

_ADDRESS: Final = lazy_pattern(r"\bhttps?://\S+")
"""Its words are names of servers and paths."""

_BEGUN: Final = Words(Sense.BEGUN)
_BEFORE: Final = Words(Sense.BEFORE)
_CUT: Final = Words(Sense.CUT)


def is_outcome_unknown(raw: RawError, facts: Facts) -> bool:
    """
    Tell whether a transient failure leaves open if the call took effect.

    An answer that did not come says nothing of the work (RFC 9110, section 9.2.2). Where the words name a step before
    the work, such as a connection or a lock, or none at all, the answer is no: less is said, and nothing untrue.
    """
    cause = facts.cause[:MAX_CAUSE]
    is_ended = is_ended_from_outside(raw, facts)
    status = status_of(facts.type, cause)
    if facts.format in names_of("judges_code") or (status and status not in _UNANSWERED):
        return False
    if status:
        return _may_change(raw)
    said = f"{' '.join(words_of(facts.type))}\n{_ADDRESS.sub('', statement_of(cause))}"
    if not _BEGUN.find(said) and (_BEFORE.find(said) or not (is_ended or _CUT.find(said))):
        return False
    return _may_change(raw)


def is_worth_saying(raw: RawError) -> bool:
    """Tell whether no command line shows the agent what its call changes."""
    return bool(raw.tool) and Call(raw.tool, raw.arguments).kind == "other"


def _may_change(raw: RawError) -> bool:
    return _CHANGES.search(raw.tool) is not None or Call(raw.tool, raw.arguments).kind not in {"reading", "searching"}


_CHANGES: Final = lazy_pattern(
    r"(?i)post|put|patch|send|create|update|delete|writ|submit|book|order|pay|charg|transfer"
)


def find_wait(raw: RawError, facts: Facts) -> str:
    """
    Return how long the other side asks to wait, as `7 s`.

    Empty where it does not say. Read are the cause, the header `Retry-After` of an exception's response (RFC 9110,
    section 10.2.3) and the text of an answer.
    """
    try:
        asked = str(raw.exception.response.headers["retry-after"])  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - another one's object, of any type
        asked = ""
    if asked.isdigit():
        return f"{asked} s"
    found = search_wait(raw, facts)
    if found is None:
        return ""
    unit = found["unit"] or ("ms" if (found["of_name"] or "").endswith("ms") else "s")
    return f"{found['time']} {unit}"
