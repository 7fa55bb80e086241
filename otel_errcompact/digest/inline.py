"""The text that replaces one failed call's result: all that is needed at first sight, later only what is new."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.masking import values
from otel_errcompact.digest import wording
from otel_errcompact.digest.budget import fitting
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.digest.untrusted import CUT, one_line, quoted_lines
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from otel_errcompact.digest.options import DigestOptions
    from otel_errcompact.digest.standing import Standing
    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.history.history import ErrorClass, History

MAX_VALUES: Final = 3
"""New values that a repeat names."""

MAX_REPEATED_CAUSE: Final = 200
"""Characters of the cause that a repeat shows."""

_MAX_VALUE: Final = 40
_SEEN: Final = f"  {CUT} {{}} shown before"

# What is new in one repeat is what is known in the next.
_values: Final = lru_cache(maxsize=256)(values)


def inline(
    raw: RawError,
    error_class: ErrorClass,
    history: History,
    standing: Standing,
    *,
    options: DigestOptions,
    count_tokens: TokenCounter = estimate_tokens,
) -> str:
    """
    Return the text that replaces one failed call's result, within `options.inline_tokens`.

    The first occurrence says all that is needed to fix it; a repeat says what failed, how often, and what is new.
    Lines that the agent has been shown in this run are not shown again. What its context has lost since is said once
    more. A text shorter than its digest stays as it is, and a tool declared verbatim keeps its text whole, beyond any
    budget.
    """
    if raw.tool in options.verbatim_tools:
        return _verbatim(raw, error_class, standing)
    if error_class.count > 1 and not error_class.forgotten:
        return _repeat(raw, error_class, history, standing, options, count_tokens)
    return _whole(raw, error_class, history, standing, options, count_tokens)


def refusal(
    error_class: ErrorClass,
    failures: int,
    attempts: int,
    *,
    loop_halt: int = 0,
    reported: bool = False,
    options: DigestOptions,
) -> str:
    """
    Return what the agent reads when an identical call is not executed again.

    Args:
        error_class: What the call failed with last.
        failures: How often it was executed and failed.
        attempts: How often it failed or was refused, this time included.
        loop_halt: The number of attempts at which the run is stopped; 0 where it is not.
        reported: Whether the loop has been reported to the operators.
        options: The length of a line.
    """
    head = wording.head(error_class.facts, error_class.tool, options.line_characters)
    stop = "; the run is stopped" if loop_halt and attempts >= loop_halt else ""
    if loop_halt > attempts:
        stop = f"; this was attempt {attempts}, at {loop_halt} the run is stopped"
    told = "; ESCALATED: reported to the operators" if reported else ""
    return (
        f"NOT EXECUTED: this exact call has failed {failures} times and no call has succeeded since{told}{stop}. "
        f"Change the arguments or the approach.\n{head} #{error_class.short}"
    )


def _verbatim(raw: RawError, error_class: ErrorClass, standing: Standing) -> str:
    mark = wording.repeat(error_class, standing) if error_class.count > 1 else wording.warning(standing)
    return "\n".join(filter(None, (redact(quoted_lines(raw.text)), mark)))


def _whole(
    raw: RawError,
    error_class: ErrorClass,
    history: History,
    standing: Standing,
    options: DigestOptions,
    count_tokens: TokenCounter,
) -> str:
    facts = error_class.facts
    error_class.told = facts
    error_class.forgotten = False
    again = error_class.count > 1
    name = wording.repeat(error_class, standing) if again else f"#{error_class.short}"
    head = f"{wording.head(facts, raw.tool, options.line_characters)} {name}{wording.detected(raw)}"
    fresh = _not_shown_before(facts.details, history)
    lines = [f"  | {shown}" for line in fresh if (shown := one_line(line, options.line_characters))]
    known = len(facts.details) - len(fresh)
    left_out = [_SEEN.format(f"{known} lines" if known > 1 else "1 line")] if known else []
    hints = [f"  hint: {line}" for line in history.shown.fresh((error_class.hint,)) if line]
    marks = [] if again else list(filter(None, (wording.warning(standing),)))
    text, kept = fitting(options.inline_tokens, count_tokens, [head, *lines, *left_out, *hints], marks)
    history.shown.remember(fresh[: kept - 1])
    if kept > len(lines) + len(left_out):
        history.shown.remember((error_class.hint,))
    marks = [wording.repeat(error_class, standing)] if again else marks
    stays = redact(quoted_lines(raw.text)) if len("\n".join((raw.text, *marks))) <= len(text) else ""
    return "\n".join((stays, *marks)) if stays else text


def _not_shown_before(lines: tuple[str, ...], history: History) -> tuple[str, ...]:
    """
    Return the lines that the agent has not been shown; all of them where it would take more words to leave some out.
    """
    fresh = history.shown.fresh(lines)
    saved = sum(map(len, lines)) - sum(map(len, fresh))
    return fresh if saved > len(_SEEN) else lines


def _repeat(
    raw: RawError,
    error_class: ErrorClass,
    history: History,
    standing: Standing,
    options: DigestOptions,
    count_tokens: TokenCounter,
) -> str:
    new, lines = _evidence(error_class, history)
    facts, mark = error_class.facts, wording.repeat(error_class, standing)
    cause = one_line(facts.cause, min(MAX_REPEATED_CAUSE, options.line_characters))
    head = f"[{wording.kind(facts.type)}]{f': {cause}' if cause else ''} {mark}{new}"
    shown = [f"  | {one_line(line, options.line_characters)}" for line in lines]
    text, kept = fitting(options.inline_tokens, count_tokens, [head, *shown], [])
    stays = redact(quoted_lines(raw.text)) if len(raw.text) + len(mark) < len(text) else ""
    if stays:
        return f"{stays}\n{mark}"
    history.shown.remember(lines[: kept - 1])
    return text


def _evidence(error_class: ErrorClass, history: History) -> tuple[str, tuple[str, ...]]:
    """
    Return what is new in a repeat: values in few words, and lines the like of which the agent has not been shown.
    """
    facts, told = error_class.facts, error_class.told
    # Most repeats are equal to the last one, and then there is nothing to look at.
    if told is None or facts is told or facts == told:
        return "", ()
    error_class.told = facts
    error_class.shown.remember(history.shown.known(told.details))
    lines = error_class.shown.fresh(history.shown.fresh(facts.details))
    news = [*_moved(facts, told), *_changed(facts, told)]
    return (f", now {', '.join(news)}" if news else ""), lines


def _moved(facts: Facts, told: Facts) -> list[str]:
    line = facts.location.line
    moved = [f"line {line}"] if line is not None and line != told.location.line else []
    return [*moved, facts.tally] if facts.tally and facts.tally != told.tally else moved


def _changed(facts: Facts, told: Facts) -> list[str]:
    # What the repeated cause shows need not be said twice.
    if facts.cause == told.cause or len(facts.cause) <= MAX_REPEATED_CAUSE:
        return []
    known = _values(told.cause)
    fresh = [one_line(value, _MAX_VALUE) for value in _values(facts.cause) if value not in known]
    return fresh[:MAX_VALUES]
