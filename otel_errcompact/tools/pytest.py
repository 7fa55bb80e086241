"""Output of pytest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.clipping import CUT
from otel_errcompact.extract.expectations import (
    ASSERTION,
    EXPECTATIONS,
    NO_SOURCE,
    member_of,
    read_example,
    strip_sources,
)
from otel_errcompact.extract.grammar import Checker, Command, Facts, Format, Found, Lines, Location, Text, form
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.reading import NO_MESSAGE
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame, is_own
from otel_errcompact.extract.stacks.python import FATAL, HEADER, chain_of, crash_of
from otel_errcompact.extract.statements import indentation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

COVERAGE: Final = "coverage"
NO_TESTS: Final = "no tests"

_FAILED: Final = "Failed"

_OF_FAILURES: Final = ("FAILURES", "ERRORS")
_SECTION: Final = form(r"=+ (?P<title>[^\n=][^\n]{0,300}?) =+$")
_HEADING: Final = form(r"_+ (?P<title>(?!_ )[^\n]{1,2000}?) _+$")
_KIND: Final = form(r"ERROR (?P<when>at setup of|at teardown of|collecting) |\[doctest\] ")
_CAPTURED: Final = form(r"-+ (?:Captured |generated |Hypothesis )?[^\n-][^\n]{0,200}? -+$")
_LISTED: Final = form(
    r"(?P<outcome>FAILED|ERROR|SUBFAILED|SUBFAIL)(?:\([^\n]{1,300}?\)|\[[^\n]{1,300}?\])? "
    r"(?P<id>{path}(?:::[^\n]{1,1000}?)?)(?: - (?P<said>[^\n]*))?$"
)
_PROGRESS: Final = form(
    r"(?:\[gw{number}\] \[ *[0-9]{1,3}%\] (?:FAILED|ERROR) (?P<worker>\S.{0,1000})"
    r"|(?P<id>{path}::[^\s\[]{1,500}(?:\[.{1,500}\])?) (?:FAILED|ERROR)(?: +\[ *[0-9]{1,3}%\])?)$"
)
_LETTERS: Final = form(r"[.FEsxX]{1,300} +\[ *[0-9]{1,3}%\]$")
_COUNTS: Final = form(r"=*\s?(?:{number} [a-z]{4,12}(?:, | ))+in [0-9.]+s(?: \([0-9:, day]+\))?\s?=*$")
_FAILURES: Final = form(r"({number}) (?:failed|errors?)\b")
_NOTHING_RAN: Final = form(r"=*\s?(?P<said>no tests (?:ran|collected)|{number} deselected)\b[^\n]{0,80}\s?=*$")

_ENTRY: Final = form(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]{0,500}):{line}"
    r"(?::(?: in (?P<function>[^\n]{1,300})| (?P<type>[A-Za-z_][\w.]{0,300}))?)?$"
)
_ARGUMENTS: Final = form(r"[A-Za-z_]\w{0,100} = \S")
_OBJECTS: Final = form(r"(?:^|, )[A-Za-z_]\w{0,100} = (?:<[^<>\n]{0,300}>|(?:Posix|Windows)Path\([^()\n]{0,400}\))")
_MAX_ARGUMENTS: Final = 2
_ONE_LINE: Final = form(r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]{0,500}):{line}: (?P<said>[^\n]+)$")
_DEFINITION: Final = form(r"[> ] {1,3}(?:async )?def (?P<name>\w{1,200})\(")
_TYPED: Final = form(r"(?P<type>(?:[A-Za-z_]\w{0,100}\.){0,20}[A-Z_]\w{0,200})(?:: ?(?P<message>.*))?$")
_CUT_TYPE: Final = form(r"[A-Za-z_][\w.]{0,300}\.\.\.$")
_IN_FILE: Final = form(r"\s{0,8}{script}")
_FIXTURE: Final = form(r"fixture '(?P<name>[^'\n]{1,200})' not found$")
_FIXTURES: Final = "available fixtures: "
_BREAKS: Final = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)

_CRASH: Final = form(r"worker '[^'\n]{1,100}' crashed while running '(?P<id>[^\n]{1,1000})'$")
_SUM: Final = form(r"contains {number} failed subtests?$")
_CUT_OFF: Final = "the output is cut off before what failed"

_CONFTEST: Final = form(r"ImportError while loading conftest '(?P<file>[^'\n]{1,500})'\.$")
_INTERNAL: Final = "INTERNALERROR> "
_STACK: Final = "~ Stack of MainThread ("
_REFUSED: Final = form(
    r"(?:ERROR: (?P<said>(?:file or directory not found|not found|found no collectors for"
    r"|Wrong expression passed to)\b.*)|(?:pytest|py\.test|__main__\.py): error: (?P<usage>.+))$"
)
_COVERAGE: Final = form(
    r"(?:FAIL|ERROR:?) (?P<said>Required test coverage of [0-9.]{1,9}% not reached\. Total coverage: [0-9.]{1,9}%)$"
)


def read(text: Text) -> Facts | None:
    """
    Return the facts of failed tests, or why no test ran.
    """
    output = _read_output(text.lines)
    members = output.members() or _set_up(text) or output.refusals()
    if not members:
        return None
    unit = "module" if output.blocks and all(block.is_module for block in output.blocks) else "test"
    more = (*output.coverage, *_describe_crash(text.body)) if members[0].type != COVERAGE else ()
    return facts_of_members(members, unit=unit, total=max(output.total, len(output.listed)), more=more)


def _describe_crash(body: str) -> Iterator[str]:
    # Yield where the interpreter went down, as its fault handler says.
    crash = crash_of(body) if FATAL in body else None
    if crash is not None:
        at = f" at {crash.own.place()}" if crash.own is not None else ""
        yield f"{FATAL}: {crash.message}{at}"


class _Listed(NamedTuple):
    """A test as the summary or the progress lists it."""

    id: str
    said: str = ""
    is_error: bool = False
    """Whether a fixture or the module failed, which is printed before tests that failed."""

    @property
    def name(self) -> str:
        """The name as the test's own heading has it."""
        _, _, name = self.id.partition("::")
        return name.replace("::", ".") or self.id

    @property
    def location(self) -> Location:
        """The test function itself."""
        file, _, _ = self.id.partition("::")
        return _test_location(self.name if self.name != file else "", file)


@dataclass(slots=True, kw_only=True)
class _Block:
    """What is printed below the heading of one test."""

    title: str
    lines: list[str] = field(default_factory=list[str])

    @property
    def name(self) -> str:
        """The test's name without what happened to it."""
        return _KIND.sub("", self.title, count=1)

    @property
    def is_module(self) -> bool:
        """Whether this is a module that could not be collected."""
        return self.title.startswith("ERROR collecting ")

    def location(self, file: str) -> Location:
        """Return the test function itself, or the module."""
        return Location(file=file or self.name) if self.is_module else _test_location(self.name, file)


@dataclass(slots=True, kw_only=True)
class _Output:
    """The parts of an output that say what failed."""

    headless: list[str] = field(default_factory=list[str])
    """What stands before any heading, which may be the end of a block."""

    blocks: list[_Block] = field(default_factory=list[_Block])
    listed: list[_Listed] = field(default_factory=list[_Listed])
    progress: list[_Listed] = field(default_factory=list[_Listed])
    one_line_each: list[Member] = field(default_factory=list[Member])
    total: int = 0
    has_heading: bool = False
    """Whether the part with the failures is there from its heading on."""

    is_cut: bool = False
    """Whether the output ends within what is printed for a test."""

    refused: str = ""
    nothing_ran: str = ""
    coverage: tuple[str, ...] = ()

    def members(self) -> list[Member]:
        """Return the failed tests, those that are only listed last."""
        files = {listed.name: listed.location.file for listed in self.listed}
        blocks = self.blocks if self.has_heading or self.listed else [*filter(_has_mark, self.blocks)]
        blocks = [*self._without_head(), *blocks][:MAX_MEMBERS]
        last = self.blocks[-1] if self.is_cut else None
        shown = [_member_of(block, files.get(block.name, ""), is_cut=block is last) for block in blocks]
        shown += _name_members(self.one_line_each, _list_unshown(self.listed, shown))
        listed = (self.listed or ([] if shown else self.progress))[:MAX_MEMBERS]
        return strip_sources([*_without_sums(shown), *map(_listed_member, _list_unshown(listed, shown))])

    def _without_head(self) -> list[_Block]:
        # Return the block whose heading is cut off: that of the test that is listed before the first one shown whole.
        block = _Block(title="", lines=self.headless)
        if not (self.listed or self.total) or not _has_mark(block):
            return []
        names = [test.name for test in sorted(self.listed, key=lambda test: not test.is_error)]
        first = self.blocks[0].name if self.blocks else ""
        before = names[: names.index(first)] if first in names else names
        said = next((test.said for test in self.listed if before and test.name == before[-1]), "")
        whole = (
            [f"E   {said}", *self.headless] if said and not said.endswith(CUT) and _begins_late(block) else block.lines
        )
        return [_Block(title=before[-1] if before else "", lines=whole)]

    def refusals(self) -> list[Member]:
        """Return why the run failed although no test did."""
        if self.refused:
            return [Member("UsageError", self.refused)]
        if self.coverage:
            return [Member(COVERAGE, self.coverage[0])]
        return [Member(NO_TESTS, self.nothing_ran)] if self.nothing_ran else []


# --- the parts of the output -----------------------------------------------------------------------------------------


def _read_output(lines: Lines) -> _Output:
    output = _Output()
    section = ""
    block: _Block | None = None
    for number, line in enumerate(lines):
        first = line[:1]
        if first == "=" and (found := _SECTION.match(line)):
            section, block = found["title"], None
            output.has_heading |= section in _OF_FAILURES
            _read_counts(output, line)
        elif first == "_" and section in ("", *_OF_FAILURES) and (found := _HEADING.match(line)):
            block = _Block(title=found["title"])
            output.blocks.append(block)
        elif block is not None and not _ends_block(line):
            block.lines.append(line)
        elif section == "FAILURES" and not _ends_block(line):
            _add_one_line(output, line)
        else:
            block = None
            if not section and not output.blocks and not (line.endswith("%]") and _LETTERS.match(line)):
                output.headless.append(line)
            _read_line(output, line, lines[number + 1 : number + 2], section)
    output.is_cut = block is not None
    return output


def _ends_block(line: str) -> bool:
    # Tell whether a line of the summary or the counts stand where their heading is missing.
    if line.startswith(("FAILED ", "ERROR ")):
        return "::" in line and _LISTED.match(line) is not None
    return line[:1].isdigit() and _COUNTS.match(line) is not None


def _read_line(output: _Output, line: str, following: Lines, section: str) -> None:
    first = line[:1]
    if first in ("F", "E", "S", "p", "_") and _read_statement(output, line, following, section):
        return
    if first == "n" or first.isdigit():
        _read_counts(output, line)
    elif line.endswith(("%]", "FAILED", "ERROR")) or first == "[":
        found = _PROGRESS.match(line) if "FAILED" in line or "ERROR" in line else None
        if found is not None:
            output.progress.append(_Listed((found["worker"] or found["id"]).strip()))


def _read_statement(output: _Output, line: str, following: Lines, section: str) -> bool:
    listed = _LISTED.match(line)
    if listed is not None and ("::" in listed["id"] or section.startswith("short test summary") or _is_module(listed)):
        output.listed.append(_Listed(listed["id"].strip(), listed["said"] or "", listed["outcome"] == "ERROR"))
        return True
    refused = _REFUSED.match(line)
    if refused is not None:
        more = following[0] if following and following[0].startswith("(") else ""
        output.refused = " ".join(filter(None, (refused["said"] or refused["usage"], more)))
        return True
    coverage = _COVERAGE.match(line)
    if coverage is not None:
        output.coverage = (coverage["said"],)
    return coverage is not None


def _is_module(listed: Found) -> bool:
    return listed["outcome"] == "ERROR" and listed["id"].endswith(".py")


def _read_counts(output: _Output, line: str) -> None:
    if _COUNTS.match(line):
        output.total = sum(map(int, _FAILURES.findall(line)))
    nothing = _NOTHING_RAN.match(line)
    if nothing is not None:
        said = nothing["said"]
        output.nothing_ran = said if said.startswith("no tests") else f"no tests ran: {said}"


def _add_one_line(output: _Output, line: str) -> None:
    # Read a failure as `--tb=line` prints it.
    found = _ONE_LINE.match(line)
    if found is not None:
        kind, lines = _split_type([found["said"]], "")
        frame = Frame(found["file"], int(found["line"]))
        output.one_line_each.append(_build_member((Failure(kind, lines[0], frame, frame),), "", frame.file))


def _has_mark(block: _Block) -> bool:
    # Tell whether a block is a test's even though nothing else shows it.
    return any(line.startswith("E   ") for line in block.lines)


def _begins_late(block: _Block) -> bool:
    first = next(line for line in block.lines if line.startswith("E   "))
    return first[1:].lstrip().startswith(("+  where ", "+  and "))


def _list_unshown(listed: Iterable[_Listed], shown: Sequence[Member]) -> list[_Listed]:
    # Return the listed tests that are not shown; what is shown of a test's parts shows the test.
    names = {name for member in shown for name in (member.name, member.name.partition(" ")[0])}
    return [test for test in listed if test.name not in names]


def _without_sums(members: Sequence[Member]) -> list[Member]:
    # Leave out tests of which no more is said than that parts of them failed, where those parts are shown.
    return [member for member in members if not _SUM.match(member.cause)] or list(members)


def _name_members(members: Sequence[Member], listed: Sequence[_Listed]) -> list[Member]:
    # Give names to failures of one line each; the summary lists them in the same order, perhaps beside others.
    if len(members) == len(listed):
        return [_with_name(member, test) for member, test in zip(members, listed, strict=True)]
    left = [(test, _listed_member(test)) for test in listed]
    named: list[Member] = []
    for member in members:
        at = next((number for number, (_, said) in enumerate(left) if _are_one(member, said)), None)
        named.append(member if at is None else _with_name(member, left[at][0]))
        left = left if at is None else left[at + 1 :]
    return named


def _are_one(shown: Member, listed: Member) -> bool:
    # The summary cuts what is too wide for the terminal.
    return shown.type == listed.type and shown.cause.startswith(listed.cause.removesuffix(CUT).rstrip())


def _with_name(member: Member, test: _Listed) -> Member:
    file = test.location.file
    own = member.location.file == file or member.location.file.endswith(f"/{file}")
    location = replace(test.location, line=member.location.line) if own else member.location
    return member._replace(name=test.name, location=location)


# --- one test --------------------------------------------------------------------------------------------------------


def _member_of(block: _Block, file: str, *, is_cut: bool = False) -> Member:
    lines = _before_captured(block.lines)
    if any(line.startswith((HEADER, "  + Exception Group ")) for line in lines):
        chain = chain_of("\n".join(lines))
        if chain:
            return _build_member(chain, block.name, file)
    entries = _Entries()
    for line in lines:
        entries.add(line)
    marked = entries.source
    entries.close()
    if entries.chain:
        member = _with_phase(_build_member(tuple(reversed(entries.chain)), block.name, file), block)
        return member._replace(details=(*member.details, *_list_arguments(lines)))
    return _cut_off(block, marked, file) if is_cut else _read_words(block, lines, file)


def _list_arguments(lines: Lines) -> Iterator[str]:
    # Objects that are shown by their address, and temporary folders, say nothing.
    shown = (_OBJECTS.sub("", line).strip(", ") for line in lines if _ARGUMENTS.match(line))
    yield from (f"with {line}" for line in islice(filter(None, shown), _MAX_ARGUMENTS))


def _with_phase(member: Member, block: _Block) -> Member:
    kind = _KIND.match(block.title)
    when = kind["when"] if kind and kind["when"] else ""
    if not when.startswith("at ") or member.type == _NO_FIXTURE:
        return member
    return member._replace(details=(f"error {when.removesuffix(' of')}", *member.details))


def _before_captured(lines: Lines) -> Lines:
    for number, line in enumerate(lines):
        if line.startswith("--") and _CAPTURED.match(line):
            return lines[:number]
    return lines


class _Entries:
    """A traceback as pytest prints it, read line by line: frames with their source, and lines marked with `E`."""

    def __init__(self) -> None:
        self.chain: list[Failure] = []
        """The exceptions in the order of the output: root cause first."""

        self._frames: list[Frame] = []
        self._said: list[str] = []
        self._function = ""
        self.source = ""
        """The line that is marked in what has been read last."""

        self._kind = ""
        self._names = ""

    def add(self, line: str) -> None:
        """Take the next line."""
        first = line[:1]
        if first == "E" and (len(line) == 1 or line.startswith("E   ")):
            self._said.append(line[4:])
        elif first == ">":
            self._add_marked(line)
        elif first == " ":
            self._add_source(line)
        elif line in _BREAKS:
            self.close()
        elif line.startswith("_ _ "):
            self._function = self.source = ""
        elif line:
            self._add_frame(line)

    def close(self) -> None:
        """Take what has been read as one exception."""
        if self._said:
            kind, lines = _split_type(_dedent_lines(self._said), self._kind)
            own = next((frame for frame in reversed(self._frames) if is_own(frame.file, frame.function)), None)
            innermost = self._frames[-1] if self._frames else None
            code = _read_code_place(self._said)
            if code is not None:
                own = innermost = code
            elif kind == _NO_FIXTURE:
                lines = [*lines, *_suggest_fixtures(lines[0], self._names)]
            self.chain.append(Failure(kind, "\n".join(lines), own, innermost))
        self._frames, self._said = [], []
        self._function = self.source = self._kind = ""

    def _add_marked(self, line: str) -> None:
        text = line[1:].strip()
        if text.startswith(_FIXTURES):
            self._names = text.removeprefix(_FIXTURES)
        elif not self._said:
            self._add_source(line)
            self.source = text

    def _add_source(self, line: str) -> None:
        definition = None if self._function else _DEFINITION.match(line)
        if definition is not None:
            self._function = definition["name"]
        elif self._frames and not self._frames[-1].source and self._frames[-1].function and not self.source:
            source = line.strip()
            self._frames[-1] = self._frames[-1]._replace(source="" if source == "???" else source)

    def _add_frame(self, line: str) -> None:
        found = _ENTRY.match(line)
        if found is None:
            return
        function = found["function"] or self._function
        self._frames.append(Frame(found["file"], int(found["line"]), function, self.source))
        self._kind = found["type"] or ""
        self._function = self.source = ""


_NO_FIXTURE: Final = "FixtureLookupError"


def _dedent_lines(lines: Lines) -> list[str]:
    indent = indentation(lines[0])
    return [line[indent:] if not line[:indent].strip() else line for line in lines]


def _split_type(lines: Lines, kind: str) -> tuple[str, list[str]]:
    # The type's own name may be printed apart.
    first = lines[0]
    if first.startswith("assert ") or first == "assert":
        return ASSERTION, list(lines)
    if _FIXTURE.match(first):
        return _NO_FIXTURE, list(lines[:1])
    if len(lines) > 1 and _IN_FILE.match(first):
        return _split_type(lines[-1:], "")
    found = _TYPED.match(first)
    if found is None or (kind and found["type"].rpartition(".")[2] != kind):
        return kind or _FAILED, list(lines)
    return found["type"], [found["message"] or "", *lines[1:]]


def _read_code_place(lines: Lines) -> Frame | None:
    # Return the place of code that could not be compiled.
    found = _IN_FILE.match(lines[0])
    if found is None:
        return None
    source = "".join(lines[1:-1][:1]).strip()
    return Frame(found["file"], int(found["line"]), "", source)


def _suggest_fixtures(message: str, names: str) -> Iterator[str]:
    wanted = message.split("'")[1]
    similar = get_close_matches(wanted, names.split(", ")[:MAX_MEMBERS], cutoff=0.7)
    if similar:
        yield f"similar fixtures: {', '.join(similar)}"


def _build_member(chain: Sequence[Failure], name: str, file: str) -> Member:
    member = member_of(chain, name, _function_of(name))
    place = _at_listed(member.location, file) or _test_location(name, file)
    if not place.function and place.file == file != name:
        place = replace(place, function=_function_of(name))
    return member._replace(location=place)


def _at_listed(place: Location, file: str) -> Location:
    return replace(place, file=file) if file and place.file.endswith(f"/{file}") else place


def _read_words(block: _Block, lines: Iterable[str], file: str) -> Member:
    said = [line for line in lines if line.strip() and not line.startswith("[gw")]
    if said and (found := _ENTRY.match(said[-1])) and found["type"]:
        place = _at_listed(Location(function=block.name, file=found["file"], line=int(found["line"])), file)
        return Member(found["type"], read_example(said[:-1]), place, block.name, key=NO_SOURCE, assertion=True)
    cause = said[0].strip() if said else NO_MESSAGE
    crashed = _CRASH.match(cause)
    if crashed is not None:
        test = _Listed(crashed["id"])
        return Member(_FAILED, cause, test.location, test.name, key="worker crashed")
    more = " ".join(line.strip() for line in said[1:4])
    return Member(_FAILED, cause, block.location(file), block.name, (more,) if more else ())


def _cut_off(block: _Block, marked: str, file: str) -> Member:
    # Return a failure of which only the beginning is left.
    return Member(_FAILED, _CUT_OFF, block.location(file), block.name, (f"> {marked}",) if marked else ())


def _listed_member(test: _Listed) -> Member:
    # Return a failure of which only a line of the summary is left, perhaps cut.
    said = test.said.strip()
    kind, lines = _split_type([said], "") if said else (_FAILED, [""])
    if _CUT_TYPE.match(said):
        kind, lines = ASSERTION if ASSERTION.startswith(said[:-3]) else said, [""]
    expected = kind in EXPECTATIONS
    cause = lines[0].strip() or (CUT if said else NO_MESSAGE)
    return Member(kind, cause, test.location, test.name, key=NO_SOURCE if expected else "", assertion=expected)


def _test_location(name: str, file: str) -> Location:
    return Location(function=_function_of(name), file=file)


def _function_of(name: str) -> str:
    return name.partition("[")[0].partition(" ")[0].rpartition(".")[2]


# --- before any test -------------------------------------------------------------------------------------------------


def _set_up(text: Text) -> list[Member]:
    # Return what failed outside of the tests: a `conftest.py`, pytest itself or a plugin, the time limit of the run.
    body = text.body
    if _INTERNAL in body:
        lines = [line.removeprefix(_INTERNAL) for line in text.lines if line.startswith(_INTERNAL.rstrip())]
        chain = chain_of("\n".join(lines))
        return [_build_member(chain, "pytest itself", "")] if chain else []
    if "while loading conftest" in body:
        return _read_conftest(text.lines)
    return _timed_out(body) if _STACK in body else []


def _read_conftest(lines: Lines) -> list[Member]:
    at = next((number for number, line in enumerate(lines) if _CONFTEST.match(line)), None)
    if at is None:
        return []
    return [_member_of(_Block(title="conftest.py", lines=list(lines[at + 1 :])), "")]


def _timed_out(body: str) -> list[Member]:
    # Read the stacks that pytest-timeout dumps where it ends the whole run.
    stack = body[body.find(_STACK) :]
    stack = stack[: stack.find("\n+++")]
    chain = chain_of(f"{HEADER}{stack[stack.find(chr(10)) :]}\nTimeout: the run was ended by pytest-timeout")
    return [_build_member(chain, "", "")] if chain else []


_CHECKS: Final = Checker(
    harmless="-q -qq -v -vv -vvv -s -x -l --verbose --quiet --exitfirst --no-header --no-summary --showlocals "
    "--full-trace --no-cov --disable-warnings --disable-pytest-warnings --cov --ff --failed-first --nf --new-first "
    "--setup-show -rA -ra -rf -rs -rx -rfE -rN --strict-markers --cache-clear --benchmark-disable",
    with_value="--tb --maxfail --color --durations --durations-min -n --numprocesses --dist --cov-report --timeout "
    "--junitxml --junit-xml --log-level --log-cli-level --capture --show-capture --basetemp -r --verbosity -p",
    narrowing="-k -m --deselect --ignore --ignore-glob",
    narrowing_flags="--lf --last-failed --sw --stepwise",
)

FORMAT: Final = Format(
    name="pytest",
    reads_all=True,
    judges_code=True,
    read=read,
    markers=("S ===", ".py::", "pytest", "conftest", "ed in ", " ran in ", "during collection"),
    commands=(
        Command("pytest, py.test, python -m pytest", checks=_CHECKS),
        Command("coverage", prints="", subcommands="run report html xml combine erase"),
        Command("coverage run"),
    ),
    closings=(
        r"E {3,9}(?:\S{1,80}(?:Error|Exception|Failed)\b|assert )",
        r"\S{1,300}\.py::\S{1,200} (?:FAILED|ERROR)",
        r"\S{1,300}\.py:[0-9]{1,7}: \w{0,60}(?:Error|Exception|Failed)$",
        r"\S{1,300}\.py [.sxX]{0,99}[FE][.FEsxX]{0,99} {0,80}(?:\[ {0,2}[0-9]{1,3}%\])?$",
        r"ImportError while loading conftest ",
        r"ERROR: (?:file or directory not found|not found|[^\n]{0,200}(?:unrecognized arguments|no tests))",
        r"INTERNALERROR> ",
        r"FAIL Required test coverage ",
        r"ERROR (?:collecting )?\S+\.py(?:::\S+)?(?: - |$)",
        r"!{3,} Interrupted: [1-9][0-9]* errors? ",
        r"=+ [^\n]{0,200}\b[1-9][0-9]* (?:failed|errors?)\b[^\n]{0,200} in [0-9.]+s\b",
        r"[1-9][0-9]* (?:failed|errors?)(?:, [0-9]+ \w+)* in [0-9.]+s\b",
        r"FAILED \S+\.py::\S",
    ),
    passes=(r"=* ?[1-9][0-9]* passed\b(?![^\n]*(?:failed|error))[^\n]* in [0-9.]+s",),
)
