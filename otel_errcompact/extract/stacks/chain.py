"""From a chain of exceptions to facts: the same way for exceptions at hand and for stacks of any language as text."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.dedup.key import signature_of
from otel_errcompact.dedup.masking import mask
from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import MAX_CAUSE, clip, details
from otel_errcompact.extract.messages.message import NO_MESSAGE, read_message
from otel_errcompact.extract.stacks.frames import library_place
from otel_errcompact.redaction.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from otel_errcompact.extract.stacks.frames import Frame

MAX_CHAIN: Final = 100
"""Exceptions of one chain that are looked at."""

MAX_CHILDREN: Final = 100
"""Exceptions of one group that are looked at."""

MAX_DEPTH: Final = 10
"""Groups inside groups that are looked into; as deep as Python prints them."""

MAX_WRAPPERS: Final = 16

_MIN_CHILD: Final = 80
"""Characters that each exception of a group has at least, in the cause of the group."""

_SUB_EXCEPTIONS: Final = re.compile(r" \([0-9]{1,9} sub-exceptions?\)$")
_PRIVATE_MODULE: Final = re.compile(r"\b_\w{1,100}\.")
_SOURCE: Final = "> "
_JOINTS: Final = " :;,.([<"
_LEADS: Final = ("; nested exception is", "; Reason", "; cause", " caused by", " because of")
_MIN_QUOTE: Final = 8
"""Characters of a cause that a wrapper repeats; fewer may stand there by chance."""

_RAISE: Final = "raise "
"""How a source line begins that says no more than type and message do."""

_NO_ROOTS: Final = frozenset({"CancelledError", "GeneratorExit"})


class Failure(NamedTuple):
    """
    One exception of a chain.

    A named tuple, since chains are what repeated failures are recognised by: they hash and compare in C.
    """

    type: str
    message: str = ""
    own: Frame | None = None
    """The innermost frame of the user's own code."""

    innermost: Frame | None = None
    extra: str = ""
    """What the exception carries besides its message: the body of a response, the standard error of a command."""

    children: tuple[tuple[Failure, ...], ...] = ()
    """The chains of a group's exceptions."""


def public_name(name: str) -> str:
    """Return the name of an exception without the private modules that its class is defined in."""
    return _PRIVATE_MODULE.sub("", name) if "._" in name else name


def printed_source(frame: Frame) -> str:
    """Return the source line that was printed with a frame."""
    return frame.source


def facts_of(
    chain: Sequence[Failure],
    *,
    source_of: Callable[[Frame], str] = printed_source,
) -> Facts:
    """
    Return the facts of a chain.

    Args:
        chain: The exceptions, outermost first; at least one.
        source_of: Tells the source line of a frame.
    """
    chain = _to_root(chain)
    root = chain[-1]
    if root.children:
        return _facts_of_group(chain, source_of)
    reading = read_message(root.message)
    frame = _frame_of(chain)
    return Facts(
        type=public_name(root.type),
        cause=reading.cause,
        location=frame.place() if frame is not None else NOWHERE,
        details=details((*reading.details, *_find_context(chain, frame, source_of))),
        wrappers=_wrappers(chain),
        output=root.extra or (root.message if "\n" in root.message else ""),
        key_cause=reading.key,
    )


def _to_root(chain: Sequence[Failure]) -> Sequence[Failure]:
    """Return the chain up to its root cause: a group's causes are its children, and a cancellation is an effect."""
    end = len(chain)
    if end == 1:
        return chain
    for number, failure in enumerate(chain):
        if failure.children:
            return chain[: number + 1]
    while end > 1 and chain[end - 1].type.rpartition(".")[2] in _NO_ROOTS:
        end -= 1
    return chain[:end]


def _frame_of(chain: Sequence[Failure]) -> Frame | None:
    """
    Return the frame that counts: the innermost own one of the root cause, else of the exception nearest to it that has
    one; without any, the innermost of all.
    """
    for failure in reversed(chain):
        if failure.own is not None:
            return failure.own
    return chain[-1].innermost


def _wrappers(chain: Sequence[Failure]) -> tuple[str, ...]:
    return tuple(failure.type for failure in chain[:-1][:MAX_WRAPPERS]) if len(chain) > 1 else ()


def _find_context(chain: Sequence[Failure], frame: Frame | None, source_of: Callable[[Frame], str]) -> list[str]:
    """Return what helps to fix the root cause besides its message."""
    lines: list[str] = []
    root = chain[-1]
    source = (frame.source or source_of(frame)) if frame is not None else ""
    if source and not source.startswith(_RAISE):
        lines.append(f"> {source}")
    lines.extend(_extras(chain))
    if len(chain) > 1:
        lines.extend(_wrapper_lines(_drop_quotes(chain)[:-1], root.message, frame))
    if not source and root.innermost is not None and root.innermost is not frame:
        lines.append(f"raised in {library_place(root.innermost)}")
    return lines


def _extras(chain: Iterable[Failure]) -> Iterator[str]:
    """Yield what exceptions carry besides their messages."""
    for failure in chain:
        if failure.extra:
            reading = read_message(failure.extra)
            yield from (reading.cause, *reading.details[:3])


def _drop_quotes(chain: Sequence[Failure]) -> tuple[Failure, ...]:
    """Take from each wrapper's message what it quotes of its cause."""
    chain = chain[-MAX_CHAIN:]
    shortened = [outer._replace(message=_drop_quote(outer.message, inner)) for outer, inner in pairwise(chain)]
    return (*shortened, *chain[-1:])


def _drop_quote(message: str, cause: Failure) -> str:
    first = cause.message.partition("\n")[0].strip()
    start = message.find(first) if len(first) >= _MIN_QUOTE else -1
    if start >= 0:
        message = message[:start].strip(_JOINTS)
    message = message.rstrip(_JOINTS)
    if message.endswith(cause.type):
        message = message[: message.rfind(" ") + 1].rstrip(_JOINTS)
    for lead in _LEADS:
        message = message.removesuffix(lead)
    return message.rstrip(_JOINTS)


def _wrapper_lines(wrappers: Iterable[Failure], said: str, frame: Frame | None) -> Iterator[str]:
    """Yield the wrappers' messages, outermost first, where they say more than the root cause has `said`."""
    for wrapper in wrappers:
        reading = read_message(wrapper.message)
        message = _SUB_EXCEPTIONS.sub("", reading.cause)
        if message != NO_MESSAGE and message not in said:
            yield f"raised as {wrapper.type}{_format_place(wrapper.own, frame)}: {message}"
        yield from (line for line in reading.details[:1] if line.startswith(_SOURCE))


def _format_place(own: Frame | None, frame: Frame | None) -> str:
    """Return where a wrapper was raised, unless that is in the file of the root cause."""
    return "" if own is None or (frame is not None and own.file == frame.file) else f" at {own.place()}"


# --- groups ----------------------------------------------------------------------------------------------------------


def _facts_of_group(chain: Sequence[Failure], source_of: Callable[[Frame], str]) -> Facts:
    """Return the facts of a group: those of its children if they are all one failure, else what they are together."""
    group = chain[-1]
    children = [facts_of(child, source_of=source_of) for child in group.children]
    signatures = [signature_of(child.type, child.location, mask(redact(child.keyed_cause))) for child in children]
    distinct = dict(zip(reversed(signatures), reversed(children), strict=True))
    if len(distinct) == 1:
        return _facts_of_only_child(chain, children[0], len(children))
    counts = Counter(signatures)
    message = _SUB_EXCEPTIONS.sub("", read_message(group.message).cause)
    room = max((MAX_CAUSE - len(message)) // len(counts), _MIN_CHILD)
    summary = "; ".join(_child_in_short(distinct[signature], count, room) for signature, count in counts.items())
    places = _places(distinct[signature] for signature in counts)
    more = (line for signature in counts for line in _drop_sources(distinct[signature].details)[:1])
    frame = _frame_of(chain)
    return Facts(
        type=group.type,
        cause=clip(f"{message}: {summary}"),
        location=frame.place() if frame is not None else NOWHERE,
        details=details((places, *more, *_extras(chain), *_wrapper_lines(chain[:-1], "", frame))),
        wrappers=_wrappers(chain),
        key_cause=" + ".join(sorted(distinct)),
    )


def _facts_of_only_child(chain: Sequence[Failure], child: Facts, count: int) -> Facts:
    """Return the facts of a group's only distinct child; the group counts as a wrapper."""
    mark = (f"{count} times in one {chain[-1].type}",) if count > 1 else ()
    return Facts(
        type=child.type,
        cause=child.cause,
        location=child.location,
        details=details((*mark, *child.details, *_wrapper_lines(chain, child.cause, None))),
        wrappers=(*(failure.type for failure in chain), *child.wrappers)[:MAX_WRAPPERS],
        key_cause=child.key_cause,
    )


def _child_in_short(child: Facts, count: int, room: int) -> str:
    times = f"{count} x " if count > 1 else ""
    return clip(f"{times}{child.type}: {child.cause}", room)


def _drop_sources(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.startswith("> ")]


def _places(children: Iterable[Facts]) -> str:
    """Return in one line where the children failed, in their order; places in one function are named together."""
    lines: dict[tuple[str, str], list[str]] = {}
    for child in children:
        if child.location:
            place = lines.setdefault((child.location.function, child.location.file), [])
            place.append("" if child.location.line is None else str(child.location.line))
    if not lines:
        return ""
    return f"raised at {', '.join(_place(function, file, rows) for (function, file), rows in lines.items())}"


def _place(function: str, file: str, lines: Iterable[str]) -> str:
    numbers = ",".join(dict.fromkeys(filter(None, lines)))
    return str(Location(function=function, file=f"{file}:{numbers}" if numbers else file))
