"""Write the text that replaces a failed result: whole, then its news."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.detector.operation import call_fingerprint
from otel_errcompact.detector.ownership import chooses_lines, owns_statement, owns_text
from otel_errcompact.digest import wording
from otel_errcompact.digest.audience import show_class_to, show_to
from otel_errcompact.digest.budget import budget_of, fit_lines, shorten_lines
from otel_errcompact.digest.columns import show_columns
from otel_errcompact.digest.news import MAX_REPEATED_CAUSE, find_news
from otel_errcompact.digest.ordered import fit_in_order, resolve_redraws
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.digest.untrusted import CUT, one_line, quote, quoted_lines
from otel_errcompact.errors import NOWHERE, Evidence
from otel_errcompact.extract.cleaning.characters import clean, is_cut
from otel_errcompact.extract.cleaning.colours import mark_changes
from otel_errcompact.extract.evidence.places import find_place
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from otel_errcompact.digest.options import DigestOptions
    from otel_errcompact.digest.shown import Shown
    from otel_errcompact.digest.situation import Situation
    from otel_errcompact.errors import Facts, RawError
    from otel_errcompact.history.history import ErrorClass

_LONGEST_TOKEN: Final = 8
"""Characters of a token; a text of more for each token of its limit is no short one."""

_TWO_LINES: Final = 64
"""Tokens that a digest of an exception may have beyond its first line, or what its framework would have sent."""

_HEAVIEST: Final = 100
_LONGEST_PLACED: Final = 240

_DURATION: Final = lazy_pattern(r"[0-9](?<!\w.)[0-9:.,]*(?: ?(?:ms|s|sec|secs|seconds|min|minutes)\b|:[0-9]{2}\b)")
"""What differs between two outputs of the same failure and is no news."""

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
    way_back: str

    def render(self, raw: RawError, options: DigestOptions, count_tokens: TokenCounter) -> tuple[str, list[str]]:
        """Return the text within its budget, and its lines in order."""
        room = limit = options.inline_tokens
        budget = budget_of(raw.text, limit, count_tokens)
        fixed = (self.head, *self.tail)
        if raw.is_exception:
            least = count_tokens("\n".join(fixed))
            limit = min(limit, max(least, count_tokens(raw.text)))
            budget = room = min(limit, max(least, count_tokens(raw.sent)) + _TWO_LINES)
        cut, details = _split_cut(self.details)
        details = [f"  | {line}" for line in details]
        evidence = [Evidence(f"  | {line}", weight) for line, weight in self.evidence]
        kept = fit_lines(budget, room, count_tokens, fixed, details, evidence)
        cut += len(details) + len(evidence) - len(kept)
        kept = _order_lines(kept, raw.text)
        more = [f"  {CUT} {cut} more line{'s' if cut > 1 else ''}{self.way_back}"] if cut else []
        text = "\n".join((self.head, *kept, *more, *self.tail))
        if count_tokens(text) > limit:
            text = shorten_lines(limit, count_tokens, [self.head, *kept, *more, *self.tail])
        return text, kept


def _write_way_back(options: DigestOptions, error_class: ErrorClass) -> str:
    return f": {options.way_back.replace('{key}', error_class.short)}" if options.way_back else ""


def _add_place(evidence: Sequence[Evidence], lines: Sequence[str], raw: RawError) -> Sequence[Evidence]:
    # An agent that is told no place asks again: the first line that names one stays.
    if raw.is_exception or find_place((*lines, *(line for line, _ in evidence))):
        return evidence
    placed = next((line.strip() for line in raw.text.split("\n") if find_place((line,))), "")
    return (*evidence, Evidence(one_line(placed, _LONGEST_PLACED), _HEAVIEST)) if placed else evidence


def _order_lines(lines: list[str], raw: str) -> list[str]:
    # What stands in the raw text stands in its order here; what was written anew stays behind what it followed.
    if len(lines) <= 1:
        return lines
    at: dict[str, int] = {}
    for number, line in enumerate(clean(raw).split("\n")):
        at.setdefault(" ".join(line.split()), number)
    places: list[int] = []
    for line in lines:
        places.append(at.get(" ".join(line.removeprefix("  | ").split()), places[-1] if places else -1))
    return [lines[number] for number in sorted(range(len(lines)), key=places.__getitem__)]


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

    A short raw error stays whole, with the mark of its class. So does in its order one that no format owns, within
    `options.unread_tokens`. Of a longer one that a format owns the first occurrence holds all that is needed to fix it;
    a repeat of the same call what failed, how often, and what is new. A tool declared verbatim keeps its text whole.

    Args:
        raw: The failure.
        error_class: Its class, this occurrence included.
        shown: What the agent has been shown before.
        situation: What the failure means for the run.
        options: The budget and the length of a line.
        count_tokens: How tokens are counted.
    """
    call = raw.fingerprint or call_fingerprint(raw.tool, raw.arguments, raw.directory)
    before = shown.of(error_class.key)
    lines = frozenset[int]() if raw.is_exception else _hash_lines(raw.text)
    seen = shown.set_class(error_class.key, before.show_text(call, lines))
    # Of a class that was restored from a list of messages no call is known.
    is_same_call = raw.is_exception or not before.calls or call in before.calls
    if _stays_whole(raw, error_class.facts, options, count_tokens):
        return _render_raw(raw, error_class, seen, situation)
    if raw.text and not raw.is_exception and not _is_read(raw, error_class.facts):
        is_again = error_class.count > 1 and is_same_call and lines <= before.raw_lines and not before.forgotten
        if is_again:
            return Digest(f"{wording.name_outcome(raw)}{wording.mark_repeat(error_class, situation)}", seen)
        return _render_in_order(raw, error_class, seen, situation, options, count_tokens)
    facts = show_columns(error_class.facts, raw.text) if raw.text else error_class.facts
    facts = show_to(facts, options, tool=raw.tool, arguments=raw.arguments, is_exception=raw.is_exception)
    if facts is not error_class.facts:
        error_class = replace(error_class, facts=facts)
    is_known = error_class.count > 1 and not before.forgotten and (is_same_call or facts == before.facts)
    render = _render_repeat if is_known else _render_first
    digest = render(raw, error_class, seen, situation, options, count_tokens)
    if raw.is_exception or not raw.text or not _saves_little(raw.text, digest.text, options, count_tokens):
        return digest
    return _render_raw(raw, error_class, seen, situation)


def render_refusal(
    error_class: ErrorClass,
    failures: int,
    attempts: int,
    *,
    loop_halt: int = 0,
    stopped: bool = False,
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
        stopped: Whether this attempt, or anything before it, has stopped the run.
        reported: Whether the loop has been recorded for the operators.
        options: The length of a line.
    """
    facts = show_class_to(error_class.facts, options, error_class.tool)
    head = wording.write_head(facts, error_class.tool, options.line_characters)
    alert = "; ESCALATED: recorded for the operators" if reported else ""
    stop, advice = "", " Change the arguments or the approach."
    if stopped:
        # An agent that is stopped can change nothing any more.
        stop, advice = "; the run is stopped", ""
    elif loop_halt > attempts:
        stop = f"; this was attempt {attempts}, at {loop_halt} the run is stopped"
    return (
        f"NOT EXECUTED: this exact call has failed {failures} times and no call has succeeded since{alert}{stop}."
        f"{advice}\n{quote(head)} #{error_class.short}"
    )


def _stays_whole(raw: RawError, facts: Facts, options: DigestOptions, count_tokens: TokenCounter) -> bool:
    if not raw.text or (raw.is_exception and raw.tool not in options.verbatim_tools):
        return False  # of an exception the digest is shorter than its traceback
    if raw.tool in options.verbatim_tools or not owns_statement(facts.format, raw.stated):
        return True
    if len(raw.text) > _LONGEST_TOKEN * options.whole_tokens:
        return False
    return count_tokens(raw.text) <= options.whole_tokens


def _is_read(raw: RawError, facts: Facts) -> bool:
    if not owns_text(facts.format, raw.tool, raw.arguments):
        return False
    # If the text is uncut, the failures that the tool counts beyond those found are in it, in words no rule knows.
    return not facts.unread or any(map(is_cut, raw.text.split("\n")))


def _hash_lines(text: str) -> frozenset[int]:
    return frozenset(map(hash, map(str.strip, _DURATION.sub("", text).split("\n"))))


def _saves_little(raw: str, digest: str, options: DigestOptions, count_tokens: TokenCounter) -> bool:
    # A digest almost as long as a text that is almost short only loses what stands between.
    if len(digest) > len(raw):
        return True
    if 4 * len(digest) < 3 * len(raw) or len(raw) > 2 * _LONGEST_TOKEN * options.whole_tokens:
        return False
    return count_tokens(raw) <= 2 * options.whole_tokens


def _render_in_order(
    raw: RawError,
    error_class: ErrorClass,
    shown: Shown,
    situation: Situation,
    options: DigestOptions,
    count_tokens: TokenCounter,
) -> Digest:
    text = write_whole(raw.text)
    if options.way_back:
        limit = options.unread_tokens * (2 if chooses_lines(raw.tool, raw.arguments) else 1)
        text = fit_in_order(text, limit, count_tokens, options.way_back.replace("{key}", error_class.short))
    return _mark_text(text, raw, error_class, shown, situation)


def _render_raw(raw: RawError, error_class: ErrorClass, shown: Shown, situation: Situation) -> Digest:
    return _mark_text(write_whole(raw.text), raw, error_class, shown, situation)


def write_whole(text: str) -> str:
    """Return a text as the agent reads it whole."""
    # Secrets first: a mark in place of an invisible character hides that the words beside it are one.
    return quoted_lines(redact(resolve_redraws(mark_changes(text))))


def _mark_text(text: str, raw: RawError, error_class: ErrorClass, shown: Shown, situation: Situation) -> Digest:
    news, shown = find_news(error_class.key, error_class.facts, shown)
    shown = shown.set_class(error_class.key, shown.of(error_class.key).show(error_class.facts))
    if error_class.count > 1:
        return Digest(f"{text}\n{wording.mark_repeat(error_class, situation, is_again=news.is_again)}", shown)
    mark = f"#{error_class.short}{wording.mark_exit(raw)}"
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
    details = facts.details
    evidence = _add_place(facts.evidence, (str(facts.location), facts.cause, *details), raw)
    hints = [f"  hint: {line}" for line in shown.lines.unseen((error_class.hint,)) if line]
    marks = [] if again else list(filter(None, (wording.write_warning(situation),)))
    page = _Page(
        head=f"{wording.write_head(facts, raw.tool, options.line_characters)} {name}",
        details=_write_lines(details, options),
        evidence=_write_evidence(evidence, options),
        tail=(*hints, *marks),
        way_back=_write_way_back(options, error_class),
    )
    text, kept = page.render(raw, options, count_tokens)
    shown = shown.set_class(error_class.key, shown.of(error_class.key).show(facts))
    return Digest(text, shown.add_lines((*_find_kept((*details, *dict(evidence)), kept, options), error_class.hint)))


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
    cause = one_line(news.short.get(facts.cause, facts.cause), MAX_REPEATED_CAUSE)
    now = f", now {', '.join(news.values)}" if news.values else ""
    weights = dict(facts.evidence)
    evidence = [Evidence(line, weights[line]) for line in news.lines if line in weights]
    fresh = [line for line in news.lines if line not in weights]
    # Of an exception the place is no part of the text that its framework would have sent.
    told = replace(facts, cause=cause, tally="", location=NOWHERE if raw.is_exception else facts.location)
    page = _Page(
        head=f"{wording.write_head(told, '', options.line_characters)} {mark}{now}",
        details=_write_lines((news.short.get(line, line) for line in fresh), options),
        evidence=_write_evidence((Evidence(news.short.get(line, line), weight) for line, weight in evidence), options),
        tail=(),
        way_back=_write_way_back(options, error_class),
    )
    text, kept = page.render(raw, options, count_tokens)
    return Digest(text, shown.add_lines(_find_kept(news.lines, kept, options, news.short)))


# --- lines -----------------------------------------------------------------------------------------------------------


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
