"""PHP's own errors and stacks, the boxes of Symfony's and Laravel's consoles, and Composer."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Location,
    Text,
    clip,
    details,
    form,
    place_of,
)
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.php import is_own
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXCEPTION: Final = form(
    r"(?:(?:\[[^\]\n]{1,60}\] )?(?:PHP )?Fatal error: {1,2}Uncaught |Next |.{0,300}?\[object\] \(|)"
    r"(?P<type>[A-Za-z_]\w{0,100}(?:\\\w{1,100}){0,20})(?:\(code: [^)\n]{1,20}\))?: (?P<message>.*)$"
)
_THROWN_AT: Final = form(r"(?P<file>\S.{0,400}):{line}$")
_CALL: Final = form(
    r"#[0-9]{1,6} (?:(?P<file>.{1,400}?)\((?P<line>[0-9]{1,7})\): )?(?P<function>\S[^(\n]{0,300})(?:\(.*)?$"
)
_STATED: Final = form(
    r"(?:\[[^\]\n]{1,60}\] )?(?:PHP )?(?P<level>Parse error|Fatal error|Recoverable fatal error|Catchable fatal error"
    r"|Compile error|User error|Warning|User Warning|Notice|Deprecated): {1,2}(?P<message>.*?)"
    r"(?: in (?P<file>[^\n]{1,400}?) on line {line})?$"
)
_FATAL: Final = "error"
_ERROR_TYPES: Final = {
    "Parse error": "ParseError",
    "Warning": "Warning",
    "User Warning": "Warning",
    "Notice": "Notice",
    "Deprecated": "Deprecated",
}
_BOX_HEAD: Final = form(r"In (?P<file>{word}) line {line}:$")
_BOX_TYPE: Final = form(r"\[(?P<type>[A-Za-z_]\w{0,100}(?:\\\w{1,100}){0,20})(?: \([^)\n]{0,60}\))?\] *$")
_COLLISION: Final = form(
    r"\s{0,4}(?P<type>(?:[A-Z]\w{0,100}\\){0,20}[A-Z]\w{0,100}(?:Exception|Error))(?: {2}: {message}|\s*)$"
)
_COLLISION_AT: Final = form(r"\s{0,4}at (?P<file>\S.{0,300}):{line}$")
_COLLISION_LINE: Final = form(r" *[\u279c>] +{number}[\u2595|\u2502] ?(?P<source>.*)$")

_IN_TRACE: Final = form(
    r" {0,6}(?:{number} {1,4}|at |\S.{0,300}?\) at )?(?P<file>[^\s:(]:?[^\n:]{0,300}\.php) ?: ?{line}$"
)
"""A call that Collision numbers, or that Symfony lists for those who ask for more."""

_MIN_WRAPPED: Final = 60
"""Columns of a message that a terminal may have wrapped."""

_MAX_MESSAGE: Final = 40
"""Lines of one message."""

_UNRESOLVED: Final = "Your requirements could not be resolved to an installable set of packages."
_PROBLEM: Final = form(r" {2,4}Problem {number}$")


def read(text: Text) -> Facts | None:
    """
    Return the facts of an uncaught exception, of an error of PHP itself, of a console's box, or of Composer's problems.
    """
    lines = text.lines
    if _UNRESOLVED in text.body:
        return _read_unresolved(lines)
    chain = _read_chain(lines)
    if chain:
        facts = facts_of_stacks([chain])
        return replace(facts, details=details((*facts.details, *_list_warnings(lines))))
    return _read_statement(lines) or _read_collision(lines) or _read_box(lines)


# --- exceptions ------------------------------------------------------------------------------------------------------


def _read_chain(lines: Lines) -> tuple[Failure, ...]:
    # Return the last printed chain; PHP prints the root cause first and each wrapper behind a `Next`.
    starts = [number for number, line in enumerate(lines) if line in ("Stack trace:", "[stacktrace]")]
    failures: list[Failure] = []
    for start in starts[-100:]:
        head = _find_head(lines, start)
        if head is None:
            continue
        first, found = head
        said = [found["message"], *lines[first + 1 : start]]
        if not lines[first].startswith("Next "):
            failures = []
        failures.append(_build_failure(found["type"], said, lines[start + 1 :]))
    return tuple(reversed(failures))


def _find_head(lines: Lines, start: int) -> tuple[int, Found] | None:
    fallback: tuple[int, Found] | None = None
    for number in range(start - 1, max(-1, start - _MAX_MESSAGE), -1):
        line = lines[number]
        found = _EXCEPTION.match(line)
        if found is not None and (found.start("type") > 0 or line.startswith("Next ")):
            return number, found
        if found is not None and fallback is None:
            fallback = number, found
        if line.startswith("#"):
            break
    return fallback


def _build_failure(kind: str, said: Lines, below: Lines) -> Failure:
    message = "\n".join(said).rstrip().removesuffix(")")
    text, place = _split_place(message)
    frames = list(_read_frames(place, below))
    own = next((frame for frame in frames if is_own(frame.file)), None)
    return Failure(kind, text.removesuffix(" and defined"), own, next(iter(frames), None))


def _split_place(message: str) -> tuple[str, Frame | None]:
    # Split a message from the place that PHP adds to it.
    for word in (" in ", " at "):
        text, _, place = message.rpartition(word)
        found = _THROWN_AT.match(place) if text else None
        if found is not None:
            return text, Frame(found["file"], int(found["line"]))
    return message, None


def _read_frames(place: Frame | None, below: Lines) -> Iterator[Frame]:
    inner = place
    for line in below:
        found = _CALL.match(line) if line.startswith("#") else None
        if found is None:
            break
        function = "" if found["function"] == "{main}" else _shorten_function(found["function"])
        if inner is not None:
            yield inner._replace(function=function)
        inner = Frame(found["file"], int(found["line"])) if found["file"] else None
    if inner is not None:
        yield inner


def _shorten_function(name: str) -> str:
    # Return a function without its namespace.
    owner, arrow, method = name.partition("->" if "->" in name else "::")
    owner = owner.rpartition("\\")[2]
    return f"{owner}{arrow}{method.rpartition(chr(92))[2]}"


# --- errors of PHP itself --------------------------------------------------------------------------------------------


def _read_statement(lines: Lines) -> Facts | None:
    # Read `PHP Fatal error: message in file on line n`; without a fatal one, the first warning is the error.
    found = list(dict.fromkeys(_read_statements(lines)))
    if not found:
        return None
    level, message, file, line = next((each for each in found if each[0].endswith(_FATAL)), found[0])
    kind, colon, rest = message.partition(": ")
    uncaught = level == "Fatal error" and kind.startswith("Uncaught ")
    return Facts(
        type=kind.removeprefix("Uncaught ") if uncaught else _ERROR_TYPES.get(level, "FatalError"),
        cause=clip(rest if uncaught and colon else message),
        location=Location(file=file, line=int(line) if line else None),
        details=details(other[1] for other in found if other[1] != message),
    )


def _list_warnings(lines: Lines) -> Iterator[str]:
    for level, message, file, line in dict.fromkeys(_read_statements(lines)):
        if not level.endswith(_FATAL):
            yield f"{level.lower()} at {file}:{line}: {message}"


def _read_statements(lines: Lines) -> Iterator[tuple[str, str, str, str]]:
    # Yield level, message, file and line of each error that PHP states.
    for line in lines:
        found = _STATED.match(line) if ": " in line and ("error: " in line or " on line " in line) else None
        if found is None:
            continue
        message, file, number = found["message"], found["file"], found["line"]
        if file is None:
            message, thrown = _split_place(message)
            if thrown is None:
                continue
            file, number = thrown.file, str(thrown.line)
        yield found["level"], message, file, number


# --- consoles --------------------------------------------------------------------------------------------------------


def _read_box(lines: Lines) -> Facts | None:
    # Read the box in which Symfony's console, and so Composer and Artisan, shows an exception.
    for number, line in enumerate(lines):
        head = _BOX_HEAD.match(line) if line.startswith("In ") else None
        if head is None and not (line.startswith("  ") and _BOX_TYPE.match(line.strip())):
            continue
        said = _read_box_lines(lines[number + 1 :] if head else lines[number:])
        typed = _BOX_TYPE.match(said[0]) if said else None
        said = said[1:] if typed is not None else said
        if not said:
            continue
        place = place_of(head)
        message = _join_wrapped(said)
        own, raised = _find_own(lines[number:], place)
        return Facts(
            type=typed["type"] if typed is not None else "Exception",
            cause=clip(message[0]),
            location=own,
            details=details((*(line for line in message[1:] if line.strip("-^ ")), raised)),
        )
    return None


def _read_box_lines(lines: Lines) -> list[str]:
    said: list[str] = []
    for line in lines[:_MAX_MESSAGE]:
        if line.startswith("  ") and line.strip():
            said.append(line[2:].rstrip())
        elif line.strip() or said:
            break
    return said


def _join_wrapped(said: Lines) -> list[str]:
    # Those that fill the terminal go on in the next one.
    width = max(map(len, said))
    joined = said[0]
    for before, line in pairwise(said):
        gap = width - len(before)
        joined += f"{' ' * gap}{line}" if gap <= 1 and width >= _MIN_WRAPPED else f"\n{line}"
    return joined.split("\n")


def _find_own(trace: Lines, place: Location) -> tuple[Location, str]:
    frames = (found for line in trace if (found := _IN_TRACE.match(line)) is not None)
    found = next((frame for frame in frames if is_own(frame["file"])), None)
    if found is None or (is_own(place.file) and "/" in place.file):
        return place, ""
    own = place_of(found)
    return own, "" if str(own).endswith(str(place)) else f"raised in {place}"


def _read_collision(lines: Lines) -> Facts | None:
    # Read what Laravel's and Pest's error page for consoles shows: type, message, place and source.
    for number, line in enumerate(lines):
        at = _COLLISION_AT.match(line) if "at " in line else None
        if at is None:
            continue
        above = lines[max(0, number - _MAX_MESSAGE) : number]
        heads = [(index, found) for index, said in enumerate(above) if (found := _COLLISION.match(said))]
        if not heads:
            continue
        start, head = heads[-1]
        said = " ".join(filter(None, (head["message"] or "", *map(str.strip, above[start + 1 :]))))
        if not said:
            continue
        place = place_of(at)
        own, raised = _find_own(lines[number + 1 :], place)
        below = lines[number + 1 : number + 15]
        source = next((found["source"].strip() for other in below if (found := _COLLISION_LINE.match(other))), "")
        return Facts(
            type=head["type"],
            cause=clip(said),
            location=own,
            details=details((raised or (f"> {source}" if source else ""),)),
        )
    return None


# --- Composer --------------------------------------------------------------------------------------------------------


def _read_unresolved(lines: Lines) -> Facts:
    # Read why Composer finds no set of packages.
    problems: list[list[str]] = []
    for line in lines:
        if _PROBLEM.match(line):
            problems.append([])
        elif problems and line.startswith("    - "):
            problems[-1].append(line.removeprefix("    - ").rstrip("."))
        elif problems and not line.startswith("  "):
            break
    firsts = [problem[0] for problem in problems if problem]
    rest = (line for problem in problems for line in problem[1:])
    return Facts(
        type="ComposerUnresolvable",
        cause=clip(firsts[0] if firsts else _UNRESOLVED.rstrip(".")),
        details=details((*firsts[1:], *rest)),
        key_cause=" + ".join(sorted("; ".join(problem) for problem in problems)),
    )


FORMAT: Final = Format(
    name="php",
    read=read,
    markers=(".php on line ", ".php:", ".php line ", "omposer", "  ["),
    commands=(
        Command("php", interprets=True, speaks="php"),
        Command("php artisan, php phpunit", prints="phpunit"),
        Command("composer", subcommands="*", runs_any=True),
        Command("composer run, composer run-script", subcommands="*"),
        Command("artisan, sail"),
    ),
    closings=(r"Your requirements could not be resolved",),
    stacks=(
        r" {2,3}\[?[A-Z]\w{0,60}(?:\\\w{1,60}){0,9}(?:Exception|Error)(?:\]? {0,300}$| {2}: \S)",
        r"In \S{1,200}\.php line [0-9]{1,7}:$",
        r"(?:PHP )?(?:Fatal|Parse) error: {1,2}\S",
    ),
)
