"""Write the block of recent errors while a run has any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import wording
from otel_errcompact.digest.audience import show_class_to
from otel_errcompact.digest.budget import shorten_lines
from otel_errcompact.digest.situation import Situation
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.digest.untrusted import CUT, one_line

if TYPE_CHECKING:
    from otel_errcompact.digest.options import DigestOptions
    from otel_errcompact.escalator.escalation import Escalation
    from otel_errcompact.history.history import ErrorClass, History

OPENING: Final = "[RECENT ERRORS]"
CLOSING: Final = "[/RECENT ERRORS]"

CONSIDERED_FROM: Final = 3
"""Failures in a row of the newest class without hint from which on the block says what to consider."""


def render_block(
    history: History,
    *,
    options: DigestOptions,
    escalation: Escalation | None = None,
    unhandled: Escalation | None = None,
    guidance: str = "",
    count_tokens: TokenCounter = estimate_tokens,
) -> str:
    """
    Return the `[RECENT ERRORS]` block of a run, within `options.block_tokens`.

    It is empty if there is nothing to show.

    Args:
        history: The run's error classes.
        options: Budget and line length.
        escalation: The escalation that stands, if there is one.
        unhandled: The newest escalation that no handler has answered, while its class is open.
        guidance: The human's answer to the last escalation.
        count_tokens: How tokens are counted.
    """
    live = [found for found in reversed(list(history)) if not (found.resolved or found.overcome)]
    if not live:
        return _render_guidance(guidance, options)
    marks: list[str] = []
    if escalation is not None:
        limit = options.line_characters
        marks.append(one_line(f"ESCALATED ({escalation.threshold}): {escalation.reached}", limit))
    elif unhandled is not None:
        reported = f"ESCALATED ({unhandled.threshold}): recorded for the operators: {unhandled.reached}"
        marks.append(one_line(reported, options.line_characters))
    if guidance:
        marks.append(f"OPERATOR: {one_line(guidance, options.line_characters)}")
    elif escalation is None and _is_stuck(live[0], history):
        kind = live[0].kind
        situation = Situation(transient=kind.transient, unknown=kind.unknown, rejected=kind.rejected)
        marks.append(f"CONSIDER: {wording.write_advice(situation)}")
    classes = [_render_class(found, options) for found in live]
    escalated = escalation.key if escalation is not None else ""
    kept = {index: lines for index, lines in enumerate(classes) if live[index].key == escalated}
    for index, lines in enumerate(classes):
        trial = {**kept, index: lines}
        if count_tokens("\n".join(_frame_lines(trial, marks, len(classes)))) > options.block_tokens:
            break
        kept = trial
    return shorten_lines(options.block_tokens, count_tokens, _frame_lines(kept or {0: classes[0]}, marks, len(classes)))


def _render_guidance(guidance: str, options: DigestOptions) -> str:
    """Return a human's message for an agent without open classes."""
    return f"OPERATOR: {one_line(guidance, options.line_characters)}" if guidance else ""


def _frame_lines(kept: dict[int, list[str]], marks: list[str], total: int) -> list[str]:
    body = [line for _, lines in sorted(kept.items()) for line in lines]
    cut = [f"{CUT} {total - len(kept)} more of {total}"] if len(kept) < total else []
    return [OPENING, *body, *cut, *marks, CLOSING]


def _is_stuck(found: ErrorClass, history: History) -> bool:
    # Return whether a class keeps failing and nothing helps: no hint, and nothing that has succeeded since.
    return found.streak >= CONSIDERED_FROM and not found.hint and not history.has_success_since(found)


def _render_class(error_class: ErrorClass, options: DigestOptions) -> list[str]:
    facts = show_class_to(error_class.facts, options, error_class.tool)
    head = wording.write_head(facts, error_class.tool, options.line_characters)
    row = f", {error_class.streak} in a row" if error_class.streak > 1 else ""
    count = f" (x{error_class.count}{row})" if error_class.count > 1 else ""
    lines = [f"{head}{count} #{error_class.short}"]
    if error_class.hint:
        lines.append(f"  hint: {error_class.hint}")
    return lines
