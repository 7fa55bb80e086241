"""What a runner prints for one failed test."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.cleaning.characters import is_cut
from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.findings.places import Place, find_place
from otel_errcompact.extract.forms import Lines, form, place_of
from otel_errcompact.extract.members import Member
from otel_errcompact.extract.statements import indentation, is_telling, statement_of, strip_timestamp
from otel_errcompact.runtime.lazy import lazy_pattern

ASSERTION: Final = "AssertionError"
FAILED: Final = "TestFailure"
NO_REASON: Final = "failed; the reason is not in the text"

_MAX_LINES: Final = 120
_MAX_VALUES: Final = 240
"""Characters of values that are told in the cause."""

_MAX_OTHERS: Final = 6
_FRAME: Final = lazy_pattern(
    r"\s*(?:(?:at|from|in|by) |[\u203a#@\u25b6] ?|-> ?|\(in test file |Failed at |(?:test|tests|spec|package)[/:])"
)
_EXCERPT: Final = form(
    r"\s*(?P<mark>[>\u2771\u25b6]?)\s*{number} ?[|:\u2502\u2506] ?(?P<code>.*)|\s*[>\u2771] {number} (?P<marked>\S.*)"
)
_CARETS: Final = form(r"[\s|\u2502:]*[\^~\u2501\u2500-]*[\^~][\s^~-]*$")
_VALUE: Final = form(
    r"(?i)\s*(?P<label>expected|actual|received|got|but (?:got|was)|obtained|found|wanted?|evaluated|expression|left"
    r"|right|which(?: is)?|passed in|with expansion|values?|result|output|exit code|returned|difference|diff)(?=(?: "
    r"(?:value|result|was|object|string|is))?(?: ?[:=<(]| {2,}|$))(?P<rest>.{0,300})$"
)
_TITLE: Final = form(
    r"\s*(?:Message|Stack(?:trace)?|Error Message|Stack Trace|Failures?|Errors?|Error|Difference|logic|Logs?|Output"
    r"|Error thrown in test|Differences?)(?: \([^)]{1,60}\))?:$"
)
_CHANGED: Final = form(r"\s*(?:[-+]|--|\+\+)(?![-+]) *\S")
_COUNTED_DIFF: Final = form(r"\s*[-+] (?:Expected|Received|expected|actual|Actual) {1,2}[-+] ?{number}$")
_RULE: Final = form(r"[\s=_*.\u2500-\u257f-]{4,}$")
_END: Final = form(
    r"\s*(?:[\u2713\u2714\u221a\u25cf] (?!(?:Given|When|Then|And|But) )|\u2705|ok\b|PASS\b|passed\b|\(pass\)|\[\+\]"
    r"|\[       OK \]|\[[-=]{10}\]|\[  PASSED  \]|\[ FAIL [0-9]|\u2550\u2550 |(?:Failing|Failed|Errored) \w{1,20}:$"
    r"|test cases: |assertions: |Test Summary|Captured |--- Captured|Test(?:s| Suites?)?:? {1,6}[0-9]|Finished in "
    r"|Ran [0-9]|Results?:|Summary|{number} (?:tests?|specs?|examples?|passed)\b|FAILURES$|ERRORS$)|.{1,400}"
    r"(?:\.\.\. ?ok\b|\| PASS \|$|: OK$|\bPASSED$)"
)
_BARE_FRAME: Final = form(r"\s*(?:at [<\w]|package:|\[{number}\] \w)")
_OF_DART: Final = form(r"\s*(?P<file>{path}\.dart) {line}:{number} {1,60}\S")
_VERDICT_BEFORE: Final = form(r"(?:ERROR|[Ee]rror|Failure|FAILED): ?")
_VERDICT: Final = form(r"\s*:? *(?:Failure|FAILED|FAIL|ERROR|Error)?:?$")
_STEP: Final = form(r"\s*[\u2714\u2713\u2716-]? ?(?:Given|When|Then|And|But) .{1,300}$")
_UNDEFINED: Final = lazy_pattern(r"\s*(?P<step>(?:Given|When|Then|And|But) .{1,300}?) +# None$|.*Undefined\. Implement")
_OF_LIBRARIES: Final = (
    "node_modules/", "site-packages/", "node:", "ext:", "/usr/lib", "internal/", "<Jasmine>", "vendor/", ".pub-cache",
    "/share/julia/", "/.julia/packages/",
    "package:test", "lib/python", "https://",
)  # fmt: skip
_EXPECTING: Final = form(r"(?i)expect|assert|equal|should|to ?be\b|require|match|==|!=|CHECK")
_EMPTY: Final = (_RULE, _TITLE, _CARETS)
_STOP: Final = form(r"(?i)\s*(?:stdout|stderr|console\.\w{1,10}|captured .{1,40}|standard (?:output|error))[ :]*$")


def read_block(
    name: str, lines: Lines, location: Location = NOWHERE, said: str = "", *, is_exact: bool = False
) -> Member:
    """
    Return a failed test from the lines printed for it.

    The line with its name gives its place, and may say something of the failure. Unless that place is the one of the
    failure (`is_exact`), the lines tell a nearer one.
    """
    parts = _Reading(lines[:_MAX_LINES])
    words = [said, *parts.words] if said else parts.words
    statements = [line for line in words if statement_of(line) is not None]
    cause = (
        next(iter(statements), "") or next(filter(is_telling, words), "") or next(filter(_EXPECTING.search, words), "")
    )
    cause = cause or next((line for line in words if not _STEP.match(line)), "")
    stated = statement_of(cause)
    kind = stated.type if stated is not None and stated.type not in ("error", "Error", "fatal") else ""
    cause = stated.message or cause if stated is not None else cause
    listed = _read_listed(cause, lines) if cause.endswith(":") else ""
    cause = f"{cause} {listed}" if listed else cause
    values = "" if listed else "; ".join(value for value in parts.values if value not in cause)
    changes = " | ".join(parts.changes[:8])
    others = [line for line in words if line not in cause and cause not in line]
    told = _join_cause(cause, values if len(values) <= _MAX_VALUES else "", changes if not values else "")
    is_assertion = not kind or "Assert" in kind or "Expectation" in kind
    asserted = ASSERTION if parts.values or parts.changes or _EXPECTING.search(told) else FAILED
    kind = asserted if is_assertion else kind
    place = location if location and (is_exact or not parts.place) else parts.place
    return Member(
        kind,
        clip(told) or NO_REASON,
        Location(function=name if is_assertion and name != place.file else "", file=place.file, line=place.line),
        name,
        (
            *((f"> {parts.source}",) if parts.source else ()),
            *(parts.values if values and values not in told else ()),
            *others[:_MAX_OTHERS],
        ),
        assertion=is_assertion,
    )


def ends_block(line: str) -> bool:
    """Tell whether a line ends what is said of a failed test."""
    return _END.match(line) is not None or is_cut(line)


def _read_listed(cause: str, lines: Lines) -> str:
    at = next((number for number, line in enumerate(lines) if line.rstrip().endswith(cause)), len(lines))
    margin = indentation(lines[at]) if at < len(lines) else 0
    below = takewhile(lambda line: line.strip() and indentation(line) > margin, lines[at + 1 : at + 7])
    return clip("; ".join(" ".join(line.split()) for line in below), _MAX_VALUES)


def _join_cause(cause: str, values: str, changes: str) -> str:
    more = values or changes
    if not cause or not more:
        return cause or more
    return f"{cause.rstrip(':. ')}: {more}"


class _Reading:
    """The lines of a failed test, sorted while they are read."""

    def __init__(self, lines: Lines) -> None:
        self.words: list[str] = []
        self.values: list[str] = []
        self.changes: list[str] = []
        self.source = ""
        self.place = NOWHERE
        self._lines = lines
        number = 0
        while number < len(lines):
            line = strip_timestamp(lines[number].replace("`", ""))
            if _STOP.match(line):
                break
            number = self._read_line(line, number + 1)

    def _read_line(self, line: str, following: int) -> int:
        if not line.strip() or any(form.match(line) for form in _EMPTY):
            return following
        place = find_place(line)
        if self._read_frame(line, place) or self._read_excerpt(line, following) or self._read_step(line):
            return following
        if place is not None and not place.before.strip() and place.behind[:1] == ":":
            line = _VERDICT_BEFORE.sub("", place.behind[1:].strip())
        if place is not None and not _STEP.match(line):
            self._set_place(place.location, line)
        return self._read_words(line, following)

    def _set_place(self, place: Location, line: str) -> None:
        if not self.place and not any(part in line for part in _OF_LIBRARIES):
            self.place = place

    def _read_frame(self, line: str, place: Place | None) -> bool:
        of_dart = _OF_DART.match(line)
        if of_dart is not None:
            self._set_place(place_of(of_dart), line)
            return True
        if place is None:
            return _BARE_FRAME.match(line) is not None
        is_alone = not place.before.strip(" (") and _VERDICT.match(place.behind.strip(" )")) is not None
        if is_alone or _FRAME.match(line):
            self._set_place(place.location, line)
            return True
        return _BARE_FRAME.match(line) is not None

    def _read_excerpt(self, line: str, following: int) -> bool:
        excerpt = None if _VALUE.match(line) else _EXCERPT.match(line)
        if excerpt is None:
            return False
        below = self._lines[following] if following < len(self._lines) else ""
        if excerpt["marked"] or excerpt["mark"] or _CARETS.match(below):
            self.source = (excerpt["code"] or excerpt["marked"] or "").strip()
        return True

    def _read_step(self, line: str) -> bool:
        found = _UNDEFINED.match(line)
        if found is not None:
            self.words.append(f"undefined step: {found['step'] or ' '.join(self.words[-1:])}")
        return found is not None

    def _read_words(self, line: str, following: int) -> int:
        said = " ".join(line.split())
        value = _VALUE.match(line)
        if value is not None:
            below = self._lines[following].strip() if following < len(self._lines) else ""
            if value["rest"].strip(" :"):
                self.values.append(said)
            elif below and not _VALUE.match(below):
                self.values.append(f"{value['label'].lower()} {below}")
                return following + 1
        elif _CHANGED.match(line):
            if not _COUNTED_DIFF.match(line):
                self.changes.append(said)
        elif line.strip(" {}[](),"):
            self.words.append(said)
        return following
