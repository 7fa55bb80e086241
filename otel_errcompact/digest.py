"""From history to the text the agent reads: inline for one failed call, and the block of recent errors."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from otel_errcompact.redaction import redact
from otel_errcompact.tokens import TokenCounter, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.escalation import Decision, Escalation, Threshold
    from otel_errcompact.history import ErrorClass, History

OPENING: Final = "[RECENT ERRORS]"
CLOSING: Final = "[/RECENT ERRORS]"
CUT: Final = "..."
MIN_WIDTH: Final = 24

# C0 and C1 controls, line and paragraph separators, bidirectional and zero-width characters, the byte order mark.
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|[@-Z\\-_])")
_FORGED_DELIMITER: Final = re.compile(r"\[(?=\s{0,8}/?\s{0,8}RECENT\s{1,8}ERRORS)", re.IGNORECASE)
_FORGED_COUNT: Final = re.compile(r"\(x(?=\d)")
_SPACES: Final = re.compile(r"\s+")


class DigestOptions(BaseModel):
    """
    How much the agent is told.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inline_tokens: int = Field(default=400, ge=40)
    """The most tokens that replace one failed call's result."""

    block_tokens: int = Field(default=600, ge=60)
    """The most tokens of the block of recent errors."""

    line_characters: int = Field(default=400, ge=80)
    """The most characters of one line."""

    verbatim_tools: frozenset[str] = frozenset()
    """Tools whose errors stay whole in the context: exact text matters there. They are still counted."""


def one_line(text: str, limit: int = 400) -> str:
    """
    Return untrusted text as harmless data: one line of at most `limit` characters, without ANSI sequences, control or
    bidirectional characters, and unable to forge the block's delimiters or a count.
    """
    if len(text) <= limit and _is_harmless(text):
        return text
    # A line is never cut by more than what the removals below can take away, so most of a huge text is never looked at.
    text = _SPACES.sub(" ", _UNPRINTABLE.sub(" ", _ANSI.sub("", text[: 8 * limit]))).strip()
    text = _FORGED_COUNT.sub("(x ", _FORGED_DELIMITER.sub("(", text))
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


def _is_harmless(text: str) -> bool:
    """Tell whether a text is one clean line already, as most are."""
    return (
        text.isascii()
        and text.isprintable()
        and "[" not in text
        and "(x" not in text
        and "  " not in text
        and text == text.strip(" ")
    )


def plain_lines(text: str) -> str:
    """Return untrusted text whole, line by line, without what could forge a digest or a terminal's state."""
    text = _ANSI.sub("", text.replace("\r\n", "\n")).replace("\r", "\n")
    lines = (_UNPRINTABLE.sub(" ", line).rstrip() for line in text.split("\n"))
    return _FORGED_DELIMITER.sub("(", "\n".join(lines)).strip("\n")


def inline(
    raw: RawError,
    error_class: ErrorClass,
    decision: Decision,
    *,
    options: DigestOptions,
    count_tokens: TokenCounter = estimate_tokens,
) -> str:
    """
    Return the text that replaces one failed call's result, within `options.inline_tokens`.

    The first occurrence says all that is needed to fix it; a repeat names the class and its count, and shows what is
    new. A tool declared verbatim keeps its text whole, beyond any budget.
    """
    notice = _notice(error_class, decision)
    if raw.tool in options.verbatim_tools:
        return "\n".join(filter(None, (redact(plain_lines(raw.text)), _repeat_mark(error_class), notice)))
    fresh = _fresh_evidence(error_class, options.line_characters)
    if error_class.count > 1:
        head = f"{_kind(error_class.facts.type)} {_repeat_mark(error_class)}"
        return _within(options.inline_tokens, count_tokens, [head, *fresh], notice)
    head = _head(error_class.facts, raw.tool, options.line_characters)
    digest = _within(options.inline_tokens, count_tokens, [f"{head} #{error_class.short}", *fresh], "")
    if len(raw.text) <= len(digest):
        digest = redact(plain_lines(raw.text)) or digest
    return f"{digest}\n{notice}" if notice else digest


def block(
    history: History,
    *,
    options: DigestOptions,
    decision: Callable[[ErrorClass], Decision],
    escalation: Escalation | None = None,
    guidance: str = "",
    count_tokens: TokenCounter = estimate_tokens,
) -> str:
    """
    Return the `[RECENT ERRORS]` block of a run, within `options.block_tokens`; empty if there is nothing to say.

    Args:
        history: The run's error classes.
        options: Budget and line length.
        decision: What the counts say of a class now.
        escalation: The breach that stands, if there is one.
        guidance: What a human answered to the last escalation.
        count_tokens: How tokens are counted.
    """
    live = [found for found in reversed(list(history)) if not found.resolved]
    if not live:
        return ""
    marks: list[str] = []
    if escalation is not None:
        limit = options.line_characters
        marks.append(one_line(f"ESCALATED ({escalation.threshold}): {escalation}", limit))
    if guidance:
        marks.append(f"OPERATOR: {one_line(guidance, options.line_characters)}")
    classes = [_class_lines(found, decision(found), options) for found in live]
    escalated = escalation.key if escalation is not None else ""
    kept = {index: lines for index, lines in enumerate(classes) if live[index].key == escalated}
    for index, lines in enumerate(classes):
        trial = {**kept, index: lines}
        if count_tokens("\n".join(_frame(trial, marks, len(classes)))) > options.block_tokens:
            break
        kept = trial
    return _squeeze(options.block_tokens, count_tokens, _frame(kept or {0: classes[0]}, marks, len(classes)))


def refusal(error_class: ErrorClass, failures: int, *, options: DigestOptions) -> str:
    """Return what the agent reads when an identical call is not executed again."""
    head = _head(error_class.facts, error_class.tool, options.line_characters)
    return (
        f"NOT EXECUTED: this exact call has failed {failures} times. Change the arguments or the approach.\n"
        f"{head} #{error_class.short}"
    )


def _frame(kept: dict[int, list[str]], marks: list[str], total: int) -> list[str]:
    body = [line for _, lines in sorted(kept.items()) for line in lines]
    cut = [f"{CUT} {total - len(kept)} more of {total}"] if len(kept) < total else []
    return [OPENING, *body, *cut, *marks, CLOSING]


def _class_lines(error_class: ErrorClass, decision: Decision, options: DigestOptions) -> list[str]:
    head = _head(error_class.facts, error_class.tool, options.line_characters)
    count = f" (x{error_class.count})" if error_class.count > 1 else ""
    lines = [f"{head}{count} #{error_class.short}"]
    if error_class.hint:
        lines.append(f"  hint: {error_class.hint}")
    notice = _notice(error_class, decision)
    return [*lines, notice] if notice else lines


def _head(facts: Facts, tool: str, limit: int) -> str:
    place = one_line(str(facts.location), 160) or (f"tool {one_line(tool, 80)}" if tool else "")
    where = f" at {place}" if place else ""
    kind = _kind(facts.type)
    tally = f" ({facts.tally})" if facts.tally else ""
    cause = one_line(facts.cause, max(limit - len(kind) - len(where) - len(tally), 80))
    return f"[{kind}]{where}: {cause}{tally}" if cause else f"[{kind}]{where}{tally}"


@lru_cache(maxsize=256)
def _kind(name: str) -> str:
    return one_line(name, 80).replace("[", "(").replace("]", ")") or "Error"


def _fresh_evidence(error_class: ErrorClass, limit: int) -> list[str]:
    """What is new to the agent: place and cause of a repeat, details, the hint."""
    facts = error_class.facts
    told = error_class.told
    # Most repeats are equal to the last one, and then there is nothing to look at.
    if facts is told or (told is not None and facts == told):
        return []
    error_class.told = facts
    place = str(facts.location)
    cause = f"{place}: {facts.cause}" if place else facts.cause
    # A first occurrence says place and cause in its head.
    fresh = [line for line in error_class.show((cause, *facts.details)) if line is not cause or error_class.count > 1]
    lines = [f"  | {shown}" for line in fresh if (shown := one_line(line, limit))]
    if error_class.hint:
        lines += [f"  hint: {line}" for line in error_class.show((error_class.hint,))]
    return lines


def _repeat_mark(error_class: ErrorClass) -> str:
    if error_class.count == 1:
        return ""
    streak = error_class.streak
    row = f", {streak} in a row" if streak > 1 else ""
    return f"#{error_class.short} again (x{error_class.count}{row})"


_COUNTED: Final[dict[Threshold, str]] = {
    "same": "#{short} failed {count} times without success",
    "consecutive": "{count} calls failed in a row",
    "total": "{count} failures in this run",
}


def _notice(error_class: ErrorClass, decision: Decision) -> str:
    if decision.level == "carry_on":
        return ""
    counted = _COUNTED[decision.threshold].format(short=error_class.short, count=decision.count)
    if decision.level == "escalate":
        return f"ESCALATED: {counted}; the limit is {decision.limit}."
    return f"NOTICE: {counted}; at {decision.limit} the run escalates. Try something else."


def _within(budget: int, count_tokens: TokenCounter, lines: list[str], notice: str) -> str:
    """Join `lines` and `notice` under the budget; lines that do not fit are counted, the first one always stays."""
    tail = [notice] if notice else []
    text = "\n".join(lines + tail)
    if count_tokens(text) <= budget:
        return text
    for kept in range(len(lines) - 1, 0, -1):
        text = "\n".join([*lines[:kept], f"  {CUT} {len(lines) - kept} more lines", *tail])
        if count_tokens(text) <= budget:
            return text
    return _squeeze(budget, count_tokens, [lines[0], *tail])


def _squeeze(budget: int, count_tokens: TokenCounter, lines: list[str]) -> str:
    """Join `lines`, all of which must stay, and cut the longest ones, visibly, until they fit the budget."""
    width = max(map(len, lines))
    text = "\n".join(lines)
    while count_tokens(text) > budget and width > MIN_WIDTH:
        width = max(width * 3 // 4, MIN_WIDTH)
        text = "\n".join(line if len(line) <= width else line[: width - len(CUT)] + CUT for line in lines)
    return text
