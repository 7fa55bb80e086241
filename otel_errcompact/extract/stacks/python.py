"""Tracebacks that Python prints: chains, groups, and crashes of the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.cleaning.characters import LEFT_OUT
from otel_errcompact.extract.forms import form
from otel_errcompact.extract.stacks.failure import MAX_CHAIN, MAX_CHILDREN, MAX_DEPTH, Failure, says_all
from otel_errcompact.extract.stacks.frames import Frame, choose_own, is_own_frame, is_plumbing, only_checks
from otel_errcompact.extract.stacks.recursion import recursion_of
from otel_errcompact.extract.statements import is_exception_name
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEADER: Final = "Traceback (most recent call last):"
CUT_OFF: Final = "the traceback is cut off before its last line"
FATAL: Final = "Fatal Python error"
_CRASH: Final = lazy_pattern(rf"\n(?:[.FEsxX]{{1,300}})?{FATAL}: (?P<reason>[^\n]{{1,300}})")
_CRASH_FRAME: Final = form(r"\n  {script} in ([^\n]{1,300})")
GROUP: Final = "Exception Group "

# All patterns begin with a line feed, which is searched for at the speed of C; an anchor is tried at each character.
_HEADER: Final = lazy_pattern(r"\n(?:Exception Group )?Traceback \(most recent call last\):")
_CHAINED: Final = lazy_pattern(
    r"\n(The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):[ ]*(?=\n|\Z)"
)
_FRAME_FORM: Final = (
    r" *{script}(?:, in (?P<function>[^\n]{1,300}))?(?=\n|\Z)"
    r'(?:\n(?! *File ")[ ]+(?![ ^~])(?P<source>[^\n]*))?'
)
_FRAME: Final = form(rf"\n{_FRAME_FORM}")
_FRAME_OR_COUNT: Final = form(
    rf"\n(?:{_FRAME_FORM}| *\[Previous line repeated (?P<count>[0-9]{{1,9}}) more times?\](?=\n|\Z))"
)
_FINAL: Final = lazy_pattern(r"\n(?P<type>[A-Za-z_][\w.<>]{0,300})(?::[ ]?(?P<message>[^\n]*))?(?=\n|\Z)")
_DIVIDER: Final = lazy_pattern(r"( *(?:\+-)?)\+-{4,} (?:[0-9]+|\.\.\.) -{4,}$")
_CLOSING: Final = lazy_pattern(r"( *)\+-{4,}$")
_MARGIN: Final = lazy_pattern(r"( *)(?:\|(?: |$)|\+ (?=Exception Group ))")
_CHILDREN: Final = lazy_pattern(r"\n\x00([0-9]{1,6})(?=\n|\Z)")


def chain_of(text: str) -> tuple[Failure, ...]:
    """Return the last chain in `text`, outermost first; empty if there is none."""
    found = chains_of(text, "", "")
    return found[-1] if found else ()


def crash_of(body: str) -> Failure | None:
    """
    Return what the fault handler prints when the interpreter itself goes down: frames from the innermost outwards.
    """
    crash = _CRASH.search(f"\n{body}")
    if crash is None:
        return None
    thread = body.find("Current thread 0x", crash.end() - 1)
    stack = body[max(thread, crash.end() - 1) :].partition("\n\n")[0]
    frames = [Frame(file, int(line), function) for file, line, function in _CRASH_FRAME.findall(stack)]
    return Failure(FATAL, crash["reason"], choose_own(frames, is_own_frame, ()), frames[0] if frames else None)


# --- chains ----------------------------------------------------------------------------------------------------------


def chains_of(body: str, cut_type: str, cut_message: str, roots: tuple[str, ...] = ()) -> list[tuple[Failure, ...]]:
    """
    Return all chains in `body`, each outermost first.

    Where the last traceback is cut before its last line, `cut_type` and `cut_message` are assumed.
    """
    source = _Source(roots, cut_type, cut_message)
    if GROUP + HEADER not in body:
        return _flat_chains(body, (), source)
    return _block_chains(_read_blocks(body.split("\n")), source)


class _Source(NamedTuple):
    """What is known of a text besides its words."""

    roots: tuple[str, ...] = ()
    cut_type: str = ""
    cut_message: str = ""


def _flat_chains(
    body: str, children: Sequence[tuple[tuple[Failure, ...], ...]], source: _Source
) -> list[tuple[Failure, ...]]:
    chains: list[list[Failure]] = []
    segments = _split_segments(body)
    for number, (link, segment) in enumerate(segments):
        failure = _read_failure(segment, children, source.roots)
        if number == len(segments) - 1:
            failure = _complete_failure(failure, segment, source)
        if failure is not None and link and chains:
            chains[-1].append(failure._replace(follows=True) if link[0] == "D" else failure)
        elif failure is not None:
            chains.append([failure])
    return [tuple(reversed(chain[-MAX_CHAIN:])) for chain in chains]


def _split_segments(body: str) -> list[tuple[str, str]]:
    # Each part begins with a line feed.
    body = f"\n{body}"
    if "above exception" not in body:
        return [("", part) for part in _split_at_headers(body)]
    first, *linked = _CHAINED.split(body)
    segments: list[tuple[str, str]] = []
    for link, piece in (("", first), *zip(linked[::2], linked[1::2], strict=True)):
        parts = _split_at_headers(piece) or (["\n" + piece.strip("\n").rpartition("\n\n")[2]] if linked else [])
        segments.extend(("" if index else link, part) for index, part in enumerate(parts))
    return segments


def _split_at_headers(piece: str) -> list[str]:
    # Split at the tracebacks' first lines; a traceback whose first line is cut off begins with its first frame.
    starts = [found.start() for found in _HEADER.finditer(piece)]
    before = _FRAME.search(piece, 0, starts[0] if starts else len(piece))
    if before is not None:
        starts.insert(0, before.start())
    return [piece[start:end] for start, end in pairwise((*starts, len(piece)))]


def _read_failure(
    segment: str, children: Sequence[tuple[tuple[Failure, ...], ...]], roots: tuple[str, ...]
) -> Failure | None:
    # Read one exception: its frames, the line with type and message, and the lines that belong to the message.
    final = _FINAL.search(segment)
    if final is None or ('\n  File "' in segment and HEADER not in segment and not is_exception_name(final["type"])):
        return None
    message = segment[final.start("message") if final["message"] else final.end() :]
    group = _CHILDREN.search(message) if children else None
    if group is not None:
        message = message[: group.start()]
    message, below = message.strip("\n"), ""
    if "\n" in message and says_all(message):
        message, _, below = message.partition("\n")
    stack = segment[: final.start()]
    own, innermost, extra = _find_frames(stack, roots)
    recursion = None
    if final["type"].endswith("RecursionError"):
        recursion = recursion_of(_list_repeated_frames(stack), is_own_frame, is_cut=LEFT_OUT in stack)
        own = recursion.place if recursion is not None else own
    return Failure(
        final["type"].removeprefix("__main__."),
        message,
        own,
        innermost,
        extra or below.strip("\n"),
        children[int(group[1])] if group is not None and int(group[1]) < len(children) else (),
        recursion=recursion,
        caller=_find_caller(stack, own, roots) if own is not None and own is innermost and only_checks(own) else None,
    )


def _find_caller(stack: str, own: Frame, roots: tuple[str, ...]) -> Frame | None:
    outer = (frame for frame in _iterate_frames(stack) if frame != own and not only_checks(frame))
    return choose_own(outer, is_own_frame, roots)


def _complete_failure(failure: Failure | None, segment: str, source: _Source) -> Failure | None:
    # Return the last failure of a text, completed by what its source says of it where the text is cut off.
    roots, cut_type, cut_message = source
    bare_type = cut_type.rpartition(".")[2]
    if failure is not None:
        is_cut = bare_type.startswith(failure.type.rpartition(".")[2]) and cut_message.startswith(failure.message)
        in_code = failure.own is not None and not failure.own.function
        return failure._replace(type=cut_type, message=cut_message) if is_cut and cut_type and not in_code else failure
    if HEADER not in segment and not cut_type:
        return None
    own, innermost, _ = _find_frames(segment, roots)
    return Failure(cut_type or "Exception", cut_message or CUT_OFF, own, innermost) if innermost or cut_type else None


def _find_frames(stack: str, roots: tuple[str, ...]) -> tuple[Frame | None, Frame | None, str]:
    # Return the innermost own frame, the innermost frame, and the line that could not be compiled if that is neither.
    frames = _iterate_frames(stack)
    innermost = next(frames, None)
    if innermost is None:
        return None, None, ""
    if innermost.function:
        if is_plumbing(innermost.file):
            rest = list(frames)
            return (
                choose_own(rest, is_own_frame, roots),
                next((frame for frame in rest if not is_plumbing(frame.file)), None),
                "",
            )
        return choose_own(chain((innermost,), frames), is_own_frame, roots), innermost, ""
    called = next(frames, None) if innermost.file.startswith("<") else None
    own = choose_own(chain((called,), frames), is_own_frame, roots) if called is not None else None
    # Code without a file, which `eval` got: what counts is who handed it over.
    return (innermost, innermost, "") if own is None else (own, called, innermost.source)


def _iterate_frames(stack: str) -> Iterator[Frame]:
    # Yield frames from the innermost outwards, of which mostly the first few are looked at.
    end = len(stack)
    while end > 0:
        end = stack.rfind("\n", 0, max(0, stack.rfind('File "', 0, end)))
        found = _FRAME.match(stack, end) if end >= 0 else None
        if found is not None:
            yield _build_frame(found.groups(""))


def _build_frame(found: Sequence[str]) -> Frame:
    file, line, function, source = found
    return Frame(file, int(line), function, "" if source.startswith("[Previous line") else source)


def _list_repeated_frames(stack: str) -> Iterator[tuple[Frame, int]]:
    # Yield all frames of a stack; those that Python has printed as a count, with it.
    frame: Frame | None = None
    for found in _FRAME_OR_COUNT.finditer(stack):
        if found["count"] is None:
            frame = _build_frame(found.groups("")[:4])
            yield frame, 1
        elif frame is not None:
            yield frame, int(found["count"])


# --- groups ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Block:
    """The lines at one margin of a printed group, with a mark where children stood."""

    level: int
    lines: list[str] = field(default_factory=list[str])
    groups: list[list[_Block]] = field(default_factory=list["list[_Block]"])


def _read_blocks(lines: Iterable[str]) -> _Block:
    root = _Block(level=-1)
    stack = [root]
    for line in lines:
        divider = _DIVIDER.match(line)
        closing = None if divider else _CLOSING.match(line)
        margin = None if divider or closing else _MARGIN.match(line)
        found = divider or closing or margin
        level = len(found[1]) if found else -1
        while len(stack) > 1 and (stack[-1].level > level or (not margin and stack[-1].level == level)):
            stack.pop()
        if divider:
            stack.append(_add_child(stack[-1], level))
        elif not closing:
            stack[-1].lines.append(line[margin.end() :] if margin else line)
    return root


def _add_child(parent: _Block, level: int) -> _Block:
    mark = f"\x00{len(parent.groups) - 1}"
    if not parent.groups or parent.lines[-1:] != [mark]:
        parent.lines.append(f"\x00{len(parent.groups)}")
        parent.groups.append([])
    child = _Block(level=level)
    if len(parent.groups[-1]) < MAX_CHILDREN:
        parent.groups[-1].append(child)
    return child


def _block_chains(block: _Block, source: _Source, depth: int = 0) -> list[tuple[Failure, ...]]:
    # Return the chains of a block, with those of its children in their places.
    if depth > MAX_DEPTH:
        return []
    children = [
        tuple(chains[-1] for child in group if (chains := _block_chains(child, _Source(source.roots), depth + 1)))
        for group in block.groups
    ]
    body = "\n".join(block.lines)
    chains = _flat_chains(body, children, source)
    if chains or depth == 0:
        return chains
    # An exception that was put into a group without being raised has no stack.
    unraised = _read_failure(f"\n{body}", children, source.roots)
    return [(unraised,)] if unraised is not None else []
