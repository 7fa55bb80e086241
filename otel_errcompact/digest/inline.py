"""Write the text that replaces a failed result: whole, then its news."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.digest import wording
from otel_errcompact.digest.budget import budget_of, fit_lines, shorten_lines
from otel_errcompact.digest.columns import show_columns
from otel_errcompact.digest.known import drop_known
from otel_errcompact.digest.news import MAX_REPEATED_CAUSE, find_news
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.digest.untrusted import CUT, one_line, quoted_lines
from otel_errcompact.errors import Evidence
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.digest.options import DigestOptions
    from otel_errcompact.digest.shown import Shown
    from otel_errcompact.digest.situation import Situation
    from otel_errcompact.errors import RawError
    from otel_errcompact.history.history import ErrorClass

_SEEN: Final = f"  {CUT} {{}} shown before"
_SOURCE: Final = "> "
_LONGEST_TOKEN: Final = 8
"""Characters of a token; a text of more for each token of its limit is no short one."""

_LEFT_OUT: Final = lazy_pattern(r"\.\.\. ([0-9]{1,9}) more lines")


_WHOLE: Final[Mapping[str, str]] = {}


class Digest(NamedTuple):
    """What the agent reads of one failure."""

    text: str
    shown: Shown
    """What the agent has been shown once it has read the text."""


class _Page(NamedTuple):
    """The parts of a digest, in their order."""

    head: str
    details: Sequence[str]
    evidence: Sequence[Evidence]
    tail: Sequence[str]

    def render(self, budget: int, limit: int, count_tokens: TokenCounter) -> tuple[str, list[str]]:
        """Return the text within the budget, and its details and evidence."""
        cut, details = _split_cut(self.details)
        details = [f"  | {line}" for line in details]
        evidence = [Evidence(f"  | {line}", weight) for line, weight in self.evidence]
        kept = fit_lines(budget, limit, count_tokens, (self.head, *self.tail), details, evidence)
        cut += len(details) + len(evidence) - len(kept)
        more = [f"  {CUT} {cut} more line{'s' if cut > 1 else ''}"] if cut else []
        text = "\n".join((self.head, *kept, *more, *self.tail))
        if count_tokens(text) > limit:
            text = shorten_lines(limit, count_tokens, [self.head, *kept, *more, *self.tail])
        return text, kept


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

    A short raw error stays whole, with the mark of its class. Of a longer one the first occurrence holds all that is
    needed to fix it; a repeat what failed, how often, and what is new. Lines that the agent has been shown in this run
    are not shown again, unless its context has lost them. A tool declared verbatim keeps its text whole.

    Args:
        raw: The failure.
        error_class: Its class, this occurrence included.
        shown: What the agent has been shown before.
        situation: What the failure means for the run.
        options: The budget and the length of a line.
        count_tokens: How tokens are counted.
    """
    if raw.tool in options.verbatim_tools or _is_short(raw, options, count_tokens):
        return _render_raw(raw, error_class, shown, situation)
    is_known = error_class.count > 1 and not shown.of(error_class.key).forgotten
    render = _render_repeat if is_known else _render_first
    facts = show_columns(error_class.facts, raw.text) if raw.text else error_class.facts
    if facts is not error_class.facts:
        error_class = replace(error_class, facts=facts)
    digest = render(raw, error_class, shown, situation, options, count_tokens)
    if raw.is_exception or not raw.text or not _saves_little(raw.text, digest.text, options, count_tokens):
        return digest
    return _render_raw(raw, error_class, shown, situation)


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
    Return what the agent reads instead of an identical call's result.

    Args:
        error_class: What the call failed with last.
        failures: How often it was executed and failed.
        attempts: How often it failed or was refused, this time included.
        loop_halt: The number of attempts at which the run is stopped; 0 where it is not.
        reported: Whether the loop has been recorded for the operators.
        options: The length of a line.
    """
    head = wording.write_head(error_class.facts, error_class.tool, options.line_characters)
    alert = "; ESCALATED: recorded for the operators" if reported else ""
    stop, advice = "", " Change the arguments or the approach."
    if loop_halt > attempts:
        stop = f"; this was attempt {attempts}, at {loop_halt} the run is stopped"
    elif loop_halt:
        # An agent that is stopped can change nothing any more.
        stop, advice = "; the run is stopped", ""
    return (
        f"NOT EXECUTED: this exact call has failed {failures} times and no call has succeeded since{alert}{stop}."
        f"{advice}\n{head} #{error_class.short}"
    )


def _is_short(raw: RawError, options: DigestOptions, count_tokens: TokenCounter) -> bool:
    # Of an exception the digest is shorter than its traceback.
    if raw.is_exception or not raw.text or len(raw.text) > _LONGEST_TOKEN * options.whole_tokens:
        return False
    return count_tokens(raw.text) <= options.whole_tokens


def _saves_little(raw: str, digest: str, options: DigestOptions, count_tokens: TokenCounter) -> bool:
    # A digest almost as long as a text that is almost short only loses what stands between.
    if len(digest) > len(raw):
        return True
    if 4 * len(digest) < 3 * len(raw) or len(raw) > 2 * _LONGEST_TOKEN * options.whole_tokens:
        return False
    return count_tokens(raw) <= 2 * options.whole_tokens


def _render_raw(raw: RawError, error_class: ErrorClass, shown: Shown, situation: Situation) -> Digest:
    news, shown = find_news(error_class.key, error_class.facts, shown)
    shown = shown.set_class(error_class.key, shown.of(error_class.key).show(error_class.facts))
    text = redact(quoted_lines(raw.text))
    if error_class.count > 1:
        return Digest(f"{text}\n{wording.mark_repeat(error_class, situation, is_again=news.is_again)}", shown)
    mark = f"#{error_class.short}{wording.mark_exit(raw)}{wording.mark_detected(raw)}"
    marked = f"{text}\n{mark}" if "\n" in text else f"{text} {mark}"
    return Digest("\n".join(filter(None, (marked, wording.write_warning(situation)))), shown)


def _render_first(
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
    details = _select_lines(facts.details, options)
    evidence = drop_known(facts.evidence, raw)
    fresh = _choose_lines((*details, *(line for line, _ in evidence)), shown)
    known = len(details) + len(evidence) - len(fresh)
    left_out = [_SEEN.format(f"{known} lines" if known > 1 else "1 line")] if known else []
    hints = [f"  hint: {line}" for line in shown.lines.unseen((error_class.hint,)) if line]
    marks = [] if again else list(filter(None, (wording.write_warning(situation),)))
    page = _Page(
        head=f"{wording.write_head(facts, raw.tool, options.line_characters)} {name}{wording.mark_detected(raw)}",
        details=_write_lines((line for line in details if line in fresh), options),
        evidence=_write_evidence((found for found in evidence if found.line in fresh), options),
        tail=(*left_out, *hints, *marks),
    )
    budget = budget_of(raw.text, options.inline_tokens, count_tokens)
    text, kept = page.render(budget, options.inline_tokens, count_tokens)
    shown = shown.set_class(error_class.key, shown.of(error_class.key).show(facts))
    return Digest(text, shown.add_lines((*_find_kept(fresh, kept, options), error_class.hint)))


def _render_repeat(
    raw: RawError,
    error_class: ErrorClass,
    shown: Shown,
    situation: Situation,
    options: DigestOptions,
    count_tokens: TokenCounter,
) -> Digest:
    facts = error_class.facts
    news, shown = find_news(error_class.key, facts, shown)
    mark = wording.mark_repeat(error_class, situation, is_again=news.is_again)
    cause = news.short.get(facts.cause, facts.cause)
    cause = one_line(cause, min(MAX_REPEATED_CAUSE, options.line_characters))
    now = f", now {', '.join(news.values)}" if news.values else ""
    weights = dict(facts.evidence)
    usual = drop_known([Evidence(line, weights[line]) for line in news.lines if line in weights], raw)
    fresh = [line for line in _select_lines(news.lines, options) if line not in weights]
    page = _Page(
        head=f"[{wording.name_type(facts.type)}]{f': {cause}' if cause else ''} {mark}{now}",
        details=_write_lines((news.short.get(line, line) for line in fresh), options),
        evidence=_write_evidence((Evidence(news.short.get(line, line), weight) for line, weight in usual), options),
        tail=(),
    )
    budget = budget_of(raw.text, options.inline_tokens, count_tokens)
    text, kept = page.render(budget, options.inline_tokens, count_tokens)
    return Digest(text, shown.add_lines(_find_kept(news.lines, kept, options, news.short)))


# --- lines -----------------------------------------------------------------------------------------------------------


def _select_lines(details: Sequence[str], options: DigestOptions) -> Sequence[str]:
    if options.audience == "developer":
        return details
    return [line for line in details if not line.startswith(_SOURCE)]


def _choose_lines(lines: Sequence[str], shown: Shown) -> Sequence[str]:
    # All lines stay where the mark of what is left out is longer than that.
    fresh = shown.lines.unseen(lines)
    saved = sum(map(len, lines)) - sum(map(len, fresh))
    return fresh if saved > len(_SEEN) else lines


def _write_lines(lines: Iterable[str], options: DigestOptions) -> list[str]:
    return [written for line in lines if (written := one_line(line, options.line_characters))]


def _write_evidence(evidence: Iterable[Evidence], options: DigestOptions) -> list[Evidence]:
    written = (Evidence(one_line(line, options.line_characters), weight) for line, weight in evidence)
    return [found for found in written if found.line]


def _find_kept(
    lines: Iterable[str], kept: Iterable[str], options: DigestOptions, short: Mapping[str, str] = _WHOLE
) -> list[str]:
    held = {line.removeprefix("  | ") for line in kept}
    return [line for line in lines if one_line(short.get(line, line), options.line_characters) in held]


def _split_cut(details: Sequence[str]) -> tuple[int, Sequence[str]]:
    # The extractor marks in the last line how many lines it has left out.
    found = _LEFT_OUT.fullmatch(details[-1]) if details else None
    return (int(found[1]), details[:-1]) if found is not None else (0, details)
