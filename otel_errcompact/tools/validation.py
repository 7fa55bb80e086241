"""Validation errors as bare text: of pydantic, JSON Schema, zod, ajv."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Facts, Format, Text, clip, details, form
from otel_errcompact.extract.payload.validation import read_validation

_LEAD: Final = form(
    r"(?:(?:Uncaught )?(?:[\w.]{0,100}(?:Error|Exception|Failure)|[Ee]rror|ERROR)(?: \([^)\n]{1,80}\))?: )?"
    r"(?P<said>(?:[^\n:\"'\[\]{}]{1,120}: ?){0,2})"
)
"""What may stand before the violations: a type, and a sentence that leads to them."""


def read(text: Text) -> Facts | None:
    """Return the facts of a text that begins with violations."""
    body = text.body
    lead = _LEAD.match(body)
    start = lead.start("said") if lead is not None else 0
    for begin in dict.fromkeys((start, lead.end() if lead is not None else 0)):
        reading = read_validation(body[begin:], whole=True)
        if reading is not None:
            said = lead["said"].strip().rstrip(":") if lead is not None and begin != start else ""
            cause = f"{said}: {reading.cause}" if said and said not in reading.cause else reading.cause
            return Facts(
                type=reading.type,
                cause=clip(cause),
                details=details(reading.details),
                key_cause=reading.key,
                key_is_whole=True,
            )
    return None


FORMAT: Final = Format(
    name="validation",
    rejects=("ValidationError",),
    read=read,
    markers=(
        "validation error", "Failed validating '", " is not of type '", " is a required property",
        "Additional properties are not allowed", " must be ", " must have required property", " must NOT have ",
        "\u2192 at ", "' Error:Field validation for '", " - at `", " @ data[", "parameter `", "Input should be ",
        "Field required", "is not one of [",
    ),
)  # fmt: skip
