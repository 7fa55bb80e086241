"""What a failed expectation of a Python test comes down to: `assert` as pytest explains it, unittest's, doctest's."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.extract.members import Member
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.stacks.failure import Failure

ASSERTION: Final = "AssertionError"
DOCTEST: Final = "DocTestFailure"

EXPECTATIONS: Final = frozenset({ASSERTION, "Failed"})
"""Types of failures that compare what a test got with what it expected."""

NO_SOURCE: Final = "expectation"
"""What stands for the expectation in a key where its source line was not printed."""

MAX_DIFFERENCES: Final = 4

FEW_TESTS: Final = 8
"""Distinct failures up to which each is told with its asserted line; beyond, places and causes tell enough."""

_LOOK_AHEAD: Final = 200
_MAX_VALUE: Final = 120
_MAX_ORIGINS: Final = 3
_TIME_LIMIT: Final = "Timeout "

_ELIDED: Final = lazy_pattern(r"\.\.\.|\[[0-9]{1,9} chars\]")
_COMPARISON: Final = lazy_pattern(r" (?:==|!=|<=|>=|<|>|in|is) ")
_NO_VALUES: Final = lazy_pattern(
    r"assert (?:not )?(?:\(?not )?(?:False|True|None|\[\]|\(\)|\{\}|0|'')\)?(?: is (?:not )?\w+)?$"
)
_WHERE: Final = lazy_pattern(r" ?\+ {2,20}(?:where|and  ) (?P<said>\S.*)")
_LABELLED: Final = lazy_pattern(
    r"\s{0,8}(?:Expected(?: regex)?|Actual(?: message)?|Obtained|ACTUAL|DESIRED|Regex|Input|Pattern|[xy])\s{0,4}: ?\S"
)
_TELLING: Final = lazy_pattern(r" != |[Ll]eft contains |[Rr]ight contains ")
_FUNCTION: Final = lazy_pattern(
    r"<(?:function|bound method|built-in (?:method|function)) ([\w.]{1,200})[^<>\n]{0,300}>"
)
_OBJECT: Final = lazy_pattern(r"<(?:[\w.]{1,200}\.)?(\w{1,100}) object at 0x[0-9a-f]{1,16}>")
_NUMBER: Final = lazy_pattern(r"[0-9]{3,6} ")
_PARTS: Final = ("Expected:", "Got:", "Expected nothing", "Got nothing", "Exception raised:")
_EXAMPLE: Final = ("Failing test case: ", "Falsifying example: ", "Falsifying explicit example: ")


class Expectation(NamedTuple):
    """A failed expectation: its cause, and differences that this leaves out."""

    cause: str
    details: tuple[str, ...] = ()


def member_of(chain: Sequence[Failure], name: str, function: str) -> Member:
    """
    Return a failed test by its expectation or its exception.

    An expectation that failed in another function than the test's is an exception like any other.
    """
    root = chain[-1]
    lines = root.message.split("\n")
    if root.type.rpartition(".")[2] not in EXPECTATIONS or root.children or lines[0].startswith(_TIME_LIMIT):
        facts = facts_of(chain)
        return _build_member(facts, name, dict.fromkeys((*_list_examples(lines[:_LOOK_AHEAD]), *facts.details)))
    source = root.own.source if root.own is not None else ""
    expectation = read_expectation(lines, source)
    facts = facts_of((*chain[:-1], root._replace(message=expectation.cause)))
    member = _build_member(facts, name, (*expectation.details, *facts.details))
    if facts.location.function not in ("", function):
        return member
    return member._replace(assertion=True, key=source or NO_SOURCE)


def _build_member(facts: Facts, name: str, details: Iterable[str]) -> Member:
    return Member(facts.type, facts.cause, facts.location, name, tuple(details), facts.key_cause)


def strip_sources(members: Sequence[Member]) -> list[Member]:
    """Leave out the asserted lines of tests that failed alone among many."""
    counts = Counter((member.type, member.cause) for member in members)
    if len(counts) <= FEW_TESTS:
        return list(members)
    return [member if counts[member.type, member.cause] > 1 else _strip_source(member) for member in members]


def _strip_source(member: Member) -> Member:
    return member._replace(details=tuple(line for line in member.details if not line.startswith("> ")))


def read_expectation(lines: Sequence[str], source: str = "") -> Expectation:
    """
    Return a failed expectation in few words that keep both values.

    What its source line says already is not said again.
    """
    lines = lines[:_LOOK_AHEAD]
    at = next((number for number, line in enumerate(lines) if line.strip()), None)
    if at is None:
        return Expectation("")
    cause, rest = lines[at].strip(), lines[at + 1 :]
    explained = next((line for line in rest if line.startswith("assert ")), "")
    if explained:
        cause = f"{cause}: {explained}"
    where = _find_origins(rest)
    if where and _NO_VALUES.search(cause):
        cause, where = f"{cause}, where {where}", ""
    values = _complete_values(cause, rest)
    note = rest[-1].strip() if rest else ""
    if note.startswith(": "):
        cause, values = f"{cause} {note}", values and f"{values} {note}"
    shown = f"where {where}" if where and not _is_said(where, source) else ""
    said = (shown, *(() if values else _list_changes(cause, rest)), *_list_examples(rest))
    return Expectation(values or cause, tuple(filter(None, said)))


def read_example(lines: Sequence[str]) -> str:
    """
    Return what a failed example of a docstring says.

    It may stand below the docstring before it; then `Expected:` and `Got:`, each followed by its lines.
    """
    parts: dict[str, list[str]] = {"": []}
    at = ""
    for numbered in lines[:_LOOK_AHEAD]:
        line = _NUMBER.sub("", numbered)
        if line in _PARTS:
            at = "Expected" if line[0] == "E" and line[2] == "p" else "Got"
            parts[at] = [] if line.endswith(":") else ["nothing"]
        elif line.startswith("    >>> "):
            parts[at] = [line[8:].strip()]
        elif line.startswith("    ") and line.strip():
            parts[at].append(line.strip())
    example, expected, got = ("; ".join(_keep_value_lines(parts.get(name, []))) for name in ("", "Expected", "Got"))
    outcome = f"expected {clip(expected, _MAX_VALUE)}, got" if expected else "raised"
    return f"{clip(example, MAX_DETAIL)}: {outcome} {clip(got, _MAX_VALUE)}"


def _keep_value_lines(lines: Sequence[str]) -> Sequence[str]:
    # Return the lines of a value; of a traceback the last one.
    return lines[-1:] if lines and lines[0].startswith("Traceback ") else lines[:3]


def _find_origins(lines: Sequence[str]) -> str:
    # What the first value was computed from, and that of which it was computed, unless these are names of methods.
    told: list[str] = []
    for line in lines:
        found = _WHERE.match(line)
        if found is not None:
            value, _, origin = _OBJECT.sub(r"<\1>", _FUNCTION.sub(r"\1", found["said"])).partition(" = ")
            if origin == value:
                break
            if not told or origin.endswith(")"):
                told.append(f"{value} = {origin}")
    return "; ".join(told[:_MAX_ORIGINS])


def _is_said(where: str, source: str) -> bool:
    origins = (part.partition(" = ")[2].replace('"', "'") for part in where.split("; "))
    return all(origin in source.replace('"', "'") for origin in origins)


def _complete_values(cause: str, lines: Sequence[str]) -> str:
    # Return the cause with both values, where its first line leaves them out and further lines tell them.
    if _is_complete(cause):
        return ""
    labelled = [" ".join(line.split()) for line in lines if _LABELLED.match(line)]
    if labelled:
        return f"{cause.rstrip('.')}: {'; '.join(labelled[:MAX_DIFFERENCES])}"
    stripped = [line.strip() for line in lines] if _ELIDED.search(cause) else []
    telling = [line for line in stripped if _TELLING.search(line)]
    for number, line in enumerate(stripped[:-2]):
        if line.startswith("First differing element"):
            telling.append(
                f"{line} {clip(stripped[number + 1], _MAX_VALUE)} != {clip(stripped[number + 2], _MAX_VALUE)}"
            )
    return "; ".join(telling[:MAX_DIFFERENCES])


def _list_changes(cause: str, lines: Sequence[str]) -> Iterator[str]:
    stripped = (line.strip() for line in lines)
    changed = [line for line in stripped if line.startswith(("- ", "+ ")) and not line.startswith(("+  ", "-  "))]
    if changed and not _is_complete(cause):
        yield clip(" | ".join(changed[: 2 * MAX_DIFFERENCES]), MAX_DETAIL)


def _is_complete(cause: str) -> bool:
    return _COMPARISON.search(cause) is not None and _ELIDED.search(cause) is None


def _list_examples(lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if line.startswith(_EXAMPLE):
            following = lines[number + 1 : number + 20]
            end = next((index for index, other in enumerate(following) if not other.startswith(" ")), len(following))
            call = "".join(part.strip() + " " for part in (*following[:end],)).strip().rstrip(",")
            yield f"{line.strip()}{call})" if call else line.strip()
