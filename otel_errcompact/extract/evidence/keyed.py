"""What else a text states, for the key: two failures that share their first reason may differ in the next one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.masking import mask
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.evidence.choice import is_vague, tells_failure
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.statements import strip_timestamp
from otel_errcompact.redaction.redact import redact_lines
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.errors import Facts

MAX_LINES: Final = 64
"""Lines of a text that are looked at."""

MAX_REASONS: Final = 24
"""Further lines that count."""

_MIN_KNOWN: Final = 40
"""Characters of a message that show that it is known."""

_LOOSE: Final = frozenset({
    "database", "findings", "infra", "plain", "prose", "shell", "make", "cmake", "bundlers", "testrunners", "eslint",
})  # fmt: skip
"""Formats of texts that have no structure to tell what belongs together."""

_CHOSEN: Final = frozenset({"plain", "prose"})
"""Formats of one statement: where its key is whole, it is a class of its own, such as broken rules."""

_LISTS: Final = frozenset({"compilers"})
"""Formats of lists behind which other programs go on: what they have not read counts."""

_CHATTER: Final = lazy_pattern(
    r"(?:real|user|sys)\s{1,8}[0-9]|\+{1,4} \S|\(node:[0-9]{1,9}\)|\(Use `node|-- |Node\.js v|\s{0,16}[\[{<]"
    r"|\W{0,4}\w{0,40}\W{0,4}$"
)
"""Lines of the shell, of a runtime and of data, which have no part in what failed."""

_ROW: Final = lazy_pattern(r"\s{0,16}[|\u2502] ")
"""The start of a table's row."""

_ELSEWHERE: Final = lazy_pattern(
    r"(?<![\w.:/>-])/(?:[\w.@+<>-]{1,100}/){1,30}(?=[\w.<])|^<time> \S{1,100} (?=\S{1,100}\[<num>\]: )"
)
"""The folders of an absolute path, and the host of a log."""

_MAX_LINE: Final = 1_000


def key_reasons(facts: Facts, body: str) -> Facts:
    """
    Return `facts` with the templates of all lines between the first and the last reason in the key.

    What a program tells before and after does not count, and as a sorted set neither do order and repeats.
    """
    is_list = facts.format in _LISTS
    is_class = facts.key_is_whole and facts.format in _CHOSEN
    if not (is_list or facts.format in _LOOSE) or is_class or "\n" not in body:
        return facts
    said = facts.keyed_cause
    known = (facts.cause, *facts.details) if is_list else ()
    # A whole key names its causes in an order of its own, so that none of them is the first.
    told = (said,) if facts.key_is_whole else (said, facts.cause)
    found = sorted(_find_templates(body.split("\n", MAX_LINES)[:MAX_LINES], told, known))
    return replace(facts, key_cause=" | ".join((said, *found))) if found else facts


def _find_templates(lines: Sequence[str], said: Sequence[str], known: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for line in redact_lines(_find_lines(lines, said, known)):
        found.add(clip(_ELSEWHERE.sub("", mask(line))))
        if len(found) == MAX_REASONS:
            break
    return found


def _find_lines(lines: Sequence[str], said: Sequence[str], known: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for number in _span(lines):
        kind = kind_of(lines[number])
        if kind <= (Kind.OTHER if known else Kind.TRAILER) or kind is Kind.WARNING:
            continue
        if kind is Kind.OTHER and _ROW.match(lines[number]):
            continue
        if _CHATTER.match(lines[number]) or (known and (lines[number][0].isspace() or is_vague(lines[number]))):
            continue
        line = strip_timestamp(lines[number].strip())
        if line not in said[0] and not any(each in line for each in said) and not _is_known(line, known):
            found[" ".join(line[:_MAX_LINE].split())] = None
    return list(found)


def _is_known(line: str, known: Sequence[str]) -> bool:
    rest = line.rpartition(": ")[2][:_MIN_KNOWN]
    return any(rest in each or each in line for each in known if each)


def _span(lines: Sequence[str]) -> range:
    # The line behind the last reason mostly names what it is about.
    numbers = range(len(lines))
    first = next((number for number in numbers if tells_failure(lines, number)), len(lines))
    last = next((number for number in reversed(numbers[first:]) if tells_failure(lines, number)), first)
    return range(first, min(last + 2, len(lines)))
