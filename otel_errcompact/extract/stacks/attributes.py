"""Values that an exception carries and its message does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from types import MemberDescriptorType
from typing import Any, Final, cast

from otel_errcompact.extract.clipping import MAX_DETAIL, clip
from otel_errcompact.extract.forms import form
from otel_errcompact.runtime.foreign import attribute_of, bases_of, module_of, string_of

MAX_ATTRIBUTES: Final = 12
"""Lines that tell the values of one exception."""

MAX_LOOKED_AT: Final = 64
"""Attributes, and elements of one attribute, that are looked at."""

_MAX_TEXT: Final = 400
"""Characters of one value; longer ones are documents."""

_MAX_ITEMS: Final = 8
"""Elements of a value that are told."""

_MAX_DEPTH: Final = 3

_AROUND: Final = 40
"""Characters on either side of the position at which a parser stopped."""

_SHORT: Final = 4
"""Characters of a value that may stand inside a word of the message by chance."""

_TOLD_ELSEWHERE: Final = frozenset(
    {
        *("args", "body", "cmd", "doc", "pos", "object", "message", "msg", "name", "output", "request", "response"),
        *("stderr", "stdout", "schema", "parent", "statement", "params", "sqlite_errorcode", "headers", "hdrs", "fp"),
        *("request_id", "requestId", "trace_id", "span_id", "correlation_id", "colno", "lineno", "orig", "returncode"),
    }
)
"""Attributes that the message or another reader holds, and ids that nobody can act on."""

_VALUES: Final = frozenset({"datetime", "decimal", "uuid", "pathlib", "ipaddress", "fractions"})
"""Modules whose instances are values, as numbers and texts are."""

_STATUSES: Final = ("status_code", "status")
_RETRYING: Final = form(r"(?i)(?:retry-after(?:-ms)?|(?:x-)?rate-?limit-[\w-]{1,60}|x-should-retry)$")
_DICT: Final[Any] = BaseException.__dict__["__dict__"]


def attributes_of(exception: BaseException, message: str) -> tuple[str, ...]:
    """
    Return the values that an exception carries, as lines `name: value`.

    Only stored values are read: no property of the exception runs, but the ones of its response.
    """
    stored = _DICT.__get__(exception)
    is_builtin = module_of(type(exception)) == "builtins"
    if is_builtin and not stored and not isinstance(exception, UnicodeError):
        return ()
    found = chain(_quote_positions(exception, stored), _describe_answers(exception), _stored_lines(exception, stored))
    kind = f"{module_of(type(exception))}.{type(exception).__qualname__}".lower()
    unsaid = (clip(line, MAX_DETAIL) for line in found if not _is_said(line, message) and not _is_name(line, kind))
    return tuple(islice(dict.fromkeys(unsaid), MAX_ATTRIBUTES))


def _is_said(line: str, message: str) -> bool:
    value = line.partition(": ")[2]
    if value not in message:
        return False
    return len(value) >= _SHORT or re.search(rf"(?<!\w){re.escape(value)}(?!\w)", message) is not None


def _is_name(line: str, kind: str) -> bool:
    # SQLITE_ERROR of a `sqlite3.OperationalError` adds nothing.
    words = line.partition(": ")[2].lower().split("_")
    return len(words) > 1 and all(word and word in kind for word in words)


# --- stored values ---------------------------------------------------------------------------------------------------


def _stored_lines(exception: BaseException, stored: dict[str, object]) -> Iterator[str]:
    for name, value in islice(chain(list(stored.items()), _list_slots(exception)), MAX_LOOKED_AT):
        if name[:1] != "_" and name not in _TOLD_ELSEWHERE:
            yield from _lines_of(name, value)


def _list_slots(exception: BaseException) -> Iterator[tuple[str, object]]:
    for kind in bases_of(type(exception)):
        if module_of(kind) != "builtins":
            slots = [name for name, slot in vars(kind).items() if type(slot) is MemberDescriptorType]
            yield from ((name, attribute_of(exception, name)) for name in slots[:MAX_LOOKED_AT])


def _lines_of(name: str, value: object) -> Iterator[str]:
    elements = cast("list[object]", value)[:_MAX_ITEMS] if type(value) in (list, tuple) else []
    are_records = bool(elements) and isinstance(elements[0], Mapping)
    for element in elements if are_records else (value,):
        text = _text_of(element, 0)
        if text and len(text) <= _MAX_TEXT:
            yield f"{name}: {text}"


def _text_of(value: object, depth: int) -> str:
    if isinstance(value, str):
        return value if len(value) <= _MAX_TEXT else ""
    if isinstance(value, int | float) or module_of(type(value)) in _VALUES:
        return "" if value is False else string_of(value)[:_MAX_TEXT]
    if isinstance(value, bytes):
        return repr(value[:_AROUND]) if value else ""
    return _text_of_elements(value, depth + 1) if depth < _MAX_DEPTH else ""


def _text_of_elements(value: object, depth: int) -> str:
    if type(value) is dict:
        items = list(islice(cast("dict[object, object]", value).items(), _MAX_ITEMS))
        pairs = ((key, _text_of(item, depth)) for key, item in items if isinstance(key, str))
        return ", ".join(f"{key}={text}" for key, text in pairs if text)
    if type(value) in (list, tuple, set, frozenset):
        elements = list(islice(cast("list[object]", value), _MAX_ITEMS))
        return ", ".join(filter(None, (_text_of(element, depth) for element in elements)))
    return ""


# --- positions of parsers --------------------------------------------------------------------------------------------


def _quote_positions(exception: BaseException, stored: dict[str, object]) -> Iterator[str]:
    if isinstance(exception, UnicodeDecodeError | UnicodeEncodeError):
        yield _quote_around(exception.object, exception.start)
    text, position = stored.get("doc"), stored.get("pos")
    if isinstance(text, str | bytes) and isinstance(position, int) and text:
        yield _quote_around(text, position)


def _quote_around(text: str | bytes, position: int) -> str:
    start = max(0, position - _AROUND)
    around = text[start : position + _AROUND]
    return f"near: {' '.join(around.split())}" if isinstance(around, str) else f"near: {around!r}"


# --- answers of servers ----------------------------------------------------------------------------------------------


def _describe_answers(exception: BaseException) -> Iterator[str]:
    response = attribute_of(exception, "response")
    if isinstance(response, Mapping):
        yield from _answer_fields(cast("Mapping[object, object]", response))
        return
    for owner in (response, exception):
        statuses = (attribute_of(owner, name) for name in _STATUSES) if owner is not None else ()
        yield from (f"status: {status}" for status in statuses if type(status) is int)
        yield from _retry_headers(attribute_of(owner, "headers"))


def _answer_fields(response: Mapping[object, object]) -> Iterator[str]:
    metadata = response.get("ResponseMetadata")
    for name, value in islice(response.items(), MAX_LOOKED_AT):
        if name == "Error" and type(value) is dict:
            fields = cast("dict[object, object]", value)
            yield from (line for key, each in fields.items() for line in _lines_of(string_of(key), each))
        elif name != "ResponseMetadata":
            yield from _lines_of(string_of(name), value)
    if isinstance(metadata, Mapping):
        yield from _lines_of("RetryAttempts", cast("Mapping[str, object]", metadata).get("RetryAttempts") or None)
        yield from _retry_headers(cast("Mapping[str, object]", metadata).get("HTTPHeaders"))


def _retry_headers(headers: object) -> Iterator[str]:
    items = attribute_of(headers, "items")
    if not callable(items):
        return
    try:
        pairs: list[object] = list(islice(cast("Any", items()), MAX_LOOKED_AT))
    except Exception:  # noqa: BLE001 - headers of any library
        return
    for pair in pairs:
        name, *values = map(string_of, cast("tuple[object, ...]", pair) if type(pair) is tuple and pair else ("",))
        if values and _RETRYING.match(name):
            yield f"{name}: {values[0][:_MAX_TEXT]}"
