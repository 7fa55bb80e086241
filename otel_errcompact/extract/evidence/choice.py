"""The cause of a text that no parser reads: one of its lines."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.evidence.kinds import Kind, is_content, kind_of
from otel_errcompact.extract.evidence.places import find_place
from otel_errcompact.extract.shell_statements import shell_statement
from otel_errcompact.extract.statements import (
    GENERIC_TYPES,
    Statement,
    code_of,
    compile_words,
    indentation,
    is_heading,
    statement_of,
    strip_timestamp,
)
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_LINES: Final = 300
"""Lines that are looked at from either end of a text."""

MAX_ITEMS: Final = 12
"""Items of a list that belong to its heading."""

_MAX_JOINED: Final = 3
"""Headings and their contents that are told in one line."""

_REMEMBERED: Final = 8
_REMEMBERED_LINES: Final = 512
"""Lines that are judged once for the cause, what stands beside it and the key."""

_MAX_BLANK: Final = 8
"""Lines behind a heading in which its content begins."""

_MAX_SHIFT: Final = 3
_MAX_KEYED: Final = 6
"""Items of a list that count for the key."""

_MAX_ABOVE: Final = 8
"""Lines above a labelled reason in which it is told what failed."""

_FAR: Final = 40
"""Lines behind a wrapper in which its cause is looked for."""

_REASON: Final = compile_words((
    r"no (?:such|space|route|module|package|\w{1,20} (?:matching|found|named|called|defined|available))",
    r"not (?!be\b)", "validation", r"n't\b", "denied", "refused", "rejected", "invalid", "unexpected", "unknown",
    "nonexistent", "missing",
    r"un(?:resolved|supported|defined|declared|reachable|bound|authorized|recogni[sz]ed|available)",
    r"require[sd]?\b", "timed? ?out", r"exceed\w{0,3}", "killed", r"conflict\w{0,3}", r"mismatch\w{0,3}",
    r"violat\w{1,4}", "forbidden", "must", "should", "expect(?:ed|s)", "wanted", "fell through", r"too \w{1,10}",
    "already", "in use", "busy", "locked", r"duplicate\w{0,2}", "has no", "have no", "there (?:is|are) no", "empty",
    "overflow", r"corrupt\w{0,3}", "expired", "reset by", "null", "nil", "malformed", "illegal", "incompatible",
    "ambiguous", "less than", "greater than", "larger", "smaller", "out of", "bad", "wrong", "only", "syntax",
    "segmentation", "broken", "stale", "interrupted", "deadlock", "unmet", "undeliverable", "nxdomain", "servfail",
    "imagepullbackoff", "crashloopbackoff", "oomkilled",
), end="")  # fmt: skip
"""Words in small letters that say why something failed, and not only that it did."""

_ACTION: Final = lazy_pattern(
    r"\b(?:fail|error|abort|crash|cannot|can't|could ?n[o']t|unable|problem|unsuccessful|halted|emergency stop)",
)
"""Words in small letters that say that something failed."""

_AFTER_LABEL: Final = r" {0,20}(?:[:=]|\b(?:is|was)\b)? *(?P<rest>.*)"
_CAUSED: Final = lazy_pattern(
    r"[\W_]{0,8}(?:caused by|root cause|cause|reason|because|due to|why|(?<=-> )|(?<=\u25b6 )"
    rf"|(?:original|inner|underlying) (?:error|exception)|command (?:error|stderr)){_AFTER_LABEL}",
    re.IGNORECASE,
)
_DETAILED: Final = lazy_pattern(
    rf"[\W_]{{0,8}}(?:error message|message|msg|error details?|details?|stderr|description){_AFTER_LABEL}",
    re.IGNORECASE,
)
_IN_LABELS: Final = (
    "caus", "reason", "due to", "orig", "inner", "error", "command", "->", "\u25b6", "stderr", "mess", "msg", "detail",
    "descr", "why", "under",
)  # fmt: skip
"""Strings of which each line with a label has one."""

_GENERIC_HEADING: Final = lazy_pattern(
    r"[\W_]{0,6}(?:[^\s:]{1,200}(?::[0-9]{1,7}){1,2}: )?(?:encountered )?"
    r"(?:(?:unhandled|uncaught|fatal|an?|the|following|internal|unexpected|some|one or more|[0-9]{1,6}) ){0,3}"
    r"(?:errors?|exceptions?|failures?|failed|fatal|panic|stderr|output|problems?|issues?|message|details?)"
    r"(?: (?:occurred|found|encountered|in|while|summary|messages?|output|details?)\b.{0,40}| ?\[\S{1,60}\])?"
    r"[\W_]{0,3}:$",
    re.IGNORECASE,
)
_ERROR_HEADING: Final = lazy_pattern(r"(?:^|[\s:\]])(?i:error|fatal|exception|panic)\W{0,3}:$")


_BARE: Final = lazy_pattern(r"\W{0,3}[A-Za-z][a-z]*(?: [A-Za-z][a-z]*){0,2}[.!]?$")
"""A few words that name nothing; what they are about stands beside them."""

_LISTED: Final = lazy_pattern(r"(?=[^\s:]{0,200}[A-Za-z])[^\s:]{1,200}:[0-9]{1,7}(?::[0-9]{1,7})?:? ")
"""An item of a list of places."""


class Choice(NamedTuple):
    """The line with the cause, and the lines that belong to it."""

    number: int
    """Which line it is."""

    statement: Statement | None
    """What it states, where it has a strict form."""

    message: str
    """The cause in one line, with what its headings announce and what caused it."""

    items: tuple[str, ...] = ()
    """Further items of its list, and statements that stand with it."""

    key: str = ""
    """The cause as it counts for the key, where that is more than the message."""

    place: Location = NOWHERE
    """The first place that stands with it."""


class _Tier(IntEnum):
    """How well a line states the cause; the first of the best counts."""

    TRAILING = 0
    OTHER = 1
    WARNED = 2
    VAGUE = 3
    """That something failed."""

    HINTED = 4
    """A word that may be a reason."""

    STRICT_VAGUE = 5
    """That something failed, in the form of an error."""

    REASONED = 6
    """Why something failed."""

    STRICT = 7
    """Why something failed, in the form of an error."""


class _Candidate(NamedTuple):
    tier: _Tier
    number: int
    statement: Statement | None = None


_REASONS: Final = frozenset({_Tier.HINTED, _Tier.REASONED, _Tier.STRICT})


@lru_cache(maxsize=_REMEMBERED)
def choose_cause(body: str) -> Choice | None:
    """Return the cause of a text, unless no line has content."""
    if "\n" not in body:
        return _choose_only(body)
    lines = body.split("\n")
    best: _Candidate | None = None
    for number in _bound(len(lines)):
        found = _weigh(lines, number)
        if found is not None and (best is None or found.tier > best.tier):
            best = found
            if best.tier is _Tier.STRICT:
                break
    return None if best is None else _complete(lines, _first_beside(lines, best))


def _choose_only(line: str) -> Choice | None:
    # A single line is the cause, whatever it is.
    statement = state(line)
    message = statement.message if statement is not None else strip_timestamp(line.strip())
    return Choice(0, statement, message, place=find_place((line,))) if line.strip() else None


def state(line: str) -> Statement | None:
    """Return what a line states in a strict form of any program."""
    return shell_statement(line) or statement_of(line)


def tells_failure(lines: Sequence[str], number: int) -> bool:
    """Tell whether a line says that something failed, or why."""
    if kind_of(lines[number]) <= Kind.TRAILER:
        return False
    found = _weigh(lines, number)
    return found is not None and found.tier >= _Tier.VAGUE


def has_reason(text: str) -> bool:
    """Tell whether a text has a word that says why something failed."""
    return _REASON.search(text) is not None


def is_vague(message: str) -> bool:
    """Tell whether a message says that something failed and not why."""
    if not message:
        return True
    return _tells_failure(message.rpartition(": ")[2]) and not _gives_cause(message)


def _gives_cause(text: str) -> bool:
    return _REASON.search(text.lower()) is not None


def _tells_failure(text: str) -> bool:
    return _ACTION.search(text.lower()) is not None


def _bound(count: int) -> Iterable[int]:
    if count <= 2 * MAX_LINES:
        return range(count)
    return chain(range(MAX_LINES), range(count - MAX_LINES, count))


def _weigh(lines: Sequence[str], number: int) -> _Candidate | None:
    line = lines[number].strip()
    if kind_of(line) is Kind.HEADING:
        return _weigh_heading(lines, number)
    judged = _judge(line)
    return _Candidate(judged[0], number, judged[1]) if judged is not None else None


@lru_cache(maxsize=_REMEMBERED_LINES)
def _judge(line: str) -> tuple[_Tier, Statement | None] | None:
    kind = kind_of(line)
    if kind <= Kind.TRAILER:
        return (_Tier.TRAILING, None) if kind is Kind.TRAILER else None
    if kind is Kind.WARNING:
        return _Tier.WARNED, statement_of(line)
    statement = state(line)
    if statement is not None:
        return (_Tier.STRICT_VAGUE if is_vague(statement.message) else _Tier.STRICT), statement
    return _tier_of_prose(line, kind), None


def _tier_of_prose(line: str, kind: Kind) -> _Tier:
    if kind is Kind.OTHER:
        return _Tier.REASONED if code_of(line) else _Tier.HINTED if _gives_cause(line) else _Tier.OTHER
    return _Tier.REASONED if _gives_cause(line) else _Tier.VAGUE


def _weigh_heading(lines: Sequence[str], number: int) -> _Candidate:
    # A heading counts for as much as the lines below it.
    line = lines[number].strip()
    following = _following(lines, number)
    if following is None:
        return _Candidate(_Tier.TRAILING, number, statement_of(line))
    if not (_tells_failure(line) or _gives_cause(line)):
        return _Candidate(_Tier.OTHER, number, statement_of(line))
    inner = state(following.text)
    if inner is not None:
        return _Candidate(_Tier.STRICT_VAGUE if is_vague(inner.message) else _Tier.STRICT, number, inner)
    below = _following(lines, following.number) if is_vague(following.text) else None
    has_reason = any(_gives_cause(text) for text in (line, following.text, below.text if below is not None else ""))
    if is_heading(line) or _ERROR_HEADING.search(line):
        return _Candidate(_Tier.STRICT if has_reason else _Tier.STRICT_VAGUE, number, Statement("error", line))
    return _Candidate(_Tier.REASONED if has_reason else _Tier.VAGUE, number)


def _first_beside(lines: Sequence[str], best: _Candidate) -> _Candidate:
    # Return the first of the statements that stand together: those behind it follow from it.
    depth = indentation(lines[best.number])
    while best.number and best.tier >= _Tier.REASONED:
        before = lines[best.number - 1]
        found = _weigh(lines, best.number - 1) if before and _is_as_deep(before, depth) else None
        if found is None or not (
            found.tier in _REASONS or (_LISTED.match(before) and _LISTED.match(lines[best.number]))
        ):
            break
        best = found._replace(tier=max(found.tier, best.tier))
    return best


def _complete(lines: Sequence[str], best: _Candidate) -> Choice:
    line = strip_timestamp(lines[best.number].strip())
    statement = best.statement if kind_of(line) is not Kind.HEADING else statement_of(line)
    message, number = statement.message if statement is not None else line, best.number
    items: tuple[str, ...] = ()
    for _ in range(_MAX_JOINED):
        is_open = not message or message.endswith(":") or (number != best.number and is_vague(message))
        following = _following(lines, number) if is_open else None
        if following is None:
            break
        inner = state(following.text)
        is_generic = not message or _GENERIC_HEADING.match(message) is not None
        statement = inner if inner is not None and (statement is None or is_generic) else statement
        text = inner.message if inner is not None and inner.message else following.text
        message = text if is_generic else f"{message} {text}" if message.endswith(":") else f"{message}: {text}"
        number, items = following.number, following.items
    message = _add_wrapper(lines, best.number, message)
    if best.tier > _Tier.OTHER:
        message = _add_root(lines, number, message)
    place = find_place((message, lines[best.number], *lines[best.number + 1 : number + 3]))
    statement = statement or best.statement
    items = items or tuple(_others_beside(lines, number, best.tier))
    key = " | ".join((clip(message), *(clip(item) for item in items[:_MAX_KEYED]))) if items else ""
    return Choice(best.number, statement, message, items, key, place)


def _others_beside(lines: Sequence[str], number: int, tier: _Tier) -> Iterator[str]:
    # Statements that stand below a chosen one like items of a list, each perhaps with lines of its own.
    depth = indentation(lines[number])
    is_listed = _LISTED.match(lines[number]) is not None
    if depth and tier < _Tier.STRICT:
        yield from _items_above(lines, number)
    for at in range(number + 1, min(len(lines), number + 1 + MAX_ITEMS)):
        line = lines[at]
        if not line or (indentation(line) < depth and not _is_as_deep(line, depth)):
            return
        if not _is_as_deep(line, depth):
            continue
        found = _weigh(lines, at)
        if found is None or found.tier is _Tier.TRAILING:
            return
        is_item = bool(depth) or (is_listed and _LISTED.match(line) is not None)
        if not (found.tier in _REASONS or found.tier is tier or is_item):
            return
        yield line.strip()


def _items_above(lines: Sequence[str], number: int) -> Iterator[str]:
    depth = indentation(lines[number])
    first = number
    while first and number - first < MAX_ITEMS and lines[first - 1] and indentation(lines[first - 1]) == depth:
        first -= 1
    if not first:
        return  # a text that stands to the right as a whole has no heading
    yield from (lines[at].strip() for at in range(first, number) if is_content(lines[at]))


def _is_as_deep(line: str, depth: int) -> bool:
    # Numbers that open the rows of a table stand to the right.
    return abs(indentation(line) - depth) <= (_MAX_SHIFT if "|" in line else 0)


def _add_root(lines: Sequence[str], number: int, message: str) -> str:
    # What caused the failure that a message states without a reason.
    root = _find_root(lines, number, message)
    if not root and not _gives_cause(message):
        beside = range(number + 1, min(len(lines), number + 1 + _MAX_JOINED))
        found = (_weigh(lines, at) for at in beside if lines[at])
        reasoned = next((each for each in found if each is not None and each.tier is _Tier.REASONED), None)
        root = lines[reasoned.number].strip() if reasoned is not None else ""
    if not root and number + 1 < len(lines) and _BARE.match(message) and _names_something(lines[number + 1]):
        root = lines[number + 1].strip()
    return f"{message.rstrip('.: ')}: {root}" if root and root not in message else message


def _names_something(line: str) -> bool:
    said = kind_of(line) in {Kind.OTHER, Kind.TELLING} and state(line) is None
    return said and _BARE.match(line.strip()) is None


def _add_wrapper(lines: Sequence[str], number: int, message: str) -> str:
    # Add what failed, where that stands directly above its reason, or anywhere above a labelled one.
    labelled = _match_label(message, has_reason=False)
    reach = _MAX_JOINED
    if labelled is not None and labelled["rest"]:
        message, reach = _strip_severity(labelled["rest"]), _MAX_ABOVE
    for at in range(number - 1, max(-1, number - 1 - reach), -1):
        above = strip_timestamp(lines[at].strip())
        kind = kind_of(above)
        label = _match_label(above, has_reason=False)
        if label is not None:
            above, reach = label["rest"].strip(), _MAX_ABOVE
        wraps = kind is Kind.HEADING or (kind is not Kind.WARNING and _tells_failure(above) and is_vague(above))
        if above and wraps and kind >= Kind.HEADING and not _GENERIC_HEADING.match(above):
            message = f"{_strip_severity(above).rstrip(': ')}: {message}"
            reach = _MAX_JOINED
        elif reach == _MAX_JOINED:
            break
    return message


def _strip_severity(line: str) -> str:
    stated = statement_of(line)
    return stated.message if stated is not None and stated.type in GENERIC_TYPES and stated.message else line


class _Following(NamedTuple):
    number: int
    text: str
    items: tuple[str, ...]


def _following(lines: Sequence[str], number: int) -> _Following | None:
    # Return the next line of content, with the lines that stand below the same heading as deep as it does.
    found = next((at for at in range(number + 1, min(len(lines), number + _MAX_BLANK)) if is_content(lines[at])), None)
    if found is None:
        return None
    depth = indentation(lines[found])
    items: list[str] = []
    if depth > indentation(lines[number]) or lines[found][:2] in {"- ", "* "}:
        for line in lines[found + 1 : found + 1 + MAX_ITEMS]:
            if not line.strip() or indentation(line) < depth:
                break
            items.append(line.strip())
    return _Following(found, lines[found].strip().lstrip("-*\u2022 "), tuple(items))


def _find_root(lines: Sequence[str], number: int, message: str) -> str:
    # Return the innermost of the causes that the lines behind a wrapper name.
    root = ""
    has_reason = _gives_cause(message)
    for at in range(number + 1, min(len(lines), number + 1 + _FAR)):
        line = lines[at]
        found = _match_label(line, has_reason=has_reason)
        if found is None:
            continue
        rest = found["rest"].strip()
        if not rest:
            following = _following(lines, at)
            rest = following.text if following is not None else ""
        root = root if is_vague(rest) else rest
    return root


def _match_label(line: str, *, has_reason: bool) -> re.Match[str] | None:
    if not has_any(line.lower(), _IN_LABELS) or line.lstrip()[:1] in ("{", "["):
        return None
    return _CAUSED.match(line) or (None if has_reason else _DETAILED.match(line))
