"""Write the words of digests: failure, repeat, and distance to an escalation."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest.untrusted import CUT, one_line
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.digest.situation import Situation
    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.escalator.thresholds import Threshold
    from otel_errcompact.history.history import ErrorClass

MAX_PLACE: Final = 160
"""Characters of a place."""

MAX_KIND: Final = 80
"""Characters of a type; of a longer one the modules go first."""

_TOLD_EXIT: Final = lazy_pattern(
    r"(?i)(?:exit|status|code|return|\brc\b|error|terminated)[^\n0-9-]{0,24}(-?[0-9]{1,9})(?!\w|\.[0-9])"
)
"""An exit status as programs and harnesses write it: `Exit code 2`, `exited with 2`, `exit status 2`, `Error 2`."""

_COUNTED: Final[dict[Threshold, str]] = {
    # The count of the streak stands beside it.
    "same": "",
    "rejected": "",
    "loop": "{count} identical calls, ",
    "consecutive": "{count} calls failed in a row, ",
    "total": "{count} failures in this run, ",
}


def write_head(facts: Facts, tool: str, limit: int) -> str:
    """Return the head of a digest: `[type] at place: cause (40 tests)`."""
    place = _shorten_place(one_line(str(facts.location), 800)) or (f"tool {one_line(tool, 80)}" if tool else "")
    where = f" at {place}" if place else ""
    name = name_type(facts.type)
    tally = f" ({facts.tally})" if facts.tally else ""
    cause = one_line(facts.cause, max(limit - len(name) - len(where) - len(tally), 80))
    return f"[{name}]{where}: {cause}{tally}" if cause else f"[{name}]{where}{tally}"


def mark_exit(raw: RawError) -> str:
    """Return the exit status as a mark unless the text states it."""
    code = raw.exit_code
    if not code or any(int(told) == code for told in _TOLD_EXIT.findall(raw.text)):
        return ""
    return f" (exit code {code})"


def name_outcome(raw: RawError) -> str:
    """Return what is known of an unread failure: its status."""
    return f"exit code {raw.exit_code} " if raw.exit_code else ""


def _shorten_place(place: str) -> str:
    # The end names file and line, without which nobody finds it.
    return place if len(place) <= MAX_PLACE else f"{CUT}{place[len(CUT) - MAX_PLACE :]}"


@lru_cache(maxsize=256)
def name_type(name: str) -> str:
    """Return a type as it may stand in brackets."""
    short = name if len(name) <= MAX_KIND else name.rpartition(".")[2]
    return one_line(short, MAX_KIND).replace("[", "(").replace("]", ")") or "Error"


def mark_repeat(error_class: ErrorClass, situation: Situation, *, is_again: bool = True) -> str:
    """Return the mark of a repeat: class, count and notice."""
    row = f", {situation.streak} in a row" if situation.streak > 1 else ""
    news = write_notice(situation)
    how = "again" if is_again else "with new details"
    return f"#{error_class.short} {how} (x{error_class.count}{row}{f'; {news}' if news else ''})"


def write_notice(situation: Situation) -> str:
    """Return the notice of a threshold or a loop, if any."""
    if situation.stopped_by is not None:
        stands = "waits for a human" if situation.stopped_by == "pause" else "is stopped"
        return f"the run {stands}: make no further calls"
    decision = situation.decision
    if decision.level == "escalate":
        counted = _COUNTED[decision.threshold].format(count=decision.count)
        return f"{counted}ESCALATED at {decision.limit}{_write_consequence(situation)}"
    if decision.level != "notice":
        if situation.unknown:
            # Of what is said only at the second failure a payment has been made twice.
            return "it may have taken effect: check before you try again"
        return write_advice(situation) if situation.wait else ""
    advice = write_advice(situation)
    if situation.repeats > 1:
        stop = f", at {situation.loop_halt} the run is stopped" if situation.loop_halt else ""
        how = "failed or were refused" if 0 < situation.executed < situation.repeats else "failed"
        return f"{situation.repeats} identical calls {how} and no call has succeeded since{stop}: {advice}"
    left = decision.limit - decision.count
    return f"escalates at {decision.limit}: {advice}" if left == 1 else advice


def write_advice(situation: Situation) -> str:
    """Return what to do after a failure, by its kind."""
    wait = f"wait {situation.wait}" if situation.wait else "wait"
    if situation.unknown:
        return f"{wait} and check whether it took effect before you try again"
    if situation.transient:
        return f"{wait} before you try again"
    return "nothing was executed, change the input" if situation.rejected else "try something else"


def _write_consequence(situation: Situation) -> str:
    if situation.action is None:
        return ""  # what becomes of it stands in a line of its own once it is known
    if situation.action == "halt":
        return ": the run is stopped"
    # Of the failures of a whole run this one may be the first of its kind.
    advice = "" if situation.decision.threshold == "total" else f"; {write_advice(situation)}"
    return f": recorded for the operators{advice}"


def write_warning(situation: Situation) -> str:
    """Return the notice as its own line, for a class without count."""
    notice = write_notice(situation)
    return f"NOTICE: {notice}" if notice else ""
