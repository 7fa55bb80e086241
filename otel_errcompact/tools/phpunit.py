"""Failed tests of PHPUnit and Pest."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Location,
    Text,
    find_blocks,
    form,
    place_of,
)
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.stacks.php import is_own
from otel_errcompact.runtime.records import replace

ASSERTION: Final = "AssertionError"

_NUMBERED: Final = form(r"{number}\) (?P<name>[A-Za-z_][\w\\]{0,300}::\S.*)$")
_TESTDOX: Final = form(r" [\u2718\u2716E\u00d7] (?P<name>\S.{0,300}?)(?: \[[0-9.]{1,12} m?s\])?$")
_PEST: Final = form(r"\s{0,4}FAILED {2}(?P<name>\S.*?)(?: {2,}(?P<type>[A-Z][\w\\]{2,200}))? *$")
_PEST_PLACE: Final = form(r"\s{0,4}at (?P<file>\S.{0,300}):{line}$")
_PLACE: Final = form(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]{0,400}\.(?:php|phpt|inc)):{line}$")
_TYPED: Final = form(r"(?P<type>[A-Za-z_]\w{0,100}(?:\\\w{1,100}){0,20}): (?P<message>.*)$")
_ASSERTIONS: Final = ("PHPUnit\\Framework\\ExpectationFailedException", "PHPUnit\\Framework\\AssertionFailedError")
_TOTAL: Final = form(r"(?m)^Tests: {number}, Assertions: {number}(?P<counts>(?:, [\w ]{1,40}: {number}){0,12})\.$")
_PEST_TOTAL: Final = form(r"(?m)^  Tests: {1,6}(?P<count>{number}) failed")
_COUNT: Final = form(r"(?:Errors|Failures): (?P<count>{number})")
_ENDS: Final = ("ERRORS!", "FAILURES!", "WARNINGS!", "Time: ", "Tests: ")
_MAX_CAUSE_LINES: Final = 2
_MAX_DIFFERENCE: Final = 6


def read(text: Text) -> Facts | None:
    """Return the facts of the failed tests in `text`."""
    total = _count_failures(text.body)
    members = (
        _build_member(block.head, block.lines, is_sure=total > 0) for block in find_blocks(text.lines, _match_test)
    )
    return facts_of_members(filter(None, members), unit="test", total=total)


def _match_test(line: str) -> Found | None:
    if line[:1].isdigit():
        return _NUMBERED.match(line)
    if "FAILED  " in line:
        return _PEST.match(line)
    return _TESTDOX.match(line) if line[:1] == " " else None


def _count_failures(body: str) -> int:
    found = _TOTAL.search(body)
    if found is not None:
        return sum(int(count["count"]) for count in _COUNT.finditer(found["counts"]))
    pest = _PEST_TOTAL.search(body)
    return int(pest["count"]) if pest is not None else 0


def _build_member(found: Found, lines: Lines, *, is_sure: bool) -> Member | None:
    # Unless the output is surely PHPUnit's, a failure must tell its place.
    said, places = _split_parts(lines)
    if not said or not (places or (is_sure and "::" in found["name"])):
        return None
    name = found["name"].rpartition("\\")[2] if "::" in found["name"] else found["name"]
    place = next((place for place in places if is_own(place.file)), places[0] if places else Location(function=name))
    typed = _TYPED.match(said[0])
    kind = typed["type"] if typed is not None else found.groupdict().get("type") or ""
    if kind and kind not in _ASSERTIONS:
        message = typed["message"] if typed is not None else said[0]
        return Member(kind, message or "no message", place, name, tuple(said[1:3]))
    text = [typed["message"], *said[1:]] if typed is not None else said
    function = name.partition(" with data set")[0]
    if function.partition("::")[0] == place.file_name.partition(".")[0]:
        place = replace(place, function=function)
    return Member(ASSERTION, _join_expectation(text), place, name, assertion=True)


def _join_expectation(said: Lines) -> str:
    # Return what was expected, with the difference where the values are only shown as one.
    marks = ("---", "+++", "@@ ")
    difference = [line for line in said if line[:1] in "-+" and not line.startswith(marks)]
    if not difference:
        return " ".join(said[:_MAX_CAUSE_LINES])
    first = next(number for number, line in enumerate(said) if line.startswith(marks) or line in difference)
    return f"{' '.join(said[:first]).rstrip('.')}: {' '.join(difference[:_MAX_DIFFERENCE])}"


def _split_parts(lines: Lines) -> tuple[list[str], list[Location]]:
    said: list[str] = []
    places: list[Location] = []
    for raw in lines:
        line = raw.strip(" \u2502\u2570\u2574\u2500|")
        if raw == "--" or raw.startswith(_ENDS):
            break
        found = _PEST_PLACE.match(raw) or _PLACE.match(line)
        if found is not None:
            if said and not places:
                said[-1] = said[-1].removesuffix(" at")
            places.append(place_of(found))
        elif line and not places:
            said.append(line)
    return said, places


FORMAT: Final = Format(
    name="phpunit",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("PHPUnit ", "Assertions: ", "Failed asserting ", "FAILED  ", "FAILURES!"),
    commands=(Command("phpunit, pest, paratest"),),
    closings=(r"There (?:was|were) [1-9][0-9]* (?:failures?|errors?):", r"(?:FAILURES|ERRORS)!$"),
    passes=(r"OK(?:, but [^\n]*| \([0-9]+ tests?[^\n]*)$",),
)
