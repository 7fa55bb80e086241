"""Stacks that engines of JavaScript print, with the names and messages of their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import Facts, Location
from otel_errcompact.extract.messages.comparison import read_changes
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.stacks.failure import MAX_CHILDREN, MAX_DEPTH, Failure
from otel_errcompact.extract.stacks.frames import Frame, choose_own
from otel_errcompact.extract.stacks.javascript_frames import frame_of, innermost, is_own, is_own_frame, plain_file
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.extract.stacks.recursion import recursion_of
from otel_errcompact.extract.statements import GENERIC_TYPES, Statement, indentation, is_exception_name
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.format import Text

ASSERTION: Final = "AssertionError"
CUT_OFF: Final = "the stack is cut off before its first line"
MODULE_NOT_FOUND: Final = "MODULE_NOT_FOUND"
_MAX_MESSAGE_LINES: Final = 80
_MAX_CHAINS: Final = 50
_MAX_PROPERTIES: Final = 4

_MAX_BEFORE_TYPE: Final = 400
"""Characters of a line in which the type of an error is looked for; logs put much before it."""

_UNNAMED_WITHIN: Final = 8
"""Lines above the first frame in which an error whose name does not look like one is looked for."""

_HEADER: Final = lazy_pattern(
    r"(?<![\w$.'`/-])(?P<type>[A-Za-z_$][\w$.]{0,100})(?: \[(?P<code>\w{1,60})\])?(?:: |:?\]?(?: \{)?$)"
)
_UNNAMED: Final = lazy_pattern(
    r"(?:Uncaught |Unhandled |error: |Caused by: |\(in promise\) ){0,4}"
    r"(?P<type>error|[A-Z][\w$]{1,60}): (?P<message>.*)"
)
_SYSTEM: Final = lazy_pattern(r"(?:[a-z]{2,12} (?:[^\s:]{1,200} )?)?(?P<code>E[A-Z][A-Z0-9]{2,14})(?=:| |$)")

_OF_NODE: Final = "ERR_"
"""What codes of Node's own errors begin with; their messages say as much."""

_MISSING: Final = lazy_pattern(r"Cannot find (?:module|package) ['\"][^'\"]{1,500}['\"]")
_IMPORTER: Final = lazy_pattern(r" (?:imported from|from) ['\"]?(?P<file>[^'\"\n]{1,1000}?\.\w{1,5})['\"]?\.?$")
_COMPILED: Final = lazy_pattern(
    r"(?P<file>[^\s:]{1,500}):(?P<line>[0-9]{1,7}):[0-9]{1,7} - error (?P<code>TS[0-9]{1,6}): (?P<message>.{1,500})"
)
_REJECTION: Final = "UnhandledPromiseRejection"
_REASON: Final = 'The promise rejected with the reason "'
_PROPERTY: Final = lazy_pattern(r"\s*(?P<name>[\w$]{1,60}): (?P<value>[^\s{\[].{0,300}|[{\[].{0,300}[}\]]),?$")

_UNTOLD: Final = frozenset(
    {
        *("code", "errno", "syscall", "stack", "name", "generatedMessage", "actual", "expected", "operator", "diff"),
        *("requireStack", "url", "spawnargs", "originalLine", "originalColumn", "sourceURL", "file", "line", "column"),
        *("length", "severity", "position", "routine", "clientVersion", "digest", "request", "config"),
    }
)
"""Properties of errors that repeat what is told elsewhere, or that help nobody to mend the failure."""

_INNER: Final = frozenset({"data", "body", "detail", "reason"})
"""Properties of an error's own objects, as of the response it is about, that tell why it failed."""

_EMPTY: Final = ("undefined", "null", "<ref", "[Object", "[Function", "[Array", "{}", "[]")
_NUMBERED: Final = lazy_pattern(r" *[0-9]{1,7} \| ?")
_PLACE_ABOVE: Final = lazy_pattern(r"(?P<file>\S.{0,1000}):(?P<line>[0-9]{1,7})$")
_THROWN: Final = "(Use `node --trace-uncaught"
_NO_MEMORY: Final = lazy_pattern(r"(?m)^FATAL ERROR: (?P<message>.{0,300}heap out of memory)")
_BUN: Final = lazy_pattern(r"(?m)^Bun v[0-9]")
_QUOTED_STACK: Final = lazy_pattern(r'"stack": ?"(?P<stack>(?:[^"\\]|\\.){1,20000})')
_QUOTED_FRAME: Final = "\\n    at "


def read(text: Text) -> Facts | None:
    """Return the facts of the last error with a stack; others of the same text become details."""
    lines = _unquote_stack(text).split("\n") if _QUOTED_FRAME in text.body else text.lines
    chains = chains_of(lines, text.roots)
    if chains:
        return facts_of_stacks(chains)
    return _read_thrown(lines) or _read_without_stack(text, lines) or _cut_off(text, lines)


def _unquote_stack(text: Text) -> str:
    # Resolve the escapes of a stack that stands in a string of a log record; the body of a response is left alone.
    if text.body[:1] not in ("{", "["):
        return text.body.replace("\\n", "\n")
    found = None if '"status' in text.body else _QUOTED_STACK.search(text.body)
    return found["stack"].replace("\\n", "\n").replace('\\"', '"') if found else text.body


# --- chains ----------------------------------------------------------------------------------------------------------


class _Read(NamedTuple):
    """What was read of an error and its causes, and the line behind it."""

    chain: tuple[Failure, ...]
    end: int


def chains_of(lines: Sequence[str], roots: tuple[str, ...] = ()) -> list[tuple[Failure, ...]]:
    """Return the chains of all errors with a stack in `lines`, each outermost first."""
    chains: list[tuple[Failure, ...]] = []
    of_bun = any(line.startswith("Bun v") for line in lines[-3:])
    start = number = 0
    while number < len(lines) and len(chains) < _MAX_CHAINS:
        header = _header_above(lines, number, start)
        if header is None:
            number += 1
            start = number if _is_frame(lines[number - 1]) else start
            continue
        read = _read_error(lines, header, 0, roots)
        if chains and (of_bun or lines[header].lstrip().startswith("Caused by: ")):
            chains[-1] = (*chains[-1], *read.chain)
        else:
            chains.append(read.chain)
        start = number = max(read.end, number + 1)
    return chains


def _header_above(lines: Sequence[str], number: int, start: int) -> int | None:
    # Return the line that states the error whose first frame is line `number`, or whose properties begin there.
    line = lines[number]
    if line.endswith("] {") and line.lstrip()[:1] == "[":
        return number if _read_header(line) else None
    if not _is_frame(line) or (number > start and _is_frame(lines[number - 1])):
        return None
    above = range(number - 1, max(start, number - _MAX_MESSAGE_LINES) - 1, -1)
    named = next((at for at in above if _read_header(lines[at]) is not None), None)
    if named is not None:
        return named
    for at in above[:_UNNAMED_WITHIN]:
        if not lines[at].strip():
            return None
        if _read_unnamed(lines[at]) is not None:
            return at
    return None


def _is_frame(line: str) -> bool:
    stripped = line.lstrip()
    if stripped.startswith("at "):
        return frame_of(stripped) is not None
    return "@" in line and frame_of(line) is not None


class _Stated(NamedTuple):
    """What the first line of an error states."""

    type: str
    code: str
    message: str


def _read_header(line: str) -> _Stated | None:
    # Return what a line states, whatever a log has put before it.
    if line.lstrip()[:3] == "at " or (":" not in line and "Err" not in line):
        return None
    found = next((found for found in _HEADER.finditer(line, 0, _MAX_BEFORE_TYPE) if _is_name(found["type"])), None)
    return _Stated(found["type"], found["code"] or "", line[found.end() :]) if found else None


def _is_name(name: str) -> bool:
    return is_exception_name(name) or name == _REJECTION


def _read_unnamed(line: str) -> _Stated | None:
    # Return what a line right above a stack states of an error whose name does not look like one.
    found = _UNNAMED.match(line.strip())
    return _Stated(found["type"], "", found["message"]) if found else None


def _read_error(lines: Sequence[str], header: int, depth: int, roots: tuple[str, ...]) -> _Read:
    # Read the error that line `header` states, its stack, its properties, and its causes.
    stated = _read_header(lines[header]) or _read_unnamed(lines[header])
    if stated is None:  # a cause that is no error: a text, a number
        return _Read((Failure("Error", lines[header].partition("]: ")[2].strip(" '\",")),), header + 1)
    said = stated.message
    margin = indentation(lines[header])
    with_properties = said.endswith("] {") or lines[header].endswith("] {")
    number = header + 1
    first = number if with_properties else _first_frame(lines, number, margin, nested=depth > 0)
    is_bracketed = lines[header].strip().removeprefix("[cause]: ")[:1] == "["
    message = [said.removesuffix(" {").rstrip(",").removesuffix("]") if is_bracketed else said, *lines[number:first]]
    number, frames = _read_frames(lines, first)
    with_properties = with_properties or (number > first and lines[number - 1].endswith("{"))
    properties = _Properties({}, (), (), number)
    if with_properties:
        properties = _read_properties(lines, number, margin, depth, roots)
    excerpt = _excerpt_of(message, frames) or _excerpt_before(lines, header, frames) or _excerpt_above(lines, header)
    own = _choose_frame(frames, excerpt, stated.type, roots)
    failure = _build_failure(stated.type, stated.code, message, frames, properties, own)
    return _Read((failure, *properties.cause), properties.end)


def _first_frame(lines: Sequence[str], start: int, margin: int, *, nested: bool) -> int:
    for number in range(start, min(len(lines), start + _MAX_MESSAGE_LINES)):
        line = lines[number]
        if _is_frame(line):
            return number
        if nested and (indentation(line) < margin or (indentation(line) == margin and _PROPERTY.match(line))):
            break
    return start


def _read_frames(lines: Sequence[str], start: int) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    for number in range(start, len(lines)):
        line = lines[number]
        frame = frame_of(line)
        if frame is not None:
            frames.append(frame)
        elif not line.lstrip().startswith(("at ", "... ")):
            return number, frames
        if line.endswith((",", "{")):
            return number + 1, frames
    return len(lines), frames


class _Properties(NamedTuple):
    """What is printed behind a stack: the error's own fields, its cause, and the errors it is made of."""

    fields: dict[str, str]
    cause: tuple[Failure, ...]
    children: tuple[tuple[Failure, ...], ...]
    end: int


def _read_properties(lines: Sequence[str], start: int, margin: int, depth: int, roots: tuple[str, ...]) -> _Properties:
    fields: dict[str, str] = {}
    cause: tuple[Failure, ...] = ()
    children: tuple[tuple[Failure, ...], ...] = ()
    number = start
    while number < len(lines):
        line = lines[number]
        stripped = line.strip()
        if stripped[:1] == "}" and indentation(line) <= margin:
            return _Properties(fields, cause, children, number + 1)
        if stripped.startswith("[cause]: ") and depth < MAX_DEPTH:
            cause, number = _read_error(lines, number, depth + 1, roots)
        elif stripped.startswith("[errors]: [") and depth < MAX_DEPTH:
            children, number = _read_children(lines, number + 1, indentation(line), depth, roots)
        else:
            found = _PROPERTY.match(line) if indentation(line) <= margin + 4 else None
            if found is not None and (indentation(line) <= margin + 2 or found["name"] in _INNER):
                fields.setdefault(found["name"], found["value"].rstrip(","))
            number += 1
    return _Properties(fields, cause, children, number)


def _read_children(
    lines: Sequence[str], start: int, margin: int, depth: int, roots: tuple[str, ...]
) -> tuple[tuple[tuple[Failure, ...], ...], int]:
    children: list[tuple[Failure, ...]] = []
    number = start
    while number < len(lines) and indentation(lines[number]) > margin:
        read = _read_error(lines, number, depth + 1, roots)
        if len(children) < MAX_CHILDREN:
            children.append(read.chain)
        number = read.end
    return tuple(children), number + 1


# --- one error -------------------------------------------------------------------------------------------------------


class _Excerpt(NamedTuple):
    """The line of code that a runtime prints with an error."""

    source: str
    place: Frame | None = None
    """Where the line is, if that is printed with it."""


def _excerpt_above(lines: Sequence[str], header: int) -> _Excerpt | None:
    # Return what Node prints before an error: a place, a line of code, a mark below it.
    above = [line for line in lines[max(0, header - 4) : header] if line.strip()][-3:]
    found = _PLACE_ABOVE.match(above[0]) if above and _is_mark(above[-1]) else None
    if found is None:
        return None
    file = plain_file(found["file"])
    return _Excerpt(above[1].strip(), Frame(file, int(found["line"]))) if is_own(file) else None


def _excerpt_of(message: list[str], frames: Sequence[Frame]) -> _Excerpt | None:
    # Take what Deno prints between message and stack off the message.
    if not frames or not message[2:] or not _is_mark(message[-1]):
        return None
    message.pop()
    return _Excerpt(message.pop().strip())


def _excerpt_before(lines: Sequence[str], header: int, frames: Sequence[Frame]) -> _Excerpt | None:
    # Return the last line of the numbered code that Bun prints before an error.
    above = lines[max(0, header - 2) : header]
    found = _NUMBERED.match(above[0]) if frames and above and _is_mark(above[-1]) else None
    return _Excerpt(above[0][found.end() :].strip()) if found else None


def _is_mark(line: str) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.strip("^~")


def _build_failure(
    kind: str, code: str, message: list[str], frames: Sequence[Frame], properties: _Properties, own: Frame | None
) -> Failure:
    fields = dict(properties.fields)
    text = _separate_fields(message, fields)
    compiled = compiled_in(text) if kind == "TSError" else None
    if compiled is not None:
        kind, text, place = compiled
        return Failure(kind, text, Frame(place.file, place.line))
    if properties.children and not text and len({child[-1].type for child in properties.children}) == 1:
        said = dict.fromkeys(child[-1].message for child in properties.children)
        kind, text = properties.children[0][-1].type, "; ".join(said)
        properties = properties._replace(children=())
    recursion = None
    if ("call stack" in text and kind == "RangeError") or "too much recursion" in text:
        recursion = recursion_of(((frame, 1) for frame in reversed(frames)), is_own_frame)
        own = recursion.place if recursion is not None and is_own(recursion.place.file) else own
    kind = named(kind, code or fields.get("code", "").strip("'\""), text)
    text, importer = split_importer(text)
    return Failure(
        kind,
        _shorten_message(kind, text).removeprefix(f"{kind}: "),
        own or importer,
        innermost(frames, own or importer),
        _list_properties(fields, kind, text),
        properties.children,
        recursion=recursion,
    )


def _separate_fields(lines: list[str], fields: dict[str, str]) -> str:
    # Return a message; what Bun prints below it as the error's fields goes to `fields`.
    kept = lines[:1]
    for line in lines[1:]:
        found = _PROPERTY.match(line) if line[:1] == " " and line.rstrip(",").endswith('"') else None
        if found is None:
            kept.append(line)
        else:
            fields[found["name"]] = found["value"].rstrip(",")
    return "\n".join(kept).strip()


def named(kind: str, code: str, message: str) -> str:
    """
    Return the name of an error: that of its class, or its code where the class says no more than that it is an error.
    """
    kind = kind.rpartition("/")[2]
    if kind not in GENERIC_TYPES and kind not in {"DOMException", "SystemError"}:
        return kind
    if _MISSING.match(message):
        return code if code.startswith(_OF_NODE) else MODULE_NOT_FOUND
    system = _SYSTEM.match(message)
    if system is not None:
        return system["code"]
    return code if code and code not in GENERIC_TYPES and not code.isdecimal() else "Error" if kind == "error" else kind


def compiled_in(message: str) -> Statement | None:
    """Return the first error that TypeScript's compiler states in a message."""
    found = _COMPILED.search(message)
    if found is None:
        return None
    return Statement(found["code"], found["message"], Location(file=found["file"], line=int(found["line"])))


def split_importer(message: str) -> tuple[str, Frame | None]:
    """Return a message without the files that tried to load a module, and the innermost of these."""
    start, found, stack = message.partition("\nRequire stack:\n- ")
    if found:
        return start, Frame(stack.partition("\n")[0].strip())
    first, _, rest = message.partition("\n")
    place = _IMPORTER.search(first) if _MISSING.match(first) else None
    if place is None:
        return message, None
    return "\n".join(filter(None, (first[: place.start()], rest))), Frame(plain_file(place["file"]))


def _shorten_message(kind: str, message: str) -> str:
    # Return the message of a failed comparison in one line, with both values; that of a rejection without its preamble.
    if kind == ASSERTION:
        return asserted(message)
    if kind.startswith("PrismaClient"):
        return message.rstrip().rpartition("\n")[2]
    _, found, reason = message.partition(_REASON)
    reason = reason.rstrip("].").removesuffix('"')
    return (f"rejected with {reason}" if reason.startswith("#<") else reason) if found else message


def asserted(message: str, difference: Sequence[str] = ()) -> str:
    """
    Return the claim of a comparison with both values.

    Node's own message holds a difference; a test runner, as Mocha, prints it below.
    """
    claim, _, rest = message.partition("\n")
    if not rest and not (claim.endswith(":") and difference):
        return claim
    lines = rest.split("\n")
    changes = read_changes(difference, expected="+") if difference else read_changes(lines, expected="-")
    if changes.expected or changes.actual:
        return changes.told(claim.rstrip(".:"))
    return " ".join((claim, *filter(None, map(str.strip, lines))))


def _list_properties(fields: dict[str, str], kind: str, message: str) -> str:
    told = [
        f"{name}: {value}"
        for name, value in fields.items()
        if name not in _UNTOLD and value.strip("'\"") not in message and not value.startswith(_EMPTY)
    ]
    code = fields.get("code", "").strip("'\"")
    shown = [f"code: {code}"] if code and code != kind and code not in message and not code.startswith(_OF_NODE) else []
    return ", ".join((*shown, *told[:_MAX_PROPERTIES]))


def _choose_frame(frames: Sequence[Frame], excerpt: _Excerpt | None, kind: str, roots: tuple[str, ...]) -> Frame | None:
    own = choose_own(frames, is_own_frame, roots)
    if excerpt is None:
        return own
    place = excerpt.place
    if place is None:
        is_its_own = own is not None and innermost(frames, own) is own
        return own._replace(source=excerpt.source) if own is not None and is_its_own else own
    if own is None or kind == "SyntaxError":
        return place._replace(source=excerpt.source)
    return own._replace(source=excerpt.source) if (own.file, own.line) == (place.file, place.line) else own


# --- errors without a stack ------------------------------------------------------------------------------------------


def _read_thrown(lines: Sequence[str]) -> Facts | None:
    # Read what Node prints where something was thrown that is no error.
    end = next((number for number, line in enumerate(lines) if line.startswith(_THROWN)), 0)
    mark = next((number for number in range(end - 1, 1, -1) if _is_mark(lines[number])), 0)
    found = _PLACE_ABOVE.match(lines[mark - 2]) if mark else None
    if found is None:
        return None
    reading = read_message("\n".join(lines[mark + 1 : end]))
    place = Frame(plain_file(found["file"]), int(found["line"]), "").place()
    return Facts(type="Uncaught", cause=reading.cause, location=place, details=(f"> {lines[mark - 1].strip()}",))


def _read_without_stack(text: Text, lines: Sequence[str]) -> Facts | None:
    # Read an error that stands without frames: memory is used up, or Bun could not load a module.
    exhausted = _NO_MEMORY.search(text.body)
    if exhausted is not None:
        return Facts(type="OutOfMemory", cause=exhausted["message"])
    if not _BUN.search(text.body):
        return None
    header = next((number for number, line in enumerate(lines) if _read_header(line) or _read_unnamed(line)), None)
    return None if header is None else facts_of_stacks([_read_error(lines, header, 0, ()).chain])


def _said_above(lines: Sequence[str], first: int) -> list[str]:
    # Node prints a place, a line of code and a mark, then an error whose name does not look like one.
    mark = next((number for number in range(2, first) if _is_mark(lines[number])), 0)
    if not mark or _PLACE_ABOVE.match(lines[mark - 2]) is None:
        return []
    return [line.strip() for line in lines[mark + 1 : first] if line.strip()][:_MAX_MESSAGE_LINES]


def _cut_off(text: Text, lines: Sequence[str]) -> Facts | None:
    if "\nNode.js v" not in text.body:
        return None
    start = next((number for number, line in enumerate(lines) if _is_frame(line)), None)
    if start is None:
        return None
    number, frames = _read_frames(lines, start)
    fields = _read_properties(lines, number, 0, MAX_DEPTH, ()).fields if lines[number - 1].endswith("{") else {}
    own = choose_own(frames, is_own_frame, text.roots)
    failure = _build_failure(
        "Error", "", _said_above(lines, start) or [CUT_OFF], frames, _Properties(fields, (), (), number), own
    )
    return facts_of_stacks([(failure,)])
