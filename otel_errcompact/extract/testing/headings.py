"""Lines that name a failed test, and lines that count failed tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.findings.places import is_file
from otel_errcompact.extract.forms import Lines, form, place_of
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

_TIME: Final = r"(?: *[\[(]?\b[0-9][0-9.,]{0,11} ?(?:ms|s|m|sec|\u00b5s|us)\b[^\n]{0,40})?"
_MAX_LINE: Final = 600


class _Form(NamedTuple):
    needle: str
    form: re.Pattern[str]
    is_sure: bool = True
    """Whether no other text has this form; else the text must count failed tests."""

    is_below: bool = False
    """Whether the line stands below what is said of the test."""

    is_whole: bool = True
    """Whether something is said of the test around the line."""

    is_exact: bool = False
    """Whether its place is the one of the failure, and not where the test begins."""

    is_in_file: bool = False
    """Whether it names no test, and the line two above the file."""


def _make_form(needle: str, pattern: str, **signs: bool) -> _Form:
    return _Form(needle, form(pattern.replace("{time}", _TIME)), **signs)


_FORMS: Final = (
    _make_form("(fail) ", r"\(fail\) (?P<name>\S.{0,400}?){time}$", is_below=True),
    _make_form("# Unhandled error between tests", r"# Unhandled error between tests$", is_in_file=True),
    _make_form("[  FAILED  ] ", r"\[  FAILED  \] (?P<name>[^\s,0-9][^\s,]{0,400}).{0,200}?{time}$", is_below=True),
    _make_form("| FAIL |", r"(?P<name>\S.{0,300}?) {0,200}\| FAIL \|$"),
    _make_form(" => ", r"(?P<name>\S.{0,400}) => {file}:{line}:{number}$"),
    _make_form(" in (", r"(?:FAIL|ERROR) in \((?P<name>[^()]{1,300})\) \((?P<file>[^():]{1,300}):{line}\)$"),
    _make_form(" at ", r"(?P<name>.{0,300}?)(?:: )?(?:Test Failed|Error During Test) at {file}:{line}$"),
    _make_form(
        "): ",
        r" {0,4}(?:\u2500\u2500 )?(?:{number}\. )?(?:Failure|Error) \('?(?P<file>[^():']{1,300}):{line}"
        r"(?::{number})?'?\): (?P<name>.{1,300}?) ?\u2500*$",
    ),
    _make_form(" [E]", r"[0-9:]{4,9} \+{number}(?: ~{number})? -{number}: (?P<name>.{1,400}?) \[E\]$"),
    _make_form("[FAIL", r"\[FAIL(?:[.:] (?:Reason: )?(?P<said>.{1,400}?))?\] (?P<name>\w{1,200}\(.{0,200}?\)).{0,80}$"),
    _make_form(
        ": error: ",
        r"(?:<unknown>|{file}):{line}: error: (?:-\[(?P<objc>[^\]]{1,300})\]|(?P<name>\w{1,100}\.test\w{0,200}))"
        r" : (?P<said>\S.*)$",
        is_exact=True,
    ),
    _make_form("[-] ", r"\s{0,12}\[-\] (?P<name>\S.{0,400}?) [0-9.,]{1,12} ?m?s(?: \(.{1,60}\))?$"),
    _make_form('FAIL  "', r"\s{0,6}FAIL {1,4}\"(?P<name>[^\"]{1,400})\"$"),
    _make_form(": FAILED:", r"{file}:{line}: FAILED:$", is_exact=True),
    _make_form("TEST CASE: ", r"TEST CASE: {1,4}(?P<name>\S.{0,300})$", is_sure=False),
    _make_form(
        "[fail]: ", r"\s{0,8}\S{1,2} \[fail\]: (?P<name>\S.{0,400}?)(?: Error thrown in test)?{time}$", is_whole=False
    ),
    _make_form("[FAILED] ", r"\s{0,8}\[FAILED\] (?P<name>\S.{0,400}?){time}$", is_sure=False),
    _make_form(" @ ", r"(?:Failure|Error) (?:\u2192|->) {file} @ {line}$"),
    _make_form(
        "Scenario",
        r"\s{0,8}(?:{number}\) )?Scenario(?: Outline)?: (?P<name>\S.{0,300}?)(?: +# {file}:{line})?$",
        is_sure=False,
    ),
    _make_form(
        "FAIL",
        r"(?P<name>[\w\"'/.:<>#-][^|\n]{0,300}?)(?: ?\.{2,80} ?| \.\.\. | +)\*{0,3}(?:FAIL|FAILED|Failed)(?![\w:])"
        r"{time}$",
        is_sure=False,
        is_whole=False,
    ),
    _make_form(
        "FAIL",
        r"\s{0,4}(?:FAIL|FAILED)(?::| -)? {1,4}(?P<name>[^\s(\[|=:*].{0,400}?){time}(?: +[0-9]{1,3}%)?$",
        is_sure=False,
    ),
    _make_form(
        "",
        r"\s{0,12}[\u2717\u2718\u2716\u2715\u00d7\u274c]\ufe0f? {1,3}"
        r"(?P<name>(?!(?:Given|When|Then|And|But) )[^\s\[|].{0,400}?){time}$",
        is_sure=False,
    ),
    _make_form(") ", r"\s{0,6}{number}\) (?P<name>\S.{0,400})$", is_sure=False),
)
_SURE_NEEDLES: Final = tuple(row.needle for row in _FORMS if row.is_sure)
_MARKS: Final = frozenset("\u2717\u2718\u2716\u2715\u00d7\u274c")
_LISTED: Final = form(r" {2,8}{file}:{line} {1,3}(?:# )?(?P<name>\S.{0,300})$")
_LIST_TITLE: Final = form(r"(?:Failing|Failed|Errored) (?:scenarios|tests|specs|examples):$")

_ENDS_OF_TITLES: Final = (" scenarios:", " tests:", " specs:", " examples:")

_COUNT: Final = form(
    r"(?:\b(?P<before>[1-9][0-9]{0,6}) (?:\w{1,12} )?(?:failed|failing|failures?|fail|errors?|broken|not ok)\b"
    r"|\b(?:failed|failures?|fail|errors)\b ?[:=] ?(?P<behind>[1-9][0-9]{0,6})\b| -(?P<minus>[1-9][0-9]{0,6}): )"
)
_BESIDE: Final = form(
    r"\b(?:{number} (?:\w{1,12} )?(?:pass(?:ed|ing|es)?|succe\w{1,12}|ok|skipped|pending|ignored|tests?|specs?"
    r"|scenarios?|examples?|assertions?|checks?|total|cases?|suites?)"
    r"|(?:pass(?:ed|ing)?|tests?|total|succeeded)(?: \w{1,12})? ?[:=|] ?{number})\b|[0-9] \+[0-9]"
)
_NEAR_COUNT: Final = form(
    r"[1-9](?:(?<=[DELSdels ][:=].)|(?<=[DELSdels ][:=] .)|(?<= -.)"
    r"|[0-9]{0,6} (?:\w{1,12} )?(?i:fail|error|broken|not ok))"
)
"""Matches in each text with such a count; it begins with a digit, which few places hold."""

_ONLY_COUNT: Final = form(r"\s*[1-9][0-9]{0,6} (?:FAILED TESTS?|fail|failed|failures?)$")


class Heading(NamedTuple):
    """The line that names a failed test."""

    number: int
    name: str
    location: Location
    said: str
    is_sure: bool
    is_below: bool
    is_whole: bool
    is_exact: bool = False


def may_name_tests(body: str) -> bool:
    """Tell for little whether a text may have lines that only runners of tests print."""
    return has_any(body, _SURE_NEEDLES) or has_any(body, _ENDS_OF_TITLES)


def find_headings(lines: Lines, body: str) -> Iterator[Heading]:
    """Yield the failed tests that lines of a text name."""
    has_mark = not _MARKS.isdisjoint(body)
    forms = [row for row in _FORMS if (row.needle in body if row.needle else has_mark)]
    for number, line in enumerate(lines if forms else ()):
        found = _find_heading(lines, number, forms) if line and len(line) <= _MAX_LINE else None
        if found is not None:
            yield found


def _find_heading(lines: Lines, number: int, forms: Sequence[_Form]) -> Heading | None:
    line = lines[number]
    for row in forms:
        found = row.form.match(line) if row.needle in line else None
        if found is None:
            continue
        parts = found.groupdict()
        file = parts.get("file") or ""
        if file and not is_file(file):
            continue
        place = parts.get("line")
        location = Location(file=file.removeprefix("./"), line=int(place) if place else None) if file else NOWHERE
        name = (parts.get("name") or parts.get("objc") or "").strip(" .:\"'")
        if name and not any(map(str.isalpha, name)):
            continue
        if row.is_in_file and number > 1 and is_file(above := lines[number - 2].removesuffix(":")):
            name, location = above, Location(file=above)
        return Heading(number, name, location, parts.get("said") or "", *row[2:-1])
    return None


def read_list(lines: Lines) -> list[Heading]:
    """Return the failed tests that a list at the end names."""
    found: list[Heading] = []
    listing = False
    for number, line in enumerate(lines):
        if line.endswith(":") and _LIST_TITLE.match(line):
            listing = True
        elif listing and line:
            row = _LISTED.match(line)
            listing = row is not None
            if row is not None:
                place = place_of(row)
                found.append(Heading(number, row["name"], place, "", True, False, False))
    return found


class Count(NamedTuple):
    """How many tests failed, in the runner's words."""

    failed: int
    said: str


def find_count(lines: Lines, body: str) -> Count | None:
    """Return the last line that counts failed tests beside others."""
    for number in range(len(lines) - 1 if _NEAR_COUNT.search(body) else -1, -1, -1):
        line = lines[number]
        if len(line) > _MAX_LINE or _NEAR_COUNT.search(line) is None:
            continue
        lowered = line.lower()
        if _COUNT.search(lowered) is None:
            continue
        around = " ".join(lines[max(0, number - 2) : number + 2]).lower()
        if _BESIDE.search(_COUNT.sub("", lowered)) or (
            _ONLY_COUNT.match(line) and _BESIDE.search(_COUNT.sub("", around))
        ):
            counted = sum(int(next(filter(None, each.groups()))) for each in _COUNT.finditer(lowered))
            return Count(counted, " ".join(line.strip("= |").split()))
    return None
