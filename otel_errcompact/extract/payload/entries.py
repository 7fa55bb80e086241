"""Errors by field: lists with a place in each, objects with names."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.extract.payload import roles
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.extract.payload.values import (
    MAX_DEPTH,
    MAX_FIELDS,
    fields_of,
    in_line,
    is_list,
    is_object,
    is_scalar,
)
from otel_errcompact.extract.payload.violation import MAX_VIOLATIONS, Violation

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_PARTS: Final = 20
_MAX_LIMITS: Final = 3


def read_entry(entry: Mapping[str, Any]) -> Violation | None:
    """Return the violation that an entry states, or nothing without a place."""
    fields = {name: value for name, (_, value) in fields_of(entry).items()}
    where = _find_path(fields)
    if not where:
        return None
    at, path = where
    rest = {name: value for name, value in fields.items() if name not in (at, "instance")}
    message, said_in = roles.message_of(rest)
    rule, ruled_in = roles.code_of({name: value for name, value in rest.items() if name != said_in})
    if not message and (at in _VAGUE or (not rule and at not in _PLAIN)):
        return None
    said = {said_in, ruled_in}
    got = roles.got_of(rest)
    value = rest.get(got) if got not in said and not _is_about_nothing(rule) else None
    resource = fields.get("resource")
    path = f"{resource}.{path}" if at == "field" and isinstance(resource, str) and resource else path
    return Violation(path, strip_advice(message), rule, in_line(value), _find_expected(rest, said))


_PLAIN: Final = frozenset({"path", "loc", "field"})
_VAGUE: Final = frozenset({
    "name", "key", "resource", "subject", "file", "filename", "filepath", "element", "address",
})  # fmt: skip
"""Names of places that other data has too."""

_LIMITS: Final = ("params", "ctx")
"""Names below which a library keeps what a rule compares with."""


def _find_expected(fields: Mapping[str, Any], said: set[str]) -> str:
    name = roles.expected_of(fields)
    if name:
        return in_line(fields.get(name)) if name not in said else ""
    limits = next(filter(is_object, map(fields.get, _LIMITS)), None)
    return ", ".join(filter(None, map(in_line, islice(limits.values(), _MAX_LIMITS)))) if limits else ""


def _is_about_nothing(rule: str) -> bool:
    return "missing" in rule.lower() or rule == "required"


def _find_path(fields: Mapping[str, Any]) -> tuple[str, str] | None:
    source = fields.get("source")
    if is_object(source):
        pointer = next((str(value) for value in islice(source.values(), 1)), "")
        return ("source", pointer) if pointer else None
    for name in filter(fields.__contains__, roles.PATHS):
        value = fields[name]
        if is_list(value) and all(map(is_scalar, value)):
            return name, ".".join(map(str, value[:_MAX_PARTS]))
        if value in ("", None) and name in _OF_WHOLE:
            return name, ""
        if isinstance(value, str) and value and (" " not in value or name in _IN_WORDS):
            return name, value
    return None


_OF_WHOLE: Final = frozenset({"path", "instancepath", "datapath", "pointer", "loc"})
"""Names of places that are empty where the whole input is the place."""

_IN_WORDS: Final = frozenset({"path", "field", "subject"})


# --- by field ---------------------------------------------------------------------------------------------------------


def read_fields(fields: Mapping[str, Any], *, sure: bool, path: str = "", depth: int = 0) -> tuple[Violation, ...]:
    """
    Read errors of the form `{"field": ["what is wrong"]}`.

    Where an object stands among errors (`sure`) its texts count; else all must be sentences.
    """
    if depth > MAX_DEPTH or not fields or _states_itself(fields, is_field=depth > 0):
        return ()
    found: list[Violation] = []
    sure = sure or "_errors" in fields
    for name, value in islice(fields.items(), MAX_VIOLATIONS):
        at = path if name in _OF_OBJECT else f"{path}.{name}" if path else str(name)
        violations = _read_reasons(at, value, sure=sure, depth=depth, may_be_empty=name in _OF_OBJECT)
        if violations is None:
            return ()
        found += violations
    return tuple(found[:MAX_VIOLATIONS])


_OF_OBJECT: Final = frozenset({"_errors", "_schema"})
"""Names under which libraries tell what is wrong with an object as a whole."""


def _read_reasons(
    at: str, value: object, *, sure: bool, depth: int, may_be_empty: bool
) -> tuple[Violation, ...] | None:
    reasons = [value] if isinstance(value, str) and sure else value
    if is_object(reasons):
        return read_fields(reasons, sure=sure, path=at, depth=depth + 1) or None
    if not is_list(reasons) or (not reasons and not may_be_empty):
        return None
    found: list[Violation] = []
    for number, reason in enumerate(reasons[:MAX_VIOLATIONS]):
        violations = _read_reason(at, reason, number, sure=sure, depth=depth)
        if violations is None:
            return None
        found += violations
    return tuple(found)


def _states_itself(fields: Mapping[str, Any], *, is_field: bool) -> bool:
    for name, value in islice(fields.items(), MAX_FIELDS):
        plain = roles.plain_name(str(name))
        if isinstance(value, str | int) and plain in _STATING:
            return True
        if (
            not is_field
            and name not in _OF_OBJECT
            and roles.holds_errors(plain)
            and (is_object(value) or (is_list(value) and any(map(is_object, value))) or plain in roles.LISTING)
        ):
            return True
    return False


_STATING: Final = frozenset({
    "message", "msg", "code", "type", "detail", "error", "reason", "errorcode", "description", "title", "status",
    "errormessage", "exception", "faultcode", "faultstring", "errormsg", "errordescription", "statuscode", "summary",
})  # fmt: skip


def _read_reason(at: str, reason: object, number: int, *, sure: bool, depth: int) -> tuple[Violation, ...] | None:
    if isinstance(reason, str) and (" " in reason or sure):
        return (Violation(at, strip_advice(reason)),)
    if not is_object(reason):
        return None
    if not reason:
        return ()  # rows of a list that are right
    plain = {roles.plain_name(str(name)): value for name, value in islice(reason.items(), MAX_FIELDS)}
    message, said_in = roles.message_of(plain)
    if message:
        rule, _ = roles.code_of({name: value for name, value in plain.items() if name != said_in})
        return (Violation(at, strip_advice(message), rule, in_line(plain.get(roles.got_of(plain)))),)
    return read_fields(reason, sure=sure, path=f"{at}.{number}", depth=depth + 1) or None
