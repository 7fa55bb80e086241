"""A walk over decoded data that finds the error it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.extract.payload import roles
from otel_errcompact.extract.payload.advice import strip_advice
from otel_errcompact.extract.payload.beside import read_beside
from otel_errcompact.extract.payload.entries import read_entry, read_fields
from otel_errcompact.extract.payload.error import Body, Error
from otel_errcompact.extract.payload.values import MAX_DEPTH, fields_of, is_list, is_object, open_text
from otel_errcompact.extract.payload.violation import MAX_VIOLATIONS, Violation
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OF_ERRORS: Final = "type.googleapis.com/google.rpc."
"""How the types of what services of gRPC add to an error begin."""

_MAX_LISTED: Final = 300
_MAX_LABEL: Final = 32


def read_body(value: object) -> Body | None:
    """Return the error that a decoded value states, or nothing."""
    error = _read_error(value, 0)
    body = error.body() if error is not None else None
    return body if body is not None and (body.message or body.code) else None


# --- objects ---------------------------------------------------------------------------------------------------------


def _read_error(value: object, depth: int, *, sure: bool = False) -> Error | None:
    # Where errors stand (`sure`), a value need not state one in full.
    if depth > MAX_DEPTH:
        return None
    if is_list(value):
        return _read_list(value, depth, sure=sure) if value else None
    return _read_object(value, depth, sure=sure) if is_object(value) else None


def _read_object(fields: Mapping[str, Any], depth: int, *, sure: bool) -> Error | None:
    violations = read_fields(fields, sure=False)
    if violations:
        return Error(violations=violations)
    values = fields_of(fields)
    sure = sure or str(fields.get("@type", "")).startswith(_OF_ERRORS)
    own, used = _read_own({name: value for name, (_, value) in values.items()})
    children = [
        (name, error)
        for name, (_, value) in values.items()
        if name not in used and (error := _read_child(name, value, depth)) is not None
    ]
    if not own.message and not children and not sure and used <= roles.WEAK_CODES:
        return None
    told = {name for name, _ in children}
    left = {name: pair for name, pair in values.items() if name not in told}
    error = _join_errors(own._replace(**read_beside(left, used)._asdict()), children)
    return error if any(error) else None


def _join_errors(own: Error, children: Sequence[tuple[str, Error]]) -> Error:
    error = own
    for name, child in children:
        if child.violations and not child.message and not child.code:
            error = error._replace(
                violations=(*error.violations, *child.violations)[:MAX_VIOLATIONS],
                inner=(*error.inner, *child.inner),
                retry=(*error.retry, *child.retry),
                status=error.status or child.status,
            )
        elif _is_wrapped(name, child, error):
            error = _wrap_error(error, child, is_root=roles.is_root(name))
        else:
            is_one = child.message or child.code or child.violations or not child.inner
            error = error._replace(
                inner=(*error.inner, child) if is_one else (*error.inner, *child.inner),
                status=error.status or child.status,
            )
    return error


def _is_wrapped(name: str, child: Error, error: Error) -> bool:
    is_one = not child.inner or bool(child.message)
    is_named = roles.is_root(name) or name in _WRAPPERS or not _has_words(error.message)
    return is_one and is_named and not error.inner and not error.violations


_WRAPPERS: Final = frozenset({
    "error", "err", "fault", "exception", "diagnostic", "response", "body", "data", "result", "content", "payload",
    "raw",
})  # fmt: skip
"""Names under which an error wraps the one that it is about."""


def _has_words(message: str) -> bool:
    return bool(message) and _EMPTY.fullmatch(message) is None


_EMPTY: Final = lazy_pattern(
    r"(?i)(?:(?:provider|upstream|server|service|api) (?:has )?returned (?:an )?error"
    r"|(?:the )?request failed(?: with status code [0-9]{3})?|something went wrong|operation failed|failed"
    r"|(?:an? )?(?:(?:internal|unknown|unexpected|server|upstream) ){0,3}error(?: has)?(?: occurred)?)\W{0,3}"
)


def _wrap_error(outer: Error, inner: Error, *, is_root: bool) -> Error:
    if is_root and (not inner.message or inner.message == outer.message):
        return outer._replace(inner=(*outer.inner, inner._replace(message=""))) if inner.code != outer.code else outer
    return inner.merge_into(outer)


def _read_own(plain: Mapping[str, Any]) -> tuple[Error, frozenset[str]]:
    message, said_in = roles.message_of(plain)
    code, coded_in = roles.code_of(plain, beside=message)
    if not message and isinstance(plain.get("error"), str):
        message, said_in = plain["error"], "error"
    used = frozenset(filter(None, (said_in, coded_in)))
    return Error(strip_advice(message), code, roles.status_of(plain)), used


def _read_child(name: str, value: object, depth: int) -> Error | None:
    if not (is_object(value) or is_list(value)) or not value:
        return None
    holds_errors = roles.holds_errors(name)
    if holds_errors and is_object(value):
        violations = read_fields(value, sure=_LISTS_FIELDS.search(name) is not None)
        if violations:
            return Error(violations=violations)
    error = _read_error(value, depth + 1, sure=holds_errors)
    if error is None or holds_errors:
        return error
    if is_list(value) and not any(map(is_object, value)):
        return None
    is_full = error.violations or error.inner or (error.message and (error.code or error.status))
    return error if is_full or (error.message and name in _WRAPPERS) else None


_LISTS_FIELDS: Final = lazy_pattern(r"err|violation|invalid|issue|problem|validation|field")


# --- lists -----------------------------------------------------------------------------------------------------------


def _read_list(items: list[Any], depth: int, *, sure: bool) -> Error | None:
    violations: list[Violation] = []
    inner: list[Error] = []
    for item in map(open_text, items[:_MAX_LISTED]):
        violation = read_entry(item) if is_object(item) else None
        if violation is not None:
            violations.append(violation)
            continue
        error = _read_words(item, sure=sure) if isinstance(item, str) else _read_error(item, depth + 1, sure=sure)
        if error is not None:
            inner.append(_add_label(error, item))
    if not violations and len(inner) == 1:
        return inner[0]
    return Error(violations=tuple(violations[:MAX_VIOLATIONS]), inner=tuple(inner)) if violations or inner else None


def _read_words(item: str, *, sure: bool) -> Error | None:
    said = " ".join(item.split())
    if " " in said:
        return Error(message=said)
    return Error(context=(said,), words=(said,)) if sure and said else None


def _add_label(error: Error, item: object) -> Error:
    value = item.get("id") if is_object(item) else None
    is_label = isinstance(value, int) or (isinstance(value, str) and 0 < len(value) <= _MAX_LABEL)
    return error._replace(context=(f"id: {value}", *error.context)) if is_label and error.message else error
