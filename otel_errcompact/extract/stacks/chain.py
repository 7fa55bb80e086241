"""From a chain of exceptions to facts, at hand or printed in any language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import details
from otel_errcompact.extract.forms import form
from otel_errcompact.extract.messages.calls import TYPES as CALLS
from otel_errcompact.extract.messages.calls import read_call
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.payload.embedded import find_body
from otel_errcompact.extract.reading import NO_MESSAGE, Reading
from otel_errcompact.extract.stacks.frames import Frame, library_place
from otel_errcompact.extract.stacks.groups import Child, facts_of_group
from otel_errcompact.extract.stacks.places import Places
from otel_errcompact.extract.stacks.recursion import MAX_CYCLE, Recursion
from otel_errcompact.extract.stacks.wrappers import extras_of, write_wrappers
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from otel_errcompact.extract.stacks.failure import Failure

MAX_WRAPPERS: Final = 16
_PRIVATE_MODULE: Final = form(r"\b_\w{1,100}\.")

_RAISE: Final = ("raise ", "throw ", ".format(", "% ", ")")
"""How a source line begins that says no more than type and message do."""

_ASSERT: Final = "assert "
_OVERFLOW: Final = "RecursionError"
_NO_ROOTS: Final = frozenset({"CancelledError", "GeneratorExit"})


def public_name(name: str) -> str:
    """Return the name of an exception without private modules."""
    return _PRIVATE_MODULE.sub("", name) if "._" in name else name


def printed_source(frame: Frame) -> str:
    """Return the source line that was printed with a frame."""
    return frame.source


def facts_of(chain: Sequence[Failure], *, source_of: Callable[[Frame], str] = printed_source) -> Facts:
    """Return the facts of a chain, the outermost exception first."""
    chain = _to_root(chain)
    root = chain[-1]
    if root.children:
        frame, keyed = _frames_of(chain)
        facts = facts_of_group(chain, list(_list_leaves(root, source_of, "")), frame, _list_wrapper_types(chain))
        return facts if facts.key_location else replace(facts, key_location=_other_place(frame, keyed))
    reading = _read_refused_call(chain) or read_message(root.message)
    if reading.type in CALLS:
        return _facts_of_call(reading)
    frame, keyed = _frames_of(chain)
    source = (frame.source or source_of(frame)) if frame is not None else ""
    location = frame.place() if frame is not None else NOWHERE
    claim = source if reading.cause == NO_MESSAGE and source.startswith(_ASSERT) else ""
    shown = "" if claim or source.startswith(_RAISE) else source
    lines = [*reading.details, f"> {shown}" if shown else ""]
    if len(chain) > 1 or root.innermost is not frame or root.extra or root.attributes or root.recursion or root.caller:
        lines.extend(_find_context(chain, frame, source_of, Places(location)))
    return Facts(
        type=reading.type or public_name(root.type),
        cause=claim or reading.cause,
        location=location,
        key_location=_other_place(frame, keyed),
        details=details(lines),
        wrappers=_list_wrapper_types(chain),
        output=root.extra or (root.message if "\n" in root.message else ""),
        key_cause=_key_of_answer(chain, reading) or reading.key or (reading.cause if claim else ""),
        key_is_whole=bool(reading.type),
    )


def _read_refused_call(chain: Sequence[Failure]) -> Reading | None:
    # Return the reading of a wrapper that states what its root only implies: the parsed text was that of arguments.
    if len(chain) == 1 or "(char " not in chain[-1].message:
        return None
    stated = (read_call(f"{wrapper.message}: {chain[-1].message}") for wrapper in reversed(chain[:-1]))
    return next(filter(None, stated), None)


def _key_of_answer(chain: Sequence[Failure], reading: Reading) -> str:
    # Of an answer the root may give the status alone, and a wrapper quote its body.
    if len(chain) == 1 or " for url" not in reading.cause:
        return ""
    quoted = next(filter(None, (find_body(wrapper.message) for wrapper in reversed(chain[:-1]))), None)
    return f"{reading.cause}: {quoted.body.code} {quoted.body.key or quoted.body.message}" if quoted else ""


def _facts_of_call(reading: Reading) -> Facts:
    # No code of the user's has failed, so the frames are those of whoever was to call it.
    return Facts(
        type=reading.type,
        cause=reading.cause,
        details=details(reading.details),
        key_cause=reading.key,
        key_is_whole=True,
    )


def _to_root(chain: Sequence[Failure]) -> Sequence[Failure]:
    # A group's causes are its children, a cancellation is an effect, and no overflow is due to what was handled then.
    end = len(chain)
    if end == 1:
        return chain
    for number, failure in enumerate(chain):
        if failure.children or (failure.follows and failure.type.endswith(_OVERFLOW)):
            return chain[: number + 1]
    while end > 1 and chain[end - 1].type.rpartition(".")[2] in _NO_ROOTS:
        end -= 1
    return chain[:end]


def _frames_of(chain: Sequence[Failure]) -> tuple[Frame | None, Frame | None]:
    # They are of the root cause, else of the exception nearest to it that has an own one; without any, the innermost.
    for failure in reversed(chain):
        if failure.own is not None:
            return failure.shown or failure.own, failure.own
    return chain[-1].innermost, chain[-1].innermost


def _other_place(shown: Frame | None, keyed: Frame | None) -> Location:
    return NOWHERE if keyed is None or keyed is shown else keyed.place()


def _list_wrapper_types(chain: Sequence[Failure]) -> tuple[str, ...]:
    return tuple(failure.type for failure in chain[:-1][:MAX_WRAPPERS]) if len(chain) > 1 else ()


def _find_context(
    chain: Sequence[Failure], frame: Frame | None, source_of: Callable[[Frame], str], places: Places
) -> Iterator[str]:
    root = chain[-1]
    if root.recursion is not None and root.recursion.cycle:
        yield from _write_recursion(root.recursion, source_of, places)
    if root.caller is not None and root.own is frame:
        yield f"called from {places.name(root.caller)}"
    yield from extras_of(chain)
    if root.recursion is None and root.innermost is not frame:
        yield _write_library(root.innermost)
    if len(chain) > 1:
        yield from write_wrappers(chain, root.message, frame, places)


def _write_library(innermost: Frame | None) -> str:
    if innermost is None or innermost.file.startswith("<"):
        return ""
    return f"raised in {library_place(innermost)}"


def _write_recursion(recursion: Recursion, source_of: Callable[[Frame], str], places: Places) -> Iterator[str]:
    cycle, entry = recursion.cycle, recursion.entry
    names = [places.name(frame) for frame in cycle[:MAX_CYCLE]]
    names.extend(["..."] if len(cycle) > MAX_CYCLE else [])
    times = f", {recursion.turns} times" if recursion.turns else ", and so on"
    yield f"cycle: {' -> '.join((*names, cycle[0].function or names[0]))}{times}"
    if entry is not None:
        source = entry.source or source_of(entry)
        yield f"entered from {places.name(entry)}"
        yield f"> {source}" if source else ""


def _list_leaves(group: Failure, source_of: Callable[[Frame], str], inside: str) -> Iterator[Child]:
    for chain in group.children:
        inner = _to_root(chain)
        root = inner[-1]
        if root.children:
            name = read_message(root.message).cause
            yield from _list_leaves(root, source_of, f"{inner[0].type}: {name}" if len(inner) > 1 else name)
        else:
            yield Child(facts_of(chain, source_of=source_of), inside)
