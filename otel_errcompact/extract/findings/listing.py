"""Lists of findings: lines, rows below a file, blocks around a place."""

from __future__ import annotations

from typing import Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.evidence.kinds import is_content
from otel_errcompact.extract.findings.places import Place, find_place, names_file
from otel_errcompact.extract.findings.wording import Wording, read_wording
from otel_errcompact.extract.forms import Lines, form
from otel_errcompact.extract.statements import strip_timestamp
from otel_errcompact.runtime.lazy import lazy_pattern

MAX_FINDINGS: Final = 1_000
"""Findings of one text that are looked at."""

_MAX_LINE: Final = 1_000
"""Characters of a line that may state a finding."""

_AHEAD: Final = 8
"""Lines behind a place in which its message is looked for, and lines that continue one."""

_ROW: Final = form(
    r"\s{0,12}(?P<before>(?:[\u2716\u00d7\u2717\u26a0\u2139!] {1,4})?(?:[A-Z]{1,5}[0-9]{2,5} {1,4})?)(?:L:? {0,5}"
    r"|[Ll]ine {1,3}|\[)?{line}(?P<column>(?: {0,3}[:,|] {0,3}(?:P: {0,5}|[Cc]ol(?:umn)? {0,3})?){number})?"
    r"(?P<between>\]?[:|] {0,6}| {1,2}[|\u2502-] {1,6}| {1,16}|\t)(?P<said>\S.*)"
)
_HEADING: Final = form(
    r"(?:[^\w./\\@-]{1,6}|-{2,}+ ?)?(?:(?:FILE|File|file|Line|Linting|Checking|Error in|In|in) ?:? +)?\[?(?P<file>"
    r"(?:[A-Za-z]:[\\/])?[^\s:\[\]|,;]{1,300})\]?(?: (?:FAIL|FAILED|ERROR|--? {number} .{1,30}|\([^()]{1,40}\)"
    r"|{number} (?:errors?|problems?|issues?)))?:?[ \u2500-]*$"
)
_SOURCE: Final = form(r"\s*(?:>\s*)?{number}\s{0,3}[|\u2502\u2506\t:]|\s*[|\u2502]")
_EXCERPT: Final = form(r"\s{0,12}(?:>\s*)?L?{line} ?[|\u2502:]")
_CARETS: Final = form(r"[\s|\u2502]*[\^~][\s^~-]*")
_PREPOSITION: Final = form(r" ?(?:,? (?:in|at|on|from)|[(\[:]|->)$")
_ARROW: Final = form(
    r"[\s|]*(?:[-=]{1,3}>|[\u2500-\u259f\u2570-]{1,6}[>\[]?|[(@,-]{1,3}\[?|:::|at|on|in|In|Location:?|File:?|Path:?|Source:?)?"
    r"[\s\[(:]*$"
)
_BEHIND_BARE: Final = lazy_pattern(r"[\])\s:,.]*(?:, in [^:]{1,200}:?|\([^()]{1,80}\)|#\([\w./]{1,80}\))?$")
_TITLES: Final = frozenset({"", "In", "in", "File", "at"})
"""What stands before a place whose message is below it."""

_STACK: Final = lazy_pattern(r"\s*(?:at|from|by|#[0-9]{1,4}|called) |.*\b0x[0-9a-f]{4,}")
_NEAR: Final = form(r"[.,;)]?(?:,? near [\"'].{0,200})?\.?$")
_PASSED: Final = form(r"\s*(?:PASSED|PASS|ok|OK|passed|\u2713|\u2714)\b")


class Finding(NamedTuple):
    """One finding, as far as a text tells it."""

    said: Wording
    location: Location = NOWHERE
    source: str = ""


def read_findings(lines: Lines) -> list[Finding]:
    """Return the findings of a text in its order."""
    found = _Listing(lines)
    number = 0
    while number < len(lines) and len(found.findings) < MAX_FINDINGS:
        number = found.read(number)
    return found.findings


class _Listing:
    """The lines of a text while they are read."""

    def __init__(self, lines: Lines) -> None:
        self.findings: list[Finding] = []
        self._lines = lines
        self._heading = ""
        self._read_to = 0

    def read(self, number: int) -> int:
        """Read one line, and return the number of the next one."""
        line = self._lines[number]
        if not line or len(line) > _MAX_LINE:
            return number + 1
        if line[0].isspace() or line[0].isdigit() or ":" in line or "|" in line:
            row = self._read_row(number) or self._read_marked(number)
            if row:
                return row
        place = find_place(line)
        if place is not None:
            return self._read_place(number, place)
        heading = _HEADING.match(line)
        if heading is not None and names_file(heading["file"]):
            self._heading = heading["file"].removeprefix("./")
        return number + 1

    def _add_finding(self, said: Wording, location: Location, source: str = "") -> None:
        if said.message:
            self.findings.append(Finding(said, location, source))

    # --- rows below the name of a file -------------------------------------------------------------------------------

    def _read_row(self, number: int) -> int:
        found = _ROW.match(self._lines[number]) if self._heading else None
        if found is None:
            return 0
        said = read_wording(found["said"], is_row=True)
        coded = read_wording(found["before"])
        # A bar behind the number is that of an excerpt.
        is_apart = found["between"].isspace() and len(found["between"]) > 1
        if not (found["column"] or said.is_sure or is_apart):
            return 0
        said = said._replace(code=said.code or coded.code, severity=said.severity or coded.severity)
        message, end = self._read_continuation(number + 1, found.start("said"))
        if message:
            said = read_wording(f"{found['said']} {message}", is_row=True)
        self._add_finding(said, Location(file=self._heading, line=int(found["line"])))
        return end

    def _read_marked(self, number: int) -> int:
        found = _CARETS.match(self._lines[number]) if self._heading else None
        code = _EXCERPT.match(self._lines[number - 1]) if found and number else None
        if found is None or code is None:
            return 0
        said = read_wording(self._lines[number][found.end() :])
        if said.is_sure:
            self._add_finding(said, Location(file=self._heading, line=int(code["line"])))
        return number + 1 if said.is_sure else 0

    def _read_continuation(self, number: int, column: int) -> tuple[str, int]:
        added: list[str] = []
        for line in self._lines[number : number + _AHEAD]:
            margin, said = line[:column], line[column:]
            if not said.strip() or margin.strip(" |\u2502") or _CARETS.fullmatch(line):
                break
            added.append(said.strip(" |\u2502"))
        return " ".join(added), number + len(added)

    # --- places ------------------------------------------------------------------------------------------------------

    def _read_place(self, number: int, place: Place) -> int:
        before = strip_timestamp(place.before)
        if _STACK.match(before) and before.strip() not in ("at", "from"):
            return number + 1
        bare = _ARROW.match(before) is not None
        if bare and _BEHIND_BARE.match(place.behind) is not None:
            return self._read_around(number, place, is_arrow=bool(before.strip(" [")))
        ahead = read_wording(before)
        if ahead.message and " " in ahead.message:
            self._read_ahead(ahead, place, before)
            return number + 1
        if place.behind.startswith(", in ") or not (
            bare or ahead.code or ahead.severity or not before.strip() or ahead.message
        ):
            return number + 1
        return self._read_behind(number, place, ahead)

    def _read_ahead(self, said: Wording, place: Place, before: str) -> None:
        preposition = _PREPOSITION.search(before.rstrip())
        if preposition is None or _NEAR.match(place.behind) is None:
            return
        message = _PREPOSITION.sub("", said.message)
        near = place.behind.strip(" .,)")
        self._add_finding(said._replace(message=f"{message} {near}".strip()), place.location)

    def _read_behind(self, number: int, place: Place, ahead: Wording) -> int:
        said = read_wording(place.behind)
        end = number + 1
        if said.message.endswith(":") and end < len(self._lines) and self._lines[end][:1].isspace():
            below = read_wording(self._lines[end])
            about = said.message.rstrip(":")
            said = Wording(said.severity or below.severity, below.code or said.code, f"{below.message} ({about})")
            end += 1
        if not (said.severity or ahead.is_sure) and number and self._lines[number - 1]:
            above = self._lines[number - 1]
            told = read_wording(above)
            if told.code and told.message and find_place(above) is None and not above[0].isspace():
                self._add_finding(told, place.location)
                return end
        code = said.code or ahead.code or (ahead.message if " " not in ahead.message else "")
        self._add_finding(
            said._replace(severity=said.severity or ahead.severity, code=code), place.location, self._find_source(end)
        )
        return end

    def _find_source(self, number: int) -> str:
        for above, below in zip(self._lines[number : number + 3], self._lines[number + 1 : number + 4], strict=False):
            if _CARETS.fullmatch(below) and above.strip(" |"):
                return _SOURCE.sub("", above).strip()
        return ""

    def _read_around(self, number: int, place: Place, *, is_arrow: bool) -> int:
        is_title = place.behind.rstrip().endswith(":") and place.before.strip(" |") in _TITLES
        told = self._find_above(number) if not is_title and (is_arrow or not self._has_below(number)) else None
        if told is not None:
            self._add_finding(told, place.location, self._find_source(number + 1))
            return number + 1
        for at in range(number + 1, min(number + 1 + _AHEAD, len(self._lines))):
            line = self._lines[at]
            carets = _CARETS.match(line)
            said = read_wording(line[carets.end() :] if carets else line)
            if not line.strip() or (_SOURCE.match(line) and not carets):
                continue
            if said.is_sure and said.message:
                self._add_finding(said, place.location)
                if not carets:
                    return at + 1
            elif not carets and find_place(line):
                break
        return number + 1

    def _has_below(self, number: int) -> bool:
        return number + 1 < len(self._lines) and bool(self._lines[number + 1].strip())

    def _find_above(self, number: int) -> Wording | None:
        start = number - 1
        if start >= 0 and not self._lines[start].strip():
            start -= 1
        end = start
        while start > 0 and self._lines[start - 1].strip() and end - start < _AHEAD:
            if start <= self._read_to:
                break
            start -= 1
        told: Wording | None = None
        for at in range(max(start, self._read_to), end + 1):
            line = self._lines[at]
            if _PASSED.match(line):
                return None
            said = read_wording(line)
            if said.message and not find_place(line) and is_content(line):
                told = said if told is None or (said.is_sure and not told.is_sure) else told
        self._read_to = number + 1 if told else self._read_to
        return told
