"""The text that replaces the result of a failed call: whole at first, then only what is new."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.dedup.masking import values
from otel_errcompact.digest import wording
from otel_errcompact.digest.budget import join_within
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.digest.untrusted import CUT, one_line, quoted_lines
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from otel_errcompact.digest.options import DigestOptions
    from otel_errcompact.digest.shown import Shown
    from otel_errcompact.digest.situation import Situation
    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.history.history import ErrorClass

MAX_VALUES: Final = 3
"""New values that a repeat names."""

MAX_REPEATED_CAUSE: Final = 200
"""Characters of the cause that a repeat shows."""

_MAX_VALUE: Final = 40
_SEEN: Final = f"  {CUT} {{}} shown before"

# What is new in one repeat is what is known in the next.
_values: Final = lru_cache(maxsize=256)(values)


class Digest(NamedTuple):
    """What the agent reads of one failure."""

    text: str
    shown: Shown
    """What the agent has been shown once it has read the text."""


def render_inline(
    raw: RawError,
    error_class: ErrorClass,
    shown: Shown,
    situation: Situation,
    *,
    options: DigestOptions,
    count_tokens: TokenCounter = estimate_tokens,
) -> Digest:
    """
    Return the text that replaces one failed call's result, within `options.inline_tokens`.

    The first occurrence holds all that is needed to fix it; a repeat what failed, how often, and what is new.
    Lines that the agent has been shown in this run are not shown again, unless its context has lost them. A text
    shorter than its digest stays as it is, and a tool declared verbatim keeps its text whole, beyond any budget.

    Args:
        raw: The failure.
        error_class: Its class, this occurrence included.
        shown: What the agent has been shown before.
        situation: What the failure means for the run.
        options: The budget and the length of a line.
        count_tokens: How tokens are counted.
    """
    if raw.tool in options.verbatim_tools:
        return Digest(_render_verbatim(raw, error_class, situation), shown)
    if error_class.count > 1 and not shown.of(error_class.key).forgotten:
        return _render_repeat(raw, error_class, shown, situation, options, count_tokens)
    return _render_whole(raw, error_class, shown, situation, options, count_tokens)


def render_refusal(
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
    head = wording.write_head(error_class.facts, error_class.tool, options.line_characters)
    stop = "; the run is stopped" if loop_halt and attempts >= loop_halt else ""
    if loop_halt > attempts:
        stop = f"; this was attempt {attempts}, at {loop_halt} the run is stopped"
    alert = "; ESCALATED: reported to the operators" if reported else ""
    return (
        f"NOT EXECUTED: this exact call has failed {failures} times and no call has succeeded since{alert}{stop}. "
        f"Change the arguments or the approach.\n{head} #{error_class.short}"
    )


def _render_verbatim(raw: RawError, error_class: ErrorClass, situation: Situation) -> str:
    mark = wording.mark_repeat(error_class, situation) if error_class.count > 1 else wording.write_warning(situation)
    return "\n".join(filter(None, (redact(quoted_lines(raw.text)), mark)))


def _render_whole(
    raw: RawError,
    error_class: ErrorClass,
    shown: Shown,
    situation: Situation,
    options: DigestOptions,
    count_tokens: TokenCounter,
) -> Digest:
    facts = error_class.facts
    again = error_class.count > 1
    name = wording.mark_repeat(error_class, situation) if again else f"#{error_class.short}"
    head = f"{wording.write_head(facts, raw.tool, options.line_characters)} {name}{wording.mark_detected(raw)}"
    fresh = _choose_lines(facts.details, shown)
    lines = [f"  | {line}" for detail in fresh if (line := one_line(detail, options.line_characters))]
    known = len(facts.details) - len(fresh)
    left_out = [_SEEN.format(f"{known} lines" if known > 1 else "1 line")] if known else []
    hints = [f"  hint: {line}" for line in shown.lines.unseen((error_class.hint,)) if line]
    marks = [] if again else list(filter(None, (wording.write_warning(situation),)))
    text, kept = join_within(options.inline_tokens, count_tokens, [head, *lines, *left_out, *hints], marks)
    hint = (error_class.hint,) if kept > len(lines) + len(left_out) else ()
    of_class = replace(shown.of(error_class.key), facts=facts, forgotten=False)
    shown = shown.set_class(error_class.key, of_class).add_lines((*fresh[: kept - 1], *hint))
    marks = [wording.mark_repeat(error_class, situation)] if again else marks
    stays = redact(quoted_lines(raw.text)) if len("\n".join((raw.text, *marks))) <= len(text) else ""
    return Digest("\n".join((stays, *marks)) if stays else text, shown)


def _choose_lines(lines: tuple[str, ...], shown: Shown) -> tuple[str, ...]:
    """
    Return the lines that the agent has not been shown; all of them where it would take more words to leave some out.
    """
    fresh = shown.lines.unseen(lines)
    saved = sum(map(len, lines)) - sum(map(len, fresh))
    return fresh if saved > len(_SEEN) else lines


def _render_repeat(
    raw: RawError,
    error_class: ErrorClass,
    shown: Shown,
    situation: Situation,
    options: DigestOptions,
    count_tokens: TokenCounter,
) -> Digest:
    new, lines, shown = _find_news(error_class, shown)
    facts, mark = error_class.facts, wording.mark_repeat(error_class, situation)
    cause = one_line(facts.cause, min(MAX_REPEATED_CAUSE, options.line_characters))
    head = f"[{wording.name_type(facts.type)}]{f': {cause}' if cause else ''} {mark}{new}"
    evidence = [f"  | {one_line(line, options.line_characters)}" for line in lines]
    text, kept = join_within(options.inline_tokens, count_tokens, [head, *evidence], [])
    stays = redact(quoted_lines(raw.text)) if len(raw.text) + len(mark) < len(text) else ""
    if stays:
        return Digest(f"{stays}\n{mark}", shown)
    return Digest(text, shown.add_lines(lines[: kept - 1]))


def _find_news(error_class: ErrorClass, shown: Shown) -> tuple[str, tuple[str, ...], Shown]:
    """Return what is new in a repeat: values in few words, and lines the like of which the agent has not been shown."""
    facts, of_class = error_class.facts, shown.of(error_class.key)
    before = of_class.facts
    # Most repeats are equal to the last one, and then there is nothing to look at.
    if before is None or facts is before or facts == before:
        return "", (), shown
    details = of_class.details.add(shown.lines.seen(before.details))
    lines = details.unseen(shown.lines.unseen(facts.details))
    news = [*_find_moves(facts, before), *_find_new_values(facts, before)]
    shown = shown.set_class(error_class.key, replace(of_class, facts=facts, details=details))
    return (f", now {', '.join(news)}" if news else ""), lines, shown


def _find_moves(facts: Facts, before: Facts) -> list[str]:
    line = facts.location.line
    moved = [f"line {line}"] if line is not None and line != before.location.line else []
    return [*moved, facts.tally] if facts.tally and facts.tally != before.tally else moved


def _find_new_values(facts: Facts, before: Facts) -> list[str]:
    # The repeated cause shows them.
    if facts.cause == before.cause or len(facts.cause) <= MAX_REPEATED_CAUSE:
        return []
    known = _values(before.cause)
    fresh = [one_line(value, _MAX_VALUE) for value in _values(facts.cause) if value not in known]
    return fresh[:MAX_VALUES]
