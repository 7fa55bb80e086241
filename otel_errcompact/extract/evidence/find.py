"""Evidence: lines of a raw error that its other facts do not hold."""

from __future__ import annotations

import re
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import Evidence, Facts
from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.extract.evidence.kinds import Kind, kind_of
from otel_errcompact.extract.forms import Lines, form
from otel_errcompact.extract.lexicon import join_words
from otel_errcompact.extract.statements import indentation
from otel_errcompact.extract.table import names_of
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_EVIDENCE: Final = 64
"""Lines of evidence."""

MAX_LOOKED_AT: Final = 300
"""Lines of a text that are looked at from either end."""

_MAX_LINE: Final = 2_000
_MAX_PIECE: Final = 240
"""Characters of a line that stays whole; a longer one is looked at sentence by sentence."""

_MAX_ALIKE: Final = 3
"""Lines that differ in nothing but numbers and are shown all the same."""

_NEAR: Final = 2
"""Lines before and behind the cause that are near to it."""

_WORD: Final = form(r"\w+")
_BETWEEN_WORDS: Final = {
    code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in "_\n")
}  # fmt: skip
_END_OF_PIECE: Final = form(r"(?<=[.;,!?}\])]) +")
_NUMBER: Final = form(r"[0-9][0-9a-f]*")
_VALUE: Final = form(r"['\"`\u2018\u201c][^\s'\"`][^'\"`\n]{0,200}['\"`\u2019\u201d]|[0-9]")
_PLACE: Final = form(
    r"[.:/](?:(?<=[\w)]\.)[A-Za-z]\w{0,8}(?::[0-9]|\(|\"?,? line [0-9])|(?<=\w:){number}(?![\w.])"
    r"|(?<=[\w.-]/)[\w.-]+\.\w)|[0-9](?<=\bline [0-9])"
)
"""A place; it begins with what few characters are, so that the engine passes over words."""

_PAIR: Final = form(r"[:=](?:(?<=\w.)|(?<=\w[\"'].))(?:(?<==)|(?<=:) )\S")
_COMPARED: Final = frozenset((
    "expect", "expected", "expects", "expecting", "got", "actual", "actually", "received", "want", "wanted", "found",
    "allowed", "requires", "required", "needs", "available", "conflict", "conflicts", "conflicting", "left", "right",
    "diff", "because", "reason", "hint", "help",
))  # fmt: skip
_FIRST_COMPARED: Final = frozenset({"should", "must", "instead", "valid", "one", "but", "did", "caused", "due"})
_PHRASES_COMPARED: Final = lazy_pattern(lambda: join_words((
    "should (?:be|have)", "must (?:be|have|not)", "instead of", "valid values", "one of", "but (?:is|was|has|have)",
    "did you mean", "caused by", "due to",
), r"\b"))  # fmt: skip
_PACKAGE: Final = form(r"\b(?:[a-z_]\w{0,40}\.){1,12}(?=[A-Z])")
_END_OF_PACKAGE: Final = form(r"\.[A-Z]")

_NUMBERED: Final = form(r"\s{0,8}({number})(?:[|:\u2502]| {2,}|\t)")
_LISTED: Final = form(r"\n\s{0,8}{number}(?:[|:\u2502]| {2,}|\t)")
"""The beginning of each line with a number; behind a line feed, which is searched for at the speed of C."""

_MIN_LISTED: Final = 4
"""Lines with one number after the other that are a listing of a file."""

_TAG: Final = form(r"</?[A-Za-z][^<>\n]{0,600}>")
_CLOSING: Final = "</"
_CUT: Final = ("...", "\u2026")
_CUT_WORD: Final = form(r"\w{1,60}(?:\.\.\.|\u2026)$")
"""A word that a tool has cut: nobody can tell whether it was said already."""

_STYLE: Final = form(
    r"\b(?:margin|padding|border|color|background|display|font|width|height|flex|align|overflow|text-\w{1,20})"
    r"[a-z-]{0,20}: ?[^;{}<>\n]{1,80};"
)
_MIN_STYLES: Final = 2
_ADVICE: Final = form(r"\W{0,3}please\b.{0,160}\b(?:re)?try\b", re.IGNORECASE)
_LABELLED: Final = form(
    r"\W{0,3}(?:(?:[\w-]{0,30}[-_ ])?(?:request|trace|span|correlation|ray|session|event|transaction)[-_ ]?id"
    r"|cf-ray|content-(?:type|length)|date|timestamp|user-agent|etag|cache-control)[\"']?: "
    r"|\W{0,3}[\w-]{1,60}[\"']?: ?[\[{(]$|node\.js v[0-9]|plugins: [\w-]{1,60}-[0-9]"
    r"|the above exception was the direct cause|during handling of the above exception",
    re.IGNORECASE,
)
"""What tells one answer from another, and no failure: ids, times, versions; a label whose values stand below."""

_FRAME: Final = form(r"\s*(?:\| )?(?:File {quoted}, line [0-9]|at \S)|{path}:{number}: \w{0,60}Warning: ")
_SIGNS_OF_FRAMES: Final = ('File "', "at ", "Warning: ")
"""Strings of which each line that shows where something happened has one."""

_NUMBER_OF: Final = form(
    r"(?:[a-z_\])](?:: | ?= ?)|[~^<>=!][=>]? ?v?"
    r"|\b(?:got|expected|received|actual|was|is|limit|than|left|right) )[-'\"`]?[0-9]"
)
"""A number that is a value, and no place of a line, a share or a duration."""

_COMMON: Final = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "e", "for", "from", "has", "have", "if", "in", "into", "is",
    "it", "its", "no", "not", "of", "on", "or", "s", "t", "than", "that", "the", "then", "there", "this", "to",
    "was", "were", "will", "with", "you", "your", "error", "errors", "line", "file", "col", "column",
    "exception", "thread", "main", "failed", "lines", "total", "more", "above", "below",
    "caused", "cause", "raised", "warning", "warnings", "note",
))  # fmt: skip
"""Words without substance: a line of nothing but these and what was said already says nothing."""

_LEAST_BESIDE_FORMAT: Final = 3
"""The weight of evidence beside the facts of a format that knows its texts."""

_NOTHING_FOUND: Final = form(
    r"(?i)\W{0,4}(?:found )?(?:0|no) (?:issues?|errors?|problems?|violations?|findings?)(?: found)?[.!]?$"
)
_HEAVY: Final = 9
_LEAST_BESIDE_WHOLE: Final = 6
_WEIGHT: Final = {Kind.OTHER: 1, Kind.WARNING: 2, Kind.TELLING: 3}


class _Line(NamedTuple):
    text: str
    weight: int
    template: str


class _Fresh(NamedTuple):
    """A piece of a text with words that the facts do not hold."""

    number: int
    """The line that it is a piece of."""

    text: str
    lowered: str
    words: set[str]


def find_evidence(lines: Lines, facts: Facts) -> tuple[Evidence, ...]:
    """
    Return the lines that `facts` do not hold, in their order.

    Linear in the lines, and no more than `MAX_LOOKED_AT` from either end are looked at.
    """
    least = _least_of(facts)
    looked_at = _limit_lines(lines)
    text = "\n".join(looked_at)
    if has_any(text, _SIGNS_OF_FRAMES):
        looked_at = _blank_sources(looked_at)
    if len(_LISTED.findall(f"\n{text}")) >= _MIN_LISTED:
        looked_at = _blank_listings(looked_at)
    said_by_facts = (facts.type, str(facts.location), facts.cause, *facts.details, *facts.wrappers)
    known = _COMMON.union(*_list_words("\n".join(said_by_facts).lower()))
    fresh = _find_fresh(looked_at, known)
    if not fresh:  # of most texts the facts say all
        return ()
    said = set(known)
    nearness: dict[int, int] | None = None
    found: list[_Line] = []
    alike: dict[str, int] = {}
    for piece in fresh:
        words = piece.words
        if words <= said or _is_place(piece, words - known):
            continue
        if nearness is None:
            nearness = _find_nearness(looked_at, facts.cause)
        weighed = _weigh_piece(piece, words - said, nearness.get(piece.number, 0), least)
        if weighed is None or weighed.weight < least or _is_noise(piece.text, facts.cause):
            continue
        seen = alike.get(weighed.template, 0)
        alike[weighed.template] = seen + 1
        if seen < _MAX_ALIKE:
            found.append(weighed)
            said |= words
    return (*_with_counts(_choose_heaviest(found), alike), *_find_nothing_found(looked_at))


def _find_nothing_found(lines: Lines) -> Iterator[Evidence]:
    # Where a linter failed that has found nothing, that is what its user asks next.
    said = [line.strip() for line in lines if line.strip()]
    yield from (Evidence(line, _HEAVY) for line in said[-_NEAR:] if _NOTHING_FOUND.match(line))


def _find_fresh(lines: Lines, known: frozenset[str]) -> list[_Fresh]:
    pieces: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        piece = line.strip()
        if len(piece) <= _MAX_PIECE and _CLOSING not in piece:
            if piece:
                pieces.append((number, piece))
        else:
            pieces.extend([(number, piece) for piece in _list_pieces(line)])
    # All at once, since a call for each line costs more than what it does.
    lowered = _strip_around("\n".join([piece for _, piece in pieces])).lower()
    words = _list_words(lowered)
    return [
        _Fresh(*pieces[at], line, words[at]) for at, line in enumerate(lowered.split("\n")) if not words[at] <= known
    ]


def _strip_around(text: str) -> str:
    # Tags, the packages of a class and words that were cut say nothing.
    if "<" in text:
        text = _TAG.sub(" ", text)
    if _END_OF_PACKAGE.search(text) is not None:
        text = _PACKAGE.sub(" ", text)
    if not has_any(text, _CUT):
        return text
    return "\n".join([_CUT_WORD.sub(" ", line) if line.endswith(_CUT) else line for line in text.split("\n")])


def _least_of(facts: Facts) -> int:
    if facts.format in names_of("reads_all") or _is_echo(facts):
        return _LEAST_BESIDE_WHOLE
    return _LEAST_BESIDE_FORMAT


def _is_echo(facts: Facts) -> bool:
    # A harness that quotes the agent's own words has said before them what it has to say.
    return facts.format == "harness" and any(line.startswith("> ") for line in facts.details)


def _limit_lines(lines: Lines) -> Lines:
    if len(lines) <= 2 * MAX_LOOKED_AT:
        return lines
    return [*lines[:MAX_LOOKED_AT], *lines[-MAX_LOOKED_AT:]]


def _blank_sources(lines: Lines) -> Lines:
    # A line below a frame and deeper than it is its source, which stands at the place that the frame names.
    kept: list[str] = []
    depth = -1
    for line in lines:
        said = line.lstrip()
        if has_any(said, _SIGNS_OF_FRAMES) and _FRAME.match(line):
            depth = len(line) - len(said)
            kept.append("")  # a frame tells the place, which the facts hold
        elif depth >= 0 and said:
            if len(line) - len(said) > depth:
                kept.append("")  # the source
            else:
                depth = -1
                kept.append(line)
        else:
            kept.append(line)
    return kept


def _blank_listings(lines: Lines) -> Lines:
    # An excerpt of a file, as editors of agents show it around an edit, can be read again at its place.
    kept: list[str] = []
    # Lines numbered one after the other are all as far from their numbers.
    distances = [int(found[1]) - at if (found := _NUMBERED.match(line)) else None for at, line in enumerate(lines)]
    for distance, group in groupby(zip(distances, lines, strict=True), key=itemgetter(0)):
        run = [line for _, line in group]
        is_listing = distance is not None and len(run) >= _MIN_LISTED and not _lists_failures(run)
        kept += [""] * len(run) if is_listing else run
    return kept


def _lists_failures(run: Lines) -> bool:
    half = (len(run) + 1) // 2
    others = (line for line in run if kind_of(line.lstrip(" 0123456789|:\u2502\t")) is not Kind.TELLING)
    return len(tuple(islice(others, half))) < half


def _is_noise(piece: str, cause: str) -> bool:
    # Labels of one answer, style sheets in it, and the cause once more with advice that goes without saying.
    if _LABELLED.match(piece) is not None:
        return True
    if piece.count(";") >= _MIN_STYLES and len(_STYLE.findall(piece)) >= _MIN_STYLES:
        return True
    return bool(cause) and cause in piece and _ADVICE.match(piece.partition(cause)[2]) is not None


def _list_pieces(line: str) -> Iterable[str]:
    if line.count(_CLOSING) > 1:  # of a page in a text the words count
        line = " ".join(_TAG.sub(" ", line[:_MAX_LINE]).split())
    line = line.strip()
    if len(line) <= _MAX_PIECE:
        return (line,) if line else ()
    return _split_line(line[:_MAX_LINE])


def _split_line(line: str) -> Iterator[str]:
    piece = ""
    for part in _END_OF_PIECE.split(line):
        if piece and len(piece) + len(part) >= MAX_DETAIL:
            yield piece
            piece = part
        else:
            piece = f"{piece} {part}" if piece else part
    yield piece


def _list_words(text: str) -> list[set[str]]:
    if text.isascii():  # Words are split three times as fast as a pattern finds them.
        return [set(line.split()) for line in text.translate(_BETWEEN_WORDS).split("\n")]
    return [set(_WORD.findall(line)) for line in text.split("\n")]


def _find_nearness(lines: Lines, cause: str) -> dict[int, int]:
    head = cause[:40]
    at = next((number for number, line in enumerate(lines) if head and head in line), -1)
    if at < 0:
        return {}
    near = {at + step: 2 for step in range(-_NEAR, _NEAR + 1)}
    depth = indentation(lines[at])
    for number in range(at + 1, len(lines)):
        if lines[number].strip() and indentation(lines[number]) <= depth:
            break
        near[number] = max(near.get(number, 0), 1)
    return near


def _is_place(piece: _Fresh, unknown: set[str]) -> bool:
    # What the facts hold, at another line or column, or with another share of the work.
    if not all(map(str.isdecimal, unknown)) or _NUMBER_OF.search(piece.lowered):
        return False
    return kind_of(piece.text) is not Kind.TRAILER


def _weigh_piece(piece: _Fresh, unknown: set[str], near: int, least: int) -> _Line | None:
    line = piece.text
    signs = near + _weigh_signs(piece, unknown)
    if signs + _WEIGHT[Kind.TELLING] < least:
        return None  # whatever kind of line it is
    kind = kind_of(line)
    if kind <= Kind.TRAILER:
        return None
    weight = _WEIGHT[kind] + signs
    return _Line(line, weight, _NUMBER.sub("0", piece.lowered))


def _weigh_signs(piece: _Fresh, unknown: set[str]) -> int:
    line, lowered = piece.text, piece.lowered
    weight = int(not all(map(str.isalpha, unknown)))
    weight += _VALUE.search(line) is not None
    weight += _PLACE.search(line) is not None
    weight += _PAIR.search(line) is not None
    return weight + 2 * _is_comparison(lowered, piece.words)


def _is_comparison(lowered: str, words: set[str]) -> bool:
    if not words.isdisjoint(_COMPARED):
        return True
    return not words.isdisjoint(_FIRST_COMPARED) and _PHRASES_COMPARED.search(lowered) is not None


def _choose_heaviest(found: list[_Line]) -> list[_Line]:
    if len(found) <= MAX_EVIDENCE:
        return found
    order = sorted(range(len(found)), key=lambda number: (-found[number].weight, number))
    return [found[number] for number in sorted(order[:MAX_EVIDENCE])]


def _with_counts(found: Iterable[_Line], alike: dict[str, int]) -> Iterator[Evidence]:
    for line in found:
        more = alike.pop(line.template, 0) - _MAX_ALIKE
        count = f" (and at least {more} alike)" if more > 0 else ""
        yield Evidence(f"{clip(line.text, MAX_DETAIL)}{count}", line.weight)
