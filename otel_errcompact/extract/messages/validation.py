"""Validation errors field by field: of pydantic, and of the web frameworks that answer with its errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.extract.clipping import MAX_CAUSE
from otel_errcompact.extract.messages.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_FIELDS: Final = 100

_HEADER: Final = re.compile(r"[0-9]{1,9} validation errors? for (?P<model>[^\n]{1,200})")
_LONG_WINDED: Final = re.compile(
    r"^(?:Input|String) (?=should )|, unable to parse string as an? \w{1,20}$|^Value error, "
)
_KIND: Final = re.compile(r" [\[(]type=([\w.]{1,80})")
_INDEX: Final = re.compile(r"(?<![^.])[0-9]+(?![^.])")


class FieldError(NamedTuple):
    """One field that did not pass."""

    field: str
    reason: str
    kind: str

    def __str__(self) -> str:
        reason = _LONG_WINDED.sub("", self.reason) or self.kind
        return f"{self.field}: {reason}" if self.field else reason

    def key(self) -> str:
        """Return what makes two field errors the same: the field without list indexes and the kind, never the input."""
        return f"{_INDEX.sub('<num>', self.field)} [{self.kind or self.reason}]".lstrip()


def read_validation(message: str) -> Reading | None:
    """
    Return what the text of a pydantic `ValidationError` comes down to, or nothing if `message` is none.

    The text is read for the live exception too, so that both lead to one key.
    """
    header = _HEADER.search(message, 0, 1_000) if "validation error" in message[:1_000] else None
    if header is None:
        return None
    lines = message[header.end() :].split("\n")
    return reading_of_fields(header[0], header["model"], tuple(_fields(lines)))


def reading_of_fields(cause: str, subject: str, fields: Sequence[FieldError]) -> Reading:
    """Return a reading whose key is made of the subject and the distinct fields and kinds in order, and of no value."""
    distinct = dict.fromkeys(field.key() for field in fields)
    key = f"validation of {subject}: {', '.join(distinct)}"
    said = f"{cause}: {'; '.join(map(str, fields))}" if fields else cause
    if len(said) <= MAX_CAUSE:
        return Reading(said, key)
    names = ", ".join(dict.fromkeys(field.field for field in fields if field.field))
    return Reading(f"{cause}: {names}" if names else cause, key, tuple(str(field) for field in fields))


def fields_of(entries: Iterable[Mapping[str, object]]) -> tuple[FieldError, ...]:
    """Return the field errors of a list as FastAPI or zod write it: `[{"loc": [...], "msg": ..., "type": ...}]`."""
    return tuple(
        FieldError(
            _dotted(entry.get("loc") or entry.get("path")),
            str(entry.get("msg") or entry.get("message") or ""),
            str(entry.get("type") or entry.get("code") or ""),
        )
        for entry, _ in zip(entries, range(MAX_FIELDS), strict=False)
    )


def _dotted(loc: object) -> str:
    if isinstance(loc, list):
        return ".".join(map(str, cast("list[object]", loc)))
    return "" if loc is None else str(loc)


def _fields(lines: Iterable[str]) -> Iterator[FieldError]:
    """Yield the field errors of pydantic's text: a line with the field, then the reason, indented, with its kind."""
    field = ""
    reason: list[str] = []
    found = 0
    for line in lines:
        if not reason and not line.startswith("  "):
            field = line.strip()
            continue
        kind = _KIND.search(line)
        if kind is None:
            # A link stands below each reason; what else has no kind is a reason of several lines.
            reason += [] if line.startswith("    ") else [line.strip()]
            continue
        yield FieldError(field, " ".join((*reason[:MAX_FIELDS], line[: kind.start()].strip())), kind[1])
        field, reason = "", []
        found += 1
        if found == MAX_FIELDS:
            return
