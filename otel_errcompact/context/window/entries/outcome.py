"""How an entry says that something ended: flags, statuses, codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.context.window.entries import names

if TYPE_CHECKING:
    from otel_errcompact.context.window.entries.fields import Entry, Field


@dataclass(slots=True)
class Signs:
    """What the fields of an entry say of how it ended."""

    failed: bool = False
    """A flag, a status or an error says that it failed."""
    well: int = -1
    """How deep the innermost lies that says that it went well; -1 if nothing does."""
    ended: bool = False
    declined: bool = False
    open: bool = False


def find_signs(entry: Entry) -> Signs:
    """Collect what flags, statuses and levels say of how it ended."""
    signs = Signs()
    for name, found in (*entry.all(names.WELL), *entry.all(names.ILL)):
        flag = _read_flag(entry, name, found)
        if flag is not None:
            _note_word(signs, names.OK if flag is (name in names.WELL) else names.FAILED, found.depth)
    for name, found in entry.all(names.STATUS):
        _note_word(signs, _read_status(entry, name, found), found.depth)
    for _, found in entry.all(names.HTTP):
        if isinstance(found.value, int) and not isinstance(found.value, bool) and found.value >= _LEAST_HTTP:
            _note_word(signs, _rate_http(found.value), found.depth)
    for _, found in entry.all(("level", "severity")):
        signs.failed = signs.failed or (isinstance(found.value, str) and found.value.lower() in names.LEVELS)
    if entry.ending & names.SUCCESS_WORDS:
        signs.well = max(signs.well, 0)
    signs.ended = signs.ended or (bool(entry.ending & names.ENDS) and not entry.ending & names.GIVES)
    return signs


_LEAST_HTTP: Final = 200
_LEAST_HTTP_ERROR: Final = 400
_AFTER_HTTP: Final = 600


def _rate_http(status: int) -> str:
    return names.FAILED if status >= _LEAST_HTTP_ERROR else names.OK


def _note_word(signs: Signs, word: str, depth: int) -> None:
    signs.failed = signs.failed or word in names.FAILURE_WORDS
    signs.well = max(signs.well, depth) if word in names.SUCCESS_WORDS else signs.well
    signs.ended = signs.ended or word in names.END_WORDS
    signs.declined = signs.declined or word in names.DECLINED_WORDS
    signs.open = signs.open or word in names.OPEN_WORDS


def _read_flag(entry: Entry, name: str, found: Field) -> bool | None:
    value = found.value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if isinstance(value, bool) or (name not in names.COUNTED and isinstance(value, int) and value in {0, 1}):
        return bool(value)
    if name not in names.COUNTED:
        entry.refuse(found.path, value, "true or false")
    return None


def _read_status(entry: Entry, name: str, found: Field) -> str:
    value = found.value
    if isinstance(value, str):
        word = re.sub(r"[\s-]+", "_", value.strip()).lower()
        if not word or word in names.STATUSES:
            return word
    elif isinstance(value, Mapping):
        return ""
    elif isinstance(value, int) and not isinstance(value, bool):
        # Node calls an exit code so, and clients of HTTP a status code.
        return (
            _rate_http(value)
            if _LEAST_HTTP <= value < _AFTER_HTTP
            else names.FAILED
            if value and name == "status"
            else ""
        )
    if name == "status":
        wanted = "ok, failed, timeout, cancelled, skipped, running or the like, or nothing where other fields decide"
        entry.refuse(found.path, value, wanted)
    return ""


def find_exit_code(entry: Entry, signs: Signs) -> int | None:
    """Return the exit code, unless what stands beside it, or further inside, says that it went well."""
    for name, found in entry.all(names.EXIT_CODES):
        value = found.value
        if isinstance(value, bool) or not isinstance(value, int):
            if name != "rc":
                entry.refuse(found.path, value, "a whole number")
            continue
        if signs.well >= found.depth or not value:
            return value
        signs.well = -1
        return value
    status = next((found.value for _, found in entry.all(("status",)) if isinstance(found.value, int)), 0)
    return status if 0 < status < _LEAST_HTTP else None


def find_code(entry: Entry, signs: Signs) -> str | int | None:
    """Return the code of an error; None if there is none."""
    for name, found in entry.all(names.CODES):
        value = found.value
        if isinstance(value, bool) or not isinstance(value, str | int):
            if name in {"code", "errorcode"}:
                entry.refuse(found.path, value, "a text or a whole number")
            continue
        if isinstance(value, str) and ("\n" in value or value.strip().lower() in names.SUCCESS_WORDS | names.NO_ERROR):
            continue
        if isinstance(value, int) and (value == 0 or _LEAST_HTTP <= value < _LEAST_HTTP_ERROR):
            continue
        if signs.well < found.depth:
            signs.well = -1
        return value
    for _, found in entry.all(names.HTTP):
        if isinstance(found.value, int) and found.value >= _LEAST_HTTP_ERROR:
            return found.value
    return None
