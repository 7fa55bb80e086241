"""What a cause without content is about: the lines that it announces, or those beside it."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.evidence.kinds import Kind, is_closing, is_content, kind_of
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Facts

_MAX_TAKEN: Final = 3
"""Lines beside a cause that it, or its key, takes in."""

_MAX_LOOKED_AT: Final = 60
"""Lines on either side of a cause that are looked at."""

_MAX_SHORT: Final = 120
"""Characters of a cause that may say nothing."""

_SAYS_NOTHING: Final = lazy_pattern(
    r"(?:\w{1,30}: ){0,2}(?:-?[0-9]{1,6}(?<!: .)(?<!: ..)(?<!: ...)"
    r"|(?:(?:invalid|unexpected|non-?zero|http|return(?:ed)?|exit(?:ed)?|error|response|status|with|code|rc|errno|number"
    r"|request|command|failed|process|child)[ :=#-]{1,3}){1,8}(?:-?[0-9]{1,6}|code|status|error)"
    r"|(?:(?:the|a|an|one|more|or|some|internal|server|client|unknown|unexpected|unspecified|unhandled"
    r"|general|fatal) ){0,5}"
    r"(?:validation|request|bad request|operation|execution|command|errors?|exceptions?|failure|problems?|build"
    r"|call|task|job)"
    r"(?: (?:failed|error|failure|occurred|happened|was|has|have|been|thrown|raised|emitted|rejected)){0,4}"
    r"|[^:]{1,60} (?:failed|failure|errors?)[,;:]? (?:see|check|read) (?:the |its )?"
    r"(?:logs?|output|above|below|details)[^:]{0,60}"
    r"|(?:[\w-]{1,40} ){0,3}(?:validation|compilation) failed(?: to complete)?|migration of .{1,90} failed!?[^:]{0,40}"
    r"|host key verification failed|(?:[\w -]{1,30}: ){0,3}while (?:scanning|parsing) [^:]{1,60}"
    r"|timed out waiting for the condition|execution of .{1,60} aborted due to [^:]{1,30}"
    r"|(?:-{3} )?(?:not ok|fail|ok|tests run|info)\b.{0,100}"
    r"|[\w.@-]{1,80}: failed with result '[\w-]{1,40}'"
    r"|(?:[\w.]{1,60}: )?timeout [0-9]{1,9} ?ms exceeded"
    r"|(?:the )?(?:request|call) to .{1,40} failed\b[^:]{0,3}(?:\(.{0,99}\))?"
    r"|.{0,90}\berrors?:? (?:(?:in|at|on|near) )?line [0-9]{1,7},? (?:at )?(?:position|column|char) [0-9]{1,7}"
    r")[.!]{0,3}\Z"
)
"""Causes, in small letters, that are a code, a status or words for any failure."""

_REASON: Final = lazy_pattern(
    r"(?:^|[\s{,])['\"]?(?:message|reason|details?|description|title|hint|msg|error_message)['\"]?: ?(?P<quote>['\"`])"
    r"(?P<said>[^\n]{1,600}?)(?P=quote)(?:[\s,}\]]|$)"
    r"|^\s*(?:- )?(?P<waiting>waiting for (?![0-9])[^\n]{1,300})"
)
"""What objects and logs of calls say in a line of their own."""

_FIELD: Final = lazy_pattern(
    r"[\s{\[]{0,40}['\"]?[\w$-]{1,60}['\"]?: ?(?:[\[{]|.{0,400}[,{\[]$|(?:['\"\d]|true|false|null).{0,400}$)"
)

_FRAME: Final = lazy_pattern(r"\s{1,40}(?:at |File \")\S|Traceback \(|[0-9]{1,4}\. [\w:~]{1,200}\(")
_BEFORE_STACK: Final = lazy_pattern(r"[.;,]? ?Stack ?trace:.{0,400}\Z")


def says_nothing(cause: str) -> bool:
    """Tell whether a cause is only a code, a status or a closing line."""
    if len(cause) > _MAX_SHORT:
        return False
    lowered = cause.lower()
    return _SAYS_NOTHING.match(lowered) is not None or is_closing(lowered)


def add_following(facts: Facts, lines: Sequence[str], *, any_text: bool = False) -> Facts:
    """
    Return facts with the lines that a cause without content is about.

    Of `any_text`, which no format has read, lines count that have no word of failure.
    """
    heading = facts.cause.rpartition("\n")[2]
    if facts.key_is_whole or not (heading.endswith(":") or says_nothing(heading)):
        return facts
    at = next((number for number, line in enumerate(lines) if line.rstrip().endswith(heading)), len(lines))
    if heading.endswith(":"):
        return _add_announced(facts, heading, lines, at)
    said = _find_informative(lines, at, facts.keyed_cause, any_text=any_text)[:_MAX_TAKEN]
    if not said:
        return facts
    cause = f"{facts.cause.rstrip('.')}: {said[0]}"
    details = tuple(line for line in facts.details if line not in said[0])
    return replace(facts, cause=clip(cause), details=details, key_cause=f"{facts.keyed_cause}: {' | '.join(said)}")


def _add_announced(facts: Facts, heading: str, lines: Sequence[str], at: int) -> Facts:
    below = list(takewhile(is_content, islice(lines, at + 1, at + 1 + _MAX_TAKEN)))
    if not below:
        return facts
    margin = lines[at].rstrip()[: -len(heading)].strip()
    said = [" ".join(line.strip().removeprefix(margin).split()) for line in below]
    cause = clip(f"{facts.cause} {'; '.join(said)}".replace(":; ", ": "))
    details = tuple(line for line in facts.details if line not in cause)
    return replace(facts, cause=cause, details=details, key_cause=f"{facts.keyed_cause} {said[0]}")


def _find_informative(lines: Sequence[str], at: int, known: str, *, any_text: bool) -> list[str]:
    # Below the cause first, then above it; of an object and of the log of a call only what gives a reason.
    below = lines[at + 1 : at + 1 + _MAX_LOOKED_AT]
    below = below if any_text else [*takewhile(str.strip, below)]
    above = [*takewhile(_is_before_stack, lines[max(at - _MAX_LOOKED_AT, 0) : at])]
    reasons = [found["said"] or found["waiting"] for found in map(_REASON.search, below) if found is not None]
    behind, before = [*_list_content(below)], [*_list_content(above)]
    telling = [said for said in (*behind, *before) if kind_of(said) is Kind.TELLING]
    found = [*dict.fromkeys((*reasons, *telling))]
    beside = [] if found or not any_text else [*reversed(before), *behind]
    return [said for said in found or beside[:1] if said not in known]


def _is_before_stack(line: str) -> bool:
    return not line.lstrip(" |+-").removeprefix("Exception Group ").startswith("Traceback (")


def _list_content(lines: Sequence[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        is_source = _FRAME.match(before) is not None
        before = line
        said = " ".join(_BEFORE_STACK.sub("", line).split())
        if is_source or _FRAME.match(line) or _FIELD.match(line) or said.endswith(":") or not is_content(said):
            continue
        if not says_nothing(said):
            yield clip(said)
