"""Output of `cargo test` and `cargo nextest`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.stacks import rust
from otel_errcompact.extract.stacks.chain import facts_of
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


ASSERTION: Final = "AssertionError"

_HEADING: Final = lazy_pattern(r"\n---- (?P<test>[^\n]{1,300}) stdout ----(?=\n|\Z)")
_END: Final = "\n\nfailures:\n    "
_LISTED: Final = lazy_pattern(r"\n    (?P<test>[\w:<>{}#-]{1,300})(?=\n|\Z)")
_RESULT: Final = lazy_pattern(r"\ntest result: FAILED\. [0-9]{1,9} passed; (?P<failed>[0-9]{1,9}) failed;")
_SUMMARY: Final = lazy_pattern(r"\n *Summary \[[^\]\n]{1,30}\] [^\n]{1,200}? (?P<failed>[0-9]{1,9}) failed")
_DIED: Final = lazy_pattern(
    r"\n  process didn't exit successfully: `(?P<command>[^`\n]{1,500})` \((?P<how>[^\n]{1,200})\)(?=\n|\Z)"
)
_SIGNAL: Final = lazy_pattern(r"SIG[A-Z]{2,8}")
_HASHED: Final = lazy_pattern(r"-[0-9a-f]{16}(?![0-9a-f])")
_DOC_TEST: Final = lazy_pattern(r"(?P<file>\S{1,300}) - (?P<function>\S{1,300})? ?\(line (?P<line>[0-9]{1,9})\)$")
_COMPILE: Final = lazy_pattern(
    r"\nerror(?:\[(?P<code>[A-Z][0-9]{1,6})\])?: (?P<message>[^\n]{1,500})"
    r"(?:\n *--> (?P<file>[^\n:]{1,300}):(?P<line>[0-9]{1,9}))?"
)
_RESULT_LINE: Final = "\ntest result: FAILED"
_CUT_OFF: Final = "the output is cut off before what failed"
_NOT_PANICKED: Final = "note: test did not panic as expected"
_AT: Final = lazy_pattern(r" at (?P<file>[^\s:]{1,300}):(?P<line>[0-9]{1,9})")


def read(text: Text) -> Facts | None:
    """Return the facts of failed tests or a dead program."""
    body = f"\n{text.body}"
    members = _members(body)
    if not members:
        died = _DIED.search(body) if "error: test failed" in body else None
        members = [_died(died)] if died is not None else list(_only_listed(body))
    if not members:
        return None
    total = sum(int(found["failed"]) for form in (_RESULT, _SUMMARY) for found in form.finditer(body))
    return facts_of_members(members, unit="test", total=total)


def _members(body: str) -> list[Member]:
    """Return a member for each test whose output is there; where its heading is cut off, the panic names its test."""
    headings = list(_HEADING.finditer(body))
    before = body[: headings[0].start()] if headings else body
    members = list(_unheaded(before, body))
    for number, found in enumerate(headings[:MAX_MEMBERS]):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(body)
        section = body[found.end() : end]
        members.append(_member(found["test"], section.partition(_END)[0]))
    return members


def _unheaded(before: str, body: str) -> Iterator[Member]:
    """Yield the tests whose panics were printed without a heading: by nextest, uncaptured, or cut."""
    if rust.PANICKED not in before:
        return
    listed = {found["test"] for found in _LISTED.finditer(body)}
    seen: set[str] = set()
    for panic in rust.panics_of(before):
        if panic.thread not in seen and (not listed or panic.thread in listed):
            seen.add(panic.thread)
            yield _panicked(panic.thread, panic)


def _member(test: str, section: str) -> Member:
    """Read what one test printed; the first panic is the cause, whatever thread it happened in."""
    panics = rust.panics_of(section)
    if panics:
        return _panicked(test, panics[0])
    returned = rust.failure_of_main(section)
    if returned is not None:
        facts = facts_of((returned,))
        return Member(facts.type, facts.cause, facts.location, test, facts.details)
    return _compiled(test, section) or _read_words(test, section)


def _panicked(test: str, panic: rust.Panic) -> Member:
    facts = facts_of((panic.failure,))
    is_assertion = facts.cause.startswith("assertion")
    return Member(
        ASSERTION if is_assertion else facts.type,
        facts.cause,
        _location(test, facts.location, is_assertion=is_assertion),
        test,
        facts.details,
        facts.key_cause,
        assertion=is_assertion,
    )


def _location(test: str, place: Location, *, is_assertion: bool) -> Location:
    """
    Return the place of a panic; an expectation is its test's own, and a documentation test's lines are its file's.
    """
    if is_assertion and not _DOC_TEST.match(test):
        return Location(function=test, file=place.file, line=place.line)
    return place


def _compiled(test: str, section: str) -> Member | None:
    """Return why a documentation test does not compile."""
    found = _COMPILE.search(section)
    if found is None:
        return None
    place = Location(file=found["file"], line=int(found["line"])) if found["file"] else NOWHERE
    return Member(found["code"] or "error", found["message"], place, test)


def _read_words(test: str, section: str) -> Member:
    """Return the last line that a test printed, if that is all that is known of it."""
    lines = [line for line in section.split("\n") if line.strip()]
    last = lines[-1].strip() if lines else "failed without a word"
    place = _AT.search(last)
    cause = last.removeprefix("note: ")
    if place is None or not last.startswith(_NOT_PANICKED):
        return Member(ASSERTION, clip(cause), Location(function=test), test, assertion=True)
    where = Location(function=test, file=place["file"], line=int(place["line"]))
    return Member(ASSERTION, "test did not panic as expected", where, test, assertion=True)


def _only_listed(body: str) -> Iterator[Member]:
    """Yield the tests of which no more is left than that they failed."""
    at = body.rfind(_END.lstrip("\n"))
    listed = body[at : body.find(_RESULT_LINE, at)] if at >= 0 and _RESULT_LINE in body else ""
    for found in islice(_LISTED.finditer(listed), MAX_MEMBERS):
        yield Member("Failed", _CUT_OFF, name=found["test"], key=found["test"])


def _died(found: re.Match[str]) -> Member:
    """Return the death of a test program by a signal, which fails all tests that were still to run."""
    signal = _SIGNAL.search(found["how"])
    command = _HASHED.sub("", found["command"])
    cause = f"process didn't exit successfully: {command.rpartition('/')[2]} ({found['how']})"
    return Member(signal[0] if signal else "test failed", cause)


FORMAT: Final = Format(
    name="cargotest",
    read=read,
    markers=(
        " stdout ----",
        "test result: FAILED",
        "error: test failed",
        "error: test run failed",
        "to rerun pass",
    ),
    programs=("cargo test", "cargo nextest"),
    closings=(
        r"test \S{1,200} \.\.\. FAILED",
        r" {4,20}FAIL \[ {0,5}[0-9.]+s\] ",
        r"test result: FAILED",
    ),
    passes=(
        r"test result: ok\.",
        r" {4,20}Summary \[[^\n]*\b[0-9]+ passed\b(?![^\n]*failed)",
    ),
)
