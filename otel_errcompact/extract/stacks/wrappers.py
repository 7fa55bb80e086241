"""The exceptions around a root cause, from the inside out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.reading import NO_MESSAGE
from otel_errcompact.extract.stacks.failure import MAX_CHAIN, says_all
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.extract.stacks.failure import Failure
    from otel_errcompact.extract.stacks.frames import Frame
    from otel_errcompact.extract.stacks.places import Places

MAX_SHOWN: Final = 8
"""Wrappers of a chain that are shown, from either end half of them."""

_SUB_EXCEPTIONS: Final = lazy_pattern(r" \([0-9]{1,9} sub-exceptions?\)$")
_JOINTS: Final = " :;,.([<"
_CLOSED: Final = " :;,.([<)]"
_DETAILS: Final = ("> ", "parameters: ")
"""Lines of a wrapper besides the first that are told: a database's statement and its values."""

_LEADS: Final = ("; nested exception is", "; Reason", "; cause", " caused by", " because of")
_MIN_QUOTE: Final = 8
"""Characters of a cause that a wrapper repeats; fewer may stand there by chance."""


def write_wrappers(chain: Sequence[Failure], cause: str, frame: Frame | None, places: Places) -> Iterator[str]:
    """
    Write the wrappers of a root cause, the innermost first.

    A wrapper that only repeats what it wraps is named in the line of the next one that says more; none repeats the
    message of the root cause.
    """
    wrappers = drop_quotes(chain)[:-1][::-1]
    left_out = len(wrappers) - MAX_SHOWN
    if left_out > 0:
        half = MAX_SHOWN // 2
        yield from _lines_of(wrappers[:half], cause, frame, places)
        yield f"... {left_out} more wrappers"
        wrappers = wrappers[-half:]
    yield from _lines_of(wrappers, cause, frame, places)


def _lines_of(wrappers: Sequence[Failure], cause: str, frame: Frame | None, places: Places) -> Iterator[str]:
    pending: list[str] = []
    said = {cause}
    for number, wrapper in enumerate(wrappers):
        reading = read_message(wrapper.message)
        message = without_count(reading.cause)
        repeats = message == NO_MESSAGE or any(message in known for known in said)
        is_last = number == len(wrappers) - 1
        told = [line for line in reading.details[:4] if line.startswith(_DETAILS)]
        if repeats and not told and not is_last and not wrapper.follows and not wrappers[number + 1].follows:
            pending.append(wrapper.type)
            continue
        names = ", then as ".join((*_count_names(pending), wrapper.type))
        words = "" if repeats else f": {message}"
        yield f"{_LINKS[wrapper.follows]} {names}{_format_place(wrapper.shown or wrapper.own, frame, places)}{words}"
        yield from told
        pending.clear()
        said.add(message)


_LINKS: Final = {False: "raised as", True: "while handling that, raised"}


def _count_names(names: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        count = names.count(name)
        yield f"{name} (x {count})" if count > 1 else name


def without_count(message: str) -> str:
    """Return a group's message without the number of its exceptions."""
    return _SUB_EXCEPTIONS.sub("", message) if message.endswith(")") else message


def _format_place(own: Frame | None, frame: Frame | None, places: Places) -> str:
    if own is None or (frame is not None and (own.file, own.line) == (frame.file, frame.line)):
        return ""
    return f" at {places.name(own)}"


# --- quotes ----------------------------------------------------------------------------------------------------------


def drop_quotes(chain: Sequence[Failure]) -> tuple[Failure, ...]:
    """Take from each wrapper's message what it quotes of its cause."""
    chain = chain[-MAX_CHAIN:]
    shortened = [outer._replace(message=_drop_quote(outer.message, inner)) for outer, inner in pairwise(chain)]
    return (*shortened, *chain[-1:])


def _drop_quote(message: str, cause: Failure) -> str:
    first = cause.message.partition("\n")[0].strip()
    start = message.find(first) if len(first) >= _MIN_QUOTE else -1
    if start >= 0:
        # What follows in further lines is the wrapper's own.
        statement = message.find("\n[SQL: ", start)
        head = _drop_end(message[:start].strip(_JOINTS), cause)
        return f"{head or NO_MESSAGE}{message[statement:]}" if statement >= 0 else head
    return _drop_end(message, cause)


def _drop_end(message: str, cause: Failure) -> str:
    message = message.rstrip(_JOINTS)
    bare = message.rstrip(_CLOSED)
    if bare.endswith(cause.type):
        message = bare[: bare.rfind(" ") + 1].rstrip(_JOINTS)
    for lead in _LEADS:
        message = message.removesuffix(lead)
    return message.rstrip(_JOINTS)


def extras_of(chain: Iterable[Failure]) -> Iterator[str]:
    """Yield what exceptions carry besides their messages."""
    for failure in chain:
        if failure.extra and not says_all(failure.message):
            reading = read_message(failure.extra)
            yield from (reading.cause, *reading.details)
        yield from failure.attributes
