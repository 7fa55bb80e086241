"""Output of ExUnit, mostly by way of `mix test`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.cleaning.characters import is_cut
from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.extract.grammar import NOWHERE, Facts, Format, Lines, Location, Text, find_all, form, place_of
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.stacks import beam
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.extract.stacks.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ASSERTION: Final = "AssertionError"

_HEADING: Final = form(r" {0,4}{number}\) (?P<name>\S.{0,500}) \((?P<module>[A-Z][\w.]{0,300})\)$")
_INVALIDATED: Final = form(
    r" {0,4}{number}\) (?P<module>[A-Z][\w.]{0,300}): failure on (?P<name>\w{1,40}) callback,"
    r" all tests have been invalidated$"
)
_BLAMED: Final = form(r" *The following arguments were given to (?P<function>\S.{0,300}):$")
_FINISHED: Final = "Finished in "
_SUMMARY: Final = form(
    r"(?:{number} \w{1,40}, ){1,6}(?P<failed>{number}) failures?"
    r"(?:, {number} excluded)?(?:, (?P<invalid>{number}) invalid)?"
)
_LABEL: Final = form(
    r" *(?P<label>code|left|right|stacktrace|mailbox|doctest|arguments|value|pattern|hint): *(?P<value>.*)"
)
_PLACE: Final = form(r" *(?P<file>{path}\.exs?):{line}$")
_LOG: Final = "The following output was logged:"
_GENERIC: Final = form(
    r"Assertion with .{1,12} failed|match \(.{1,6}\) failed|Expected (?:truthy|false or nil), got |Doctest failed$"
)
_NO_MESSAGE: Final = form(r"Assertion failed, no matching message after ")
_TIMED_OUT: Final = form(r"test timed out after (?P<time>\S{1,20})\. You can change the timeout")
_MAX_INLINE: Final = 160
"""Characters of both sides of a comparison that are told in the cause."""

_LONG_SIDE: Final = 300
_MAX_SIDE_KEY: Final = 120
_MAX_LINES: Final = 400


@dataclass(slots=True, kw_only=True)
class _Failed:
    """One failed test as it was printed."""

    name: str
    place: Location = NOWHERE
    message: list[str] = field(default_factory=list[str])
    fields: dict[str, str] = field(default_factory=dict[str, str])
    stack: list[str] = field(default_factory=list[str])


def read(text: Text) -> Facts | None:
    """Return the facts of the failed tests."""
    lines = text.lines
    blocks = list(_split_blocks(lines))
    failed = [_read_failed_test(block) for block in blocks[:MAX_MEMBERS]]
    if not failed:
        return None
    members = _keep_one_actual(_complete_places([_build_member(test) for test in failed]), failed)
    total = max(_count_failures(lines), len(blocks))
    has_invalidated = any(_INVALIDATED.match(block[0]) for block in blocks)
    return facts_of_members(members, unit="test", total=total, are_alike=has_invalidated)


def _count_failures(lines: Lines) -> int:
    return sum(int(found["failed"]) + int(found["invalid"] or 0) for found in find_all(_SUMMARY, lines[-40:]))


def _split_blocks(lines: Lines) -> Iterator[list[str]]:
    # Yield the lines of each failed test, its heading first; without any heading, what is left of the only one.
    block: list[str] = []
    is_behind_cut = False
    for line in lines:
        is_heading = ") " in line[:10] and (_HEADING.match(line) or _INVALIDATED.match(line)) is not None
        if is_heading or is_cut(line):
            if _is_whole(block):
                yield block
            block, is_behind_cut = ([line] if is_heading else []), not is_heading
        elif line.startswith(_FINISHED):
            break
        elif len(block) < _MAX_LINES and not is_behind_cut:
            block.append(line)
    if _is_whole(block):
        yield block


def _is_whole(block: Lines) -> bool:
    # Tell whether a block has a heading, or enough of a failure to be told without.
    if not block:
        return False
    if ") " in block[0][:10] and (_HEADING.match(block[0]) or _INVALIDATED.match(block[0])):
        return True
    labels = {line.strip() for line in block}
    return "stacktrace:" in labels and any("** (" in line or line.lstrip().startswith("code:") for line in block)


def _read_failed_test(block: Lines) -> _Failed:
    heading = _HEADING.match(block[0]) or _INVALIDATED.match(block[0])
    test = _Failed(name=heading["name"] if heading else "")
    label = ""
    for line in block[1:] if heading else block:
        if line.strip() == _LOG or (label == "stacktrace" and not line.strip()):
            break
        found = _LABEL.match(line) if ":" in line[:24] else None
        place = _PLACE.match(line) if not test.place and not label and not test.message else None
        if found is not None and label != "stacktrace":
            label = found["label"]
            test.fields[label] = found["value"]
        elif place is not None:
            test.place = place_of(place)
        elif label == "stacktrace":
            test.stack.append(line)
        elif label and line.strip():
            test.fields[label] = f"{test.fields[label]} {line.strip()}".strip()
        elif not label:
            test.message.append(line)
    if heading is None:
        test.message[:0] = _cut_off(test.message)
    return test


def _cut_off(message: Lines) -> list[str]:
    # Return the first line of an exception of which only the arguments are left that no function clause matches.
    blamed = _BLAMED.match(message[0]) if message else None
    return [f"** (FunctionClauseError) no function clause matching in {blamed['function']}"] if blamed else []


# --- members ---------------------------------------------------------------------------------------------------------


def _build_member(test: _Failed) -> Member:
    return _read_exception(test) if test.message and beam.is_raised(test.message[0]) else _read_assertion(test)


def _read_exception(test: _Failed) -> Member:
    # Return a test that an exception ended; where that came from the test itself, equal ones elsewhere are the same.
    chain = beam.chain_of(test.message, _cut_stack(test))
    facts = facts_of(chain)
    is_cut = "stacktrace" in test.fields and not any(line.endswith(": (test)") for line in test.stack)
    own = next((failure.own for failure in reversed(chain) if failure.own is not None), None)
    cause, location = facts.cause, own.place() if own is not None else NOWHERE if is_cut else test.place
    timed_out = _TIMED_OUT.match(cause)
    if timed_out is not None:
        return Member(facts.type, f"test timed out after {timed_out['time']}", location, test.name)
    code = test.fields.get("code", "")
    more = (f"> {code}",) if code and not location.function else ()
    return Member(facts.type, cause, location, test.name, (*more, *facts.details)[:4], facts.key_cause)


def _complete_places(members: Sequence[Member]) -> list[Member]:
    # Return the members; one whose stack is cut off failed where others failed with the same words.
    places = {(member.type, member.cause): member.location for member in members if member.location}
    return [
        member if member.location else member._replace(location=places.get((member.type, member.cause), NOWHERE))
        for member in members
    ]


def _cut_stack(test: _Failed) -> list[str]:
    # Return the lines of the stack up to the test itself; what called the test is the framework.
    end = next((number for number, line in enumerate(test.stack) if line.endswith(": (test)")), len(test.stack))
    return test.stack[: end + 1]


def _read_assertion(test: _Failed) -> Member:
    # Return a test whose expectation was not met.
    words = read_message("\n".join(line for line in test.message if line.strip() != ")"))
    code = test.fields.get("code", "")
    sides = _list_sides(test)
    if not code or not (_GENERIC.match(words.cause) or _NO_MESSAGE.match(words.cause)):
        more = (f"> {code}",) if code and words.cause not in code else ()
        return _build_expectation(test, words.cause, words.key, (*words.details[:2], *more, *sides))
    key = f"{words.cause.partition(', ')[0]}: {code}"
    if _NO_MESSAGE.match(words.cause):
        received = f", got {test.fields['value']}" if test.fields.get("value") else ""
        return _build_expectation(test, f"{code}: {words.cause}{received}", key, ())
    short = sum(map(len, sides)) <= _MAX_INLINE
    cause = ", ".join((code, *sides)) if short else f"{code}, {words.cause[:1].lower()}{words.cause[1:]}"
    return _build_expectation(test, cause, key, () if short else sides)


def _list_sides(test: _Failed) -> tuple[str, ...]:
    return tuple(
        clip(f"{label}: {test.fields[label]}", MAX_DETAIL)
        for label in ("left", "right", "arguments")
        if test.fields.get(label)
    )


def _build_expectation(test: _Failed, cause: str, key: str, details: tuple[str, ...]) -> Member:
    frame = beam.first_own(beam.stack_of(_cut_stack(test))) or Frame(test.place.file, test.place.line)
    place = Location(function=frame.function or test.name, file=frame.file, line=frame.line)
    return Member(ASSERTION, clip(cause), place, test.name, details[:4], key, assertion=True)


def _keep_one_actual(members: Sequence[Member], failed: Sequence[_Failed]) -> list[Member]:
    # Return the members; tests that found different things missing from one and the same long text share a cause.
    actual = [_find_actual(test) for test in failed]
    counts = Counter(actual)
    return [
        member._replace(key=" ".join(shared), location=Location(file=member.location.file))
        if shared and counts[shared] > 1
        else member
        for member, shared in zip(members, actual, strict=True)
    ]


def _find_actual(test: _Failed) -> tuple[str, str] | None:
    # Return the expression whose long value did not hold what was expected, and the comparison.
    code = test.fields.get("code", "")
    if len(test.fields.get("left", "")) < _LONG_SIDE or "=~" not in code:
        return None
    return "Assertion with =~ failed:", clip(code.partition("=~")[0], _MAX_SIDE_KEY)


FORMAT: Final = Format(
    name="exunit",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("stacktrace:", "1) test ", "on setup_all callback", "Running ExUnit", "Randomized with seed"),
    closings=(r"[0-9]+ (?:doctests?|tests?|properties), (?:[0-9]+ \w+, )?[1-9][0-9]* failures?\b",),
    passes=(r"[0-9]+ (?:doctests?|tests?|properties), (?:[0-9]+ \w+, )*0 failures\b(?!, [1-9][0-9]* invalid)",),
)
