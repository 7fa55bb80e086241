"""Output of `cargo test` and `cargo nextest`."""

from __future__ import annotations

from itertools import islice
from typing import Final

from otel_errcompact.extract.grammar import Facts, Format, Found, Location, Members, Text, clip, form, place_of
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members, to_member
from otel_errcompact.extract.stacks import rust
from otel_errcompact.extract.stacks.chain import facts_of

ASSERTION: Final = "AssertionError"

_HEADING: Final = form(r"\n---- (?P<test>[^\n]{1,300}) stdout ----(?=\n|\Z)")
_END: Final = "\n\nfailures:\n    "
_LISTED: Final = form(r"\n    (?P<test>[\w:<>{}#-]{1,300})(?=\n|\Z)")
_RESULT: Final = form(r"\ntest result: FAILED\. {number} passed; (?P<failed>{number}) failed;")
_SUMMARY: Final = form(r"\n *Summary \[[^\]\n]{1,30}\] [^\n]{1,200}? (?P<failed>{number}) failed")
_DIED: Final = form(
    r"\n  process didn't exit successfully: `(?P<command>[^`\n]{1,500})` \((?P<how>[^\n]{1,200})\)(?=\n|\Z)"
)
_SIGNAL: Final = form(r"SIG[A-Z]{2,8}")
_HASHED: Final = form(r"-[0-9a-f]{16}(?![0-9a-f])")
_DOC_TEST: Final = form(r"(?P<file>{word}) - (?P<function>{word})? ?\(line {line}\)$")
_COMPILE: Final = form(
    r"\nerror(?:\[(?P<code>[A-Z]{number})\])?: (?P<message>[^\n]{1,500})(?:\n *--> (?P<file>[^\n:]{1,300}):{line})?"
)
_RESULT_LINE: Final = "\ntest result: FAILED"
_CUT_OFF: Final = "the output is cut off before what failed"
_NOT_PANICKED: Final = "note: test did not panic as expected"
_AT: Final = form(r" at {file}:{line}")


def read(text: Text) -> Facts | None:
    """Return the facts of failed tests or a dead program."""
    body = f"\n{text.body}"
    members = _read_members(body)
    if not members:
        died = _DIED.search(body) if "error: test failed" in body else None
        members = [_build_signal_member(died)] if died is not None else list(_only_listed(body))
    if not members:
        return None
    total = sum(int(found["failed"]) for form in (_RESULT, _SUMMARY) for found in form.finditer(body))
    return facts_of_members(members, unit="test", total=total)


def _read_members(body: str) -> list[Member]:
    # Return a member for each test whose output is there; where its heading is cut off, the panic names its test.
    headings = list(_HEADING.finditer(body))
    before = body[: headings[0].start()] if headings else body
    members = list(_read_unheaded_panics(before, body))
    for number, found in enumerate(headings[:MAX_MEMBERS]):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(body)
        section = body[found.end() : end]
        members.append(_read_test(found["test"], section.partition(_END)[0]))
    return members


def _read_unheaded_panics(before: str, body: str) -> Members:
    # Yield the tests whose panics were printed without a heading: by nextest, uncaptured, or cut.
    if rust.PANICKED not in before:
        return
    listed = {found["test"] for found in _LISTED.finditer(body)}
    seen: set[str] = set()
    for panic in rust.panics_of(before):
        if panic.thread not in seen and (not listed or panic.thread in listed):
            seen.add(panic.thread)
            yield _build_panic_member(panic.thread, panic)


def _read_test(test: str, section: str) -> Member:
    # Read what one test printed; the first panic is the cause, whatever thread it happened in.
    panics = rust.panics_of(section)
    if panics:
        return _build_panic_member(test, panics[0])
    returned = rust.failure_of_main(section)
    if returned is not None:
        return to_member(facts_of((returned,)), test)
    return _read_compile_error(test, section) or _read_words(test, section)


def _build_panic_member(test: str, panic: rust.Panic) -> Member:
    member = to_member(facts_of((panic.failure,)), test)
    if not member.cause.startswith("assertion"):
        return member
    # An expectation is its test's own; the lines of a documentation test are those of its file.
    place = member.location
    place = place if _DOC_TEST.match(test) else Location(function=test, file=place.file, line=place.line)
    return member._replace(type=ASSERTION, location=place, assertion=True)


def _read_compile_error(test: str, section: str) -> Member | None:
    # Return why a documentation test does not compile.
    found = _COMPILE.search(section)
    if found is None:
        return None
    return Member(found["code"] or "error", found["message"], place_of(found), test)


def _read_words(test: str, section: str) -> Member:
    # Return the last line that a test printed, if that is all that is known of it.
    lines = [line for line in section.split("\n") if line.strip()]
    last = lines[-1].strip() if lines else "failed without a word"
    place = _AT.search(last)
    cause = last.removeprefix("note: ")
    if place is None or not last.startswith(_NOT_PANICKED):
        return Member(ASSERTION, clip(cause), Location(function=test), test, assertion=True)
    where = Location(function=test, file=place["file"], line=int(place["line"]))
    return Member(ASSERTION, "test did not panic as expected", where, test, assertion=True)


def _only_listed(body: str) -> Members:
    # Yield the tests of which no more is left than that they failed.
    at = body.rfind(_END.lstrip("\n"))
    listed = body[at : body.find(_RESULT_LINE, at)] if at >= 0 and _RESULT_LINE in body else ""
    for found in islice(_LISTED.finditer(listed), MAX_MEMBERS):
        yield Member("Failed", _CUT_OFF, name=found["test"], key=found["test"])


def _build_signal_member(found: Found) -> Member:
    # Return the death of a test program by a signal, which fails all tests that were still to run.
    signal = _SIGNAL.search(found["how"])
    command = _HASHED.sub("", found["command"])
    cause = f"process didn't exit successfully: {command.rpartition('/')[2]} ({found['how']})"
    return Member(signal[0] if signal else "test failed", cause)


FORMAT: Final = Format(
    name="cargotest",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=(" stdout ----", "test result: FAILED", "error: test failed", "error: test run failed", "to rerun pass"),
    closings=(r"test \S{1,200} \.\.\. FAILED", r" {4,20}FAIL \[ {0,5}[0-9.]+s\] ", r"test result: FAILED"),
    passes=(r"test result: ok\.", r" {4,20}Summary \[[^\n]*\b[0-9]+ passed\b(?![^\n]*failed)"),
)
