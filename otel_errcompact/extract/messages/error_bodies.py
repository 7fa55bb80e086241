"""Error bodies: the JSON an API answers a failed request with, also inside other text and as Python writes it."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from otel_errcompact.extract.clipping import clip
from otel_errcompact.extract.messages.validation import MAX_FIELDS, FieldError, fields_of, reading_of_fields
from otel_errcompact.extract.statements import is_exception_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_BODY: Final = 65_536
"""Characters of a JSON body that are parsed."""

MAX_REPR: Final = 8_192
"""Characters of a body that are parsed where it is no JSON but the `repr` of a dictionary, or cut off."""

_MAX_STARTS: Final = 3
_MAX_ENTRIES: Final = 10
_MAX_DEPTH: Final = 4
_START: Final = re.compile(r"\{\s{0,64}[\"']|\[\s{0,64}\{\s{0,64}[\"']")
_LITERAL: Final = re.compile(
    r"'(?P<single>(?:[^'\\]|\\.)*)(?:'|\\?\Z)|\"(?P<double>(?:[^\"\\]|\\.)*)(?:\"|\\?\Z)|\b(?P<word>True|False|None)\b",
    re.DOTALL,
)
_FIELD: Final = re.compile(
    r"[\"'](?P<name>message|detail|code|type|status)[\"']:\s?"
    r"(?:\"(?P<double>[^\"\\]{1,2000})|'(?P<single>[^'\\]{1,2000})|(?P<number>-?[0-9]{1,9}))"
)
_MAX_SALVAGED: Final = 20
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}
_CODE: Final = re.compile(r"-?[\w.:#/-]{1,120}")
_STATUS: Final = re.compile(r"[1-5][0-9]{2}")

_NESTED: Final = (
    "error", "Error", "errors", "root_cause", "caused_by", "fault", "detail", "details", "exception",
)  # fmt: skip
_ROOTS: Final = frozenset({"root_cause", "caused_by"})
"""Fields in which an error tells of the one behind it, and sometimes only of its type."""

_SAID_BY_PROVIDER: Final = "raw"
"""The field in which a gateway repeats what the service behind it answered."""
_MESSAGES: Final = (
    "message", "Message", "msg", "detail", "error_description", "errorMessage", "error_message", "description", "title",
    "reason", "details", "faultstring", "text",
)  # fmt: skip
_CODES: Final = (
    "code", "Code", "error_code", "errorCode", "__type", "errorType", "type", "status", "reason", "error", "name",
)  # fmt: skip
_STATUSES: Final = ("status", "status_code", "statusCode", "code", "http_status")
_EVIDENCE: Final = ("param", "field", "path", "pointer", "loc", "location", "needed")
_LISTS_OF_DETAILS: Final = ("fieldViolations", "violations")
_MAX_LISTED: Final = 300
# Begins with a blank, which is searched for at the speed of C.
_SENTENCES: Final = re.compile(r" (?:(?<=[.!?] )|(?<=[.!?]['\")] )) {0,2}(?=[A-Z(*])")
_ADVICE: Final = re.compile(
    r"(?:Please (?!wait|(?:re)?try )|For (?:more|further|additional|help|details)|To learn|Learn more|See |Visit |Read "
    r"|You can (?:find|learn|read|see|obtain|get)|Check out |Contact |Go to |Refer to "
    r"|If you (?:continue|believe|think)|.{0,200}?https?://)"
)
_EMPTY_CODES: Final = frozenset((
    "error", "errors", "failed", "fail", "failure", "exception", "text", "ok", "success", "null", "none", "about:blank",
))  # fmt: skip

_decoder: Final = json.JSONDecoder()


class Body(NamedTuple):
    """What an error body says."""

    message: str
    code: str = ""
    status: str = ""
    details: tuple[str, ...] = ()
    key: str = ""

    def summary(self) -> str:
        """Return code and message in one line."""
        if not self.code or self.key or self.message.startswith(self.code):
            return self.message
        return f"{self.code}: {self.message}" if self.message else self.code


class Embedded(NamedTuple):
    """A body found inside a text, and what stands around it."""

    body: Body
    before: str
    after: str


def find_body(text: str) -> Embedded | None:
    """Return the first error body in `text`, be it JSON or the `repr` of a Python dictionary, or nothing."""
    for value, start, end in values_in(text):
        body = read_body(value)
        if body is not None:
            return Embedded(body, text[:start], text[end:])
    return None


def values_in(text: str) -> Iterator[tuple[object, int, int]]:
    """Yield the first few objects in `text`, decoded, each with its start and end."""
    for start in islice(_START.finditer(text), _MAX_STARTS):
        value, end = _parse(text, start.start())
        yield value, start.start(), end


def read_body(value: object, depth: int = 0) -> Body | None:
    """Return what a decoded body says of the error, or nothing if it says nothing of one."""
    if is_list(value):
        return _read_list(value, depth) if value else None
    if not is_object(value) or depth > _MAX_DEPTH:
        return None
    if value.get("isError") is True:
        return read_body(value.get("content"), depth + 1)
    inner = _read_inner(value, depth)
    own = _read_own(value)
    if inner is not None:
        return _merge(inner, own)
    if own.message or own.code:
        return own
    by_field = _read_fields(value)
    return _describe_fields(by_field) if by_field and all(" " in entry.reason for entry in by_field) else None


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a decoded value is an object."""
    return isinstance(value, dict)


def strip_advice(message: str) -> str:
    """
    Return a message without the sentences behind it that lead to a document or tell what anybody knows.

    How long to wait is no advice, and stays.
    """
    if ". " not in message and "! " not in message and "? " not in message:
        return message
    return "\n".join(map(_line_without_advice, message.split("\n")))


def _line_without_advice(line: str) -> str:
    first, *rest = _SENTENCES.split(line)
    return " ".join((first, *(sentence for sentence in rest if not _ADVICE.match(sentence))))


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a decoded value is a list."""
    return isinstance(value, list)


def _read_list(items: list[Any], depth: int) -> Body | None:
    """Read a list of errors: FastAPI's list of fields, else the first one with the others as details."""
    entries = [item for item in items[:_MAX_LISTED] if is_object(item)]
    if not entries:
        return _read_sentences(items)
    if "loc" in entries[0] or (is_list(entries[0].get("path")) and "expected" in entries[0]):
        return _describe_fields(fields_of(entries))
    first = read_body(entries[0], depth + 1)
    if first is None:
        return None
    others = [body.summary() for body in (read_body(entry, depth + 1) for entry in entries[1:_MAX_ENTRIES]) if body]
    return first._replace(details=(*first.details, *others))


def _read_sentences(items: list[Any]) -> Body | None:
    """Read a list of sentences, as Rails sends them; nothing if they are mere words."""
    sentences = [item for item in items[:_MAX_ENTRIES] if isinstance(item, str) and " " in item]
    return Body(sentences[0], details=tuple(sentences[1:])) if sentences else None


def _describe_fields(fields: Sequence[FieldError]) -> Body:
    noun = "error" if len(fields) == 1 else "errors"
    reading = reading_of_fields(f"{len(fields)} validation {noun}", "request", fields)
    return Body(reading.cause, "validation_error", "", reading.details, reading.key)


def _object(value: object) -> dict[str, Any]:
    return value if is_object(value) else {}


def _read_inner(fields: Mapping[str, Any], depth: int) -> Body | None:
    """Return the error object that a body wraps, if it wraps one."""
    by_field = _read_fields(_object(fields.get("errors")))
    if by_field:
        return _describe_fields(by_field)
    for name in _NESTED:
        value = fields.get(name)
        if (is_object(value) or is_list(value)) and (name != "details" or not _text_of(fields, _MESSAGES)):
            body = read_body(value, depth + 1)
            if body is not None and (body.message or name not in _ROOTS):
                return body
    raw = _object(fields.get("metadata")).get(_SAID_BY_PROVIDER)
    return read_body(_parse(raw, 0)[0], depth + 1) if isinstance(raw, str) and raw[:1] == "{" else None


def _read_fields(errors: Mapping[str, Any]) -> tuple[FieldError, ...]:
    """Read errors as Rails and Django send them, `{"field": ["what is wrong"]}`; nothing if they are not."""
    if not all(is_list(reasons) and reasons and isinstance(reasons[0], str) for reasons in errors.values()):
        return ()
    return tuple(FieldError(field, reasons[0], "") for field, reasons in islice(errors.items(), MAX_FIELDS))


def _read_own(fields: Mapping[str, Any]) -> Body:
    """Read one flat error object."""
    message = _text_of(fields, _MESSAGES)
    code = _code_of(fields) or _code_of(_object(fields.get("extensions")))
    if not message and isinstance(fields.get("error"), str):
        message = fields["error"]
    return Body(strip_advice(message), code, _status_of(fields), tuple(_evidence(fields)))


def _merge(inner: Body, outer: Body) -> Body:
    """Complete the wrapped error by what stands around it."""
    if not inner.message and inner.details and outer.message:
        return inner._replace(
            message=f"{outer.message}: {inner.details[0]}",
            status=inner.status or outer.status,
            details=inner.details[1:],
        )
    return inner._replace(
        message=inner.message or outer.message,
        status=inner.status or outer.status,
        details=inner.details or outer.details,
    )


def _text_of(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _code_of(fields: Mapping[str, Any]) -> str:
    """Return the API's own code: the first field that holds a name, else a number that is no HTTP status."""
    number = ""
    for name in _CODES:
        value = fields.get(name)
        if isinstance(value, bool):
            continue
        if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
            number = number or ("" if _STATUS.fullmatch(str(value)) else str(value))
        elif isinstance(value, str) and _is_code(value) and (name != "name" or is_exception_name(value)):
            return value.rpartition("#")[2].rpartition("/")[2]
    return number


def _is_code(value: str) -> bool:
    return _CODE.fullmatch(value) is not None and _STATUS.fullmatch(value) is None and value.lower() not in _EMPTY_CODES


def _status_of(fields: Mapping[str, Any]) -> str:
    for name in _STATUSES:
        value = fields.get(name)
        if isinstance(value, int | str) and _STATUS.fullmatch(str(value)):
            return str(value)
    return ""


def _evidence(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield where in the request the error lies, and the entries of its list of details."""
    for name in _EVIDENCE:
        value = fields.get(name)
        if value not in (None, "", [], {}):
            yield f"{name}: {_flat(value)}"
    pointer = _object(fields.get("source")).get("pointer")
    if pointer:
        yield f"pointer: {_flat(pointer)}"
    yield from _entries(fields.get("details"))


def _entries(details: object) -> Iterator[str]:
    """Yield the entries of a list of details: with a field each, or as Google and Kubernetes nest them."""
    if is_object(details):
        details = details.get("causes")
    for entry in details[:_MAX_ENTRIES] if is_list(details) else ():
        nested = next(filter(is_list, map(_object(entry).get, _LISTS_OF_DETAILS)), None)
        if nested is not None:
            yield from (_flat_entry(_object(inner)) for inner in nested[:_MAX_ENTRIES])
        elif isinstance(entry, str):
            yield entry
        else:
            yield _flat_entry(_object(entry))


def _flat_entry(entry: Mapping[str, Any]) -> str:
    where = _flat(entry.get("loc") or entry.get("field") or entry.get("path") or entry.get("subject") or "")
    what = _text_of(entry, (*_MESSAGES, "hint", "issue", "quotaMetric", "type"))
    delay = entry.get("retryDelay")
    if delay:
        return f"retry in {_flat(delay)}"
    return f"{where}: {what}" if where and what else what or where


def _flat(value: object) -> str:
    return clip(".".join(map(str, value)) if is_list(value) else str(value))


def _parse(text: str, start: int) -> tuple[object, int]:
    """Decode the value that begins at `start`; what is nested too deep or is no value comes back as nothing."""
    source = text[start : start + MAX_BODY]
    try:
        value, length = _decoder.raw_decode(source)
    except RecursionError:
        return None, len(text)
    except ValueError:
        return _parse_repr(source[:MAX_REPR], len(text))
    return value, start + length


def _parse_repr(source: str, end: int) -> tuple[object, int]:
    """Decode the `repr` of a Python dictionary, which most client libraries put into their messages."""
    try:
        return _decoder.raw_decode(_LITERAL.sub(_as_json, source))[0], end
    except (ValueError, RecursionError):
        return _salvage(source), end


def _salvage(source: str) -> dict[str, str]:
    """Return the telling fields of a body that was cut off, the first of each name."""
    found: dict[str, str] = {}
    for field in islice(_FIELD.finditer(source), _MAX_SALVAGED):
        found.setdefault(field["name"], field["double"] or field["single"] or field["number"] or "")
    return found if "message" in found or "detail" in found else {}


def _as_json(literal: re.Match[str]) -> str:
    if literal["word"]:
        return _WORDS[literal["word"]]
    content = literal["single"] if literal["single"] is not None else literal["double"]
    return json.dumps(_ESCAPE.sub(_unescaped, content))


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[4], escape[4])
