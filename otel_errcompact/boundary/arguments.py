"""A call's arguments as text."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from json import encoder as json_encoder
from typing import TYPE_CHECKING, Final

from otel_errcompact.digest import encodable
from otel_errcompact.runtime.foreign import qualname_of, string_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.runtime.guard import Guard

Arguments = Mapping[str, object] | str | None

MALFORMED_CALL: Final = "malformed_call"
MAX_WARNINGS: Final = 64
MAX_EXIT_CODE: Final = 2**63
"""What telemetry can carry: one larger number, and an exporter loses all spans that go with it."""

_logger: Final = logging.getLogger("otel_errcompact")
_warned: Final[dict[tuple[str, str], object]] = {}


def _make_encoder() -> Callable[[object], str]:
    # `JSONEncoder.encode` makes its encoder in C for each text.
    make = getattr(json_encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(default=str, ensure_ascii=False).encode
    # Without markers: what is cyclic ends at the limit of recursion.
    try:
        encode = make(None, str, json_encoder.encode_basestring, None, ": ", ", ", False, False, True)
    except TypeError:  # pragma: no cover - a Python that makes it of other arguments
        return json.JSONEncoder(default=str, ensure_ascii=False).encode
    return lambda value: "".join(encode(value, 0))


_encode: Final = _make_encoder()


def as_text(arguments: Arguments) -> str:
    """
    Return a call's arguments as JSON; unknown values by their `str`.

    Arguments that cannot be written down, such as cyclic ones, count as unknown: the text is empty.
    """
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return _encode(arguments)
    except Exception:  # noqa: BLE001 - the application's own __str__ may raise anything
        return ""


def as_name(value: object, what: str, guard: Guard) -> str:
    """Return a name as text that telemetry can carry; see `as_plain`."""
    if type(value) is str and value.isascii():
        return value
    name = as_plain(value, what, guard)
    return name if name.isascii() else encodable(name)


def as_plain(value: object, what: str, guard: Guard) -> str:
    """
    Return a value that should be a text as one.

    A model may have called a tool by no name, or a program handed over a number. That is counted, and a warning says
    it once; the call has the value as it is printed, or with an empty text for None.

    Args:
        value: The value.
        what: What it is, for the warning.
        guard: Where it is counted if it is no text.
    """
    if isinstance(value, str):
        return value
    _count_malformed(value, what, guard)
    return "" if value is None else string_of(value)


def as_exit_code(value: object, guard: Guard) -> int | None:
    """Return an exit status; None if it is unknown or too large."""
    if value is None or (isinstance(value, int) and -MAX_EXIT_CODE <= value < MAX_EXIT_CODE):
        return value
    _count_malformed(value, "the exit status", guard)
    return None


def _count_malformed(value: object, what: str, guard: Guard) -> None:
    guard.failures[MALFORMED_CALL] += 1
    mine, place = object(), (what, qualname_of(type(value)))
    if len(_warned) < MAX_WARNINGS and _warned.setdefault(place, mine) is mine:
        _logger.warning("a call is malformed: %s is %.200r, of the type %s", what, string_of(value), place[1])
