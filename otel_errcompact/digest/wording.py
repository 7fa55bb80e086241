"""How digests say things: what failed, that it failed again, and how close the run is to an escalation."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest.untrusted import one_line

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.escalation import Decision, Threshold
    from otel_errcompact.history import ErrorClass

MAX_KIND: Final = 80
"""Characters of a type; of a longer one the modules go first."""

_COUNTED: Final[dict[Threshold, str]] = {
    # The count of the class stands beside it.
    "same": "",
    "consecutive": "{count} calls failed in a row, ",
    "total": "{count} failures in this run, ",
}
_SCOPE: Final[dict[Threshold, str]] = {"same": "", "consecutive": " in a row", "total": " in all"}


def head(facts: Facts, tool: str, limit: int) -> str:
    """Return what failed in the pattern's own form: `[type] at place: cause (40 tests)`."""
    place = one_line(str(facts.location), 160) or (f"tool {one_line(tool, 80)}" if tool else "")
    where = f" at {place}" if place else ""
    name = kind(facts.type)
    tally = f" ({facts.tally})" if facts.tally else ""
    cause = one_line(facts.cause, max(limit - len(name) - len(where) - len(tally), 80))
    return f"[{name}]{where}: {cause}{tally}" if cause else f"[{name}]{where}{tally}"


def detected(raw: RawError) -> str:
    """Return why the agent reads a digest where the tool itself reported no failure."""
    return f" (the tool reported success; detected: {one_line(raw.detected, 80)})" if raw.detected else ""


@lru_cache(maxsize=256)
def kind(name: str) -> str:
    """Return a type as it may stand in brackets."""
    short = name if len(name) <= MAX_KIND else name.rpartition(".")[2]
    return one_line(short, MAX_KIND).replace("[", "(").replace("]", ")") or "Error"


def repeat(error_class: ErrorClass, decision: Decision) -> str:
    """Return that a class failed again, and how the run stands because of it."""
    streak = error_class.streak
    row = f", {streak} in a row" if streak > 1 else ""
    near = standing(decision)
    return f"#{error_class.short} again (x{error_class.count}{row}{f'; {near}' if near else ''})"


def brief_repeat(error_class: ErrorClass, decision: Decision) -> str:
    """Return the same in the fewest words, for errors that are short themselves: `#3f2a again (x2 of 3)`."""
    count = error_class.count
    again = f"#{error_class.short} again (x{count}"
    if decision.level == "carry_on":
        return f"{again})"
    reached = ", ESCALATED" if decision.level == "escalate" else ""
    if decision.threshold == "same" and decision.count == count:
        return f"{again} of {decision.limit}{reached})"
    return f"{again}; {decision.count} of {decision.limit}{_SCOPE[decision.threshold]}{reached})"


def standing(decision: Decision) -> str:
    """Return how close the run is to an escalation, or that it is there; empty if it is far."""
    if decision.level == "carry_on":
        return ""
    counted = _COUNTED[decision.threshold].format(count=decision.count)
    if decision.level == "escalate":
        return f"{counted}ESCALATED at {decision.limit}"
    return f"{counted}escalates at {decision.limit}: try something else"


def warning(decision: Decision) -> str:
    """Return the same as a line of its own, for a class that is new and has no count to stand beside."""
    said = standing(decision)
    return f"NOTICE: {said}" if said else ""
