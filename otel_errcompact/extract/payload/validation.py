"""Validation errors as text: of pydantic, JSON Schema, zod, ajv."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.payload.embedded import find_body
from otel_errcompact.extract.payload.error import VALIDATION
from otel_errcompact.extract.payload.violation import MAX_VIOLATIONS, Violation, describe, key_of
from otel_errcompact.extract.reading import Reading
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

_MAX_LINES: Final = 1_000
_MAX_TEXT: Final = 20_000

# --- pydantic ---
_HEADER: Final = lazy_pattern(r"[0-9]{1,9} validation errors?(?: for (?P<model>[^\n]{1,200}?))?:?(?=\n|\Z)")
_NAME: Final = lazy_pattern(r"[\w$.\[\]-]{1,200}")
_KIND: Final = lazy_pattern(r" [\[(]type=([\w.]{1,80})")
_INPUT: Final = lazy_pattern(r", input_value=(?P<value>.{1,400}?)(?:, input_type=[\w.]{1,80})?\]?\Z")
_FIELD_LINE: Final = lazy_pattern(
    r"\s{0,8}(?:[-*\u2022] )?[`']?(?P<path>[\w$.\[\]-]{1,200})[`']?: (?P<reason>(?:Input should |Field required"
    r"|Extra inputs are|(?:String|List|Tuple|Set|Dictionary|Value|Decimal|URL|UUID) (?:input )?should |Value error, "
    r"|Missing required argument|Unexpected keyword argument|Assertion failed, )[^\n]{0,400})"
)

# --- JSON Schema ---
_FAILED: Final = lazy_pattern(r"Failed validating '(?P<rule>[\w$-]{1,40})' in [^\n]{1,300}")
_INSTANCE: Final = lazy_pattern(r"On instance(?P<path>(?:\[[^\]\n]{1,100}\]){0,20}):\n(?P<value>[^\n]{0,400})")
_SCHEMA: Final = lazy_pattern(
    r"(?:(?:In|Out)put validation error: |(?:jsonschema\.)?ValidationError: )?(?:(?P<path>[\w$./\[\]-]{1,100}): )?"
    r"(?P<message>(?=['\"0-9\[{-]|None |True |False ).{1,300} (?:is not of type|is not one of|does not match '"
    r"|is not valid under|is less than the min|is greater than the max|is too (?:long|short)|is not a '|has non-unique"
    r"|is not a multiple) ?.{0,300}|'[^'\n]{1,100}' is a required property"
    r"|Additional properties are not allowed \(.{1,200}\)|'[^'\n]{1,100}' is a dependency of .{1,100}"
    r"|.{1,200} should be non-empty)"
)

# --- others ---
_AJV: Final = lazy_pattern(
    r"(?:\A|(?<=, )|(?<=: )|(?<=\n)|(?<=- ))(?:data|params|body|args|arguments|querystring|headers|instance|input)"
    r"(?P<path>(?:[/.][\w~$-]{1,80}|\[[0-9]{1,6}\]){1,12}|(?= must (?:have required|NOT have)))"
    r" (?P<message>(?:must|should) (?:be|have|NOT|match|contain|pass)[^,\n]{1,200})"
)
_ZOD: Final = lazy_pattern(r"\s{0,4}[\u2716\u2717x] (?P<message>[^\n]{1,300})\n\s{1,6}\u2192 at (?P<path>[^\n]{1,200})")
_GO: Final = lazy_pattern(
    r"Key: '(?P<path>[\w.\[\]]{1,200})' Error:"
    r"(?P<message>Field validation for '[^'\n]{1,100}' failed on the '(?P<rule>\w{1,40})' tag)"
)
_MSGSPEC: Final = lazy_pattern(
    r"(?P<message>(?:Expected `[^`\n]{1,60}`|Object missing required field|Object contains unknown field|Invalid )"
    r"[^\n]{0,200}?) - at `\$?\.?(?P<path>[^`\n]{1,200})`"
)
_VOLUPTUOUS: Final = lazy_pattern(r"(?P<message>[^\n@]{1,200}?) @ data(?P<path>(?:\[[^\]\n]{1,80}\]){1,12})")
_PARAMETER: Final = lazy_pattern(
    r"(?:The )?(?P<missing>required parameter `(?P<required>[\w.\[\]]{1,100})` is missing)"
    r"|An (?P<extra>unexpected parameter `(?P<unexpected>[\w.\[\]]{1,100})` was provided)"
    r"|The parameter `(?P<path>[\w.\[\]]{1,100})` type is expected as `(?P<expected>[\w ]{1,40})`"
    r" but provided as `(?P<got>[\w ]{1,40})`"
)
_TELLING: Final = (
    "alidation error", "Failed validating", "is not of type", "required property", "Additional properties are",
    "is not one of [", " must be ", " must have ", " must NOT have ", "\u2192 at ", "Error:Field validation for",
    " - at `", " @ data[", "parameter `", "Input should", "Field required", "does not match '",
)  # fmt: skip
"""What a text holds at least one of that states a validation error."""


def read_validation(message: str, *, whole: bool = False) -> Reading | None:
    """
    Return the reading of a validation error, or nothing.

    The text is read for the live exception too, so that both lead to one key. If `whole`, it must be one from its first
    character on.
    """
    if not has_any(message, _TELLING):
        return None
    message = message[:_MAX_TEXT]
    if whole and not any(pattern.match(message) for pattern in _BEGINNINGS):
        return None
    for read in _READERS:
        reading = read(message)
        if reading is not None:
            return reading
    return None


def reading_of(message: str, violations: Sequence[Violation]) -> Reading:
    """Return a reading of violations; its key knows no value and no reporter."""
    cause, details = describe(message, violations)
    return Reading(cause, f"{VALIDATION}: {key_of(violations)}", details, VALIDATION)


# --- pydantic --------------------------------------------------------------------------------------------------------


def _read_pydantic(message: str) -> Reading | None:
    header = _HEADER.search(message, 0, 1_000)
    if header is None:
        return None
    after = message[header.end() :]
    listed = find_body(after) if "{" in after and after.lstrip("`json \n")[:1] == "[" else None
    violations = listed.body.violations if listed is not None else ()
    violations = violations or tuple(_read_fields(after.split("\n", _MAX_LINES))) or tuple(_field_lines(after))
    return reading_of(header[0].rstrip(":"), violations) if violations else None


def _read_fields(lines: Iterable[str]) -> Iterator[Violation]:
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
            reason += [] if line.startswith("    ") or not line.strip() else [line.strip()]
            continue
        got = _INPUT.search(line, kind.end() - 1)
        value = got["value"] if got is not None and "missing" not in kind[1] else ""
        yield Violation(field, " ".join((*reason[:MAX_VIOLATIONS], line[: kind.start()].strip())), kind[1], value)
        field, reason = "", []
        found += 1
        if found == MAX_VIOLATIONS:
            return
    if reason and _NAME.fullmatch(field):
        yield Violation(field, reason[0])


def _field_lines(text: str) -> Iterator[Violation]:
    for line in text.split("\n", _MAX_LINES)[:_MAX_LINES]:
        found = _FIELD_LINE.match(line)
        if found is not None:
            kind = _KIND.search(found["reason"])
            reason = found["reason"][: kind.start()] if kind else found["reason"]
            yield Violation(found["path"], reason.strip(), kind[1] if kind else "")


def _read_field_lines(message: str) -> Reading | None:
    violations = tuple(islice(_field_lines(message), MAX_VIOLATIONS))
    return reading_of("", violations) if violations else None


# --- JSON Schema -----------------------------------------------------------------------------------------------------


def _json_schema(message: str) -> Reading | None:
    found = _SCHEMA.match(message)
    if found is None:
        return None
    failed, instance = _FAILED.search(message), _INSTANCE.search(message)
    path = found["path"] or (instance["path"] if instance is not None else "")
    if failed is None and "\n" in message.strip() and not message.startswith("Input validation error"):
        return None
    rule = failed["rule"] if failed is not None else ""
    return reading_of("", (Violation(_write_path(path), found["message"], rule),))


def _write_path(path: str) -> str:
    return path.replace("['", ".").replace("']", "").replace("[", ".").replace("]", "").lstrip(".")


# --- others ----------------------------------------------------------------------------------------------------------


def _by_pattern(pattern: re.Pattern[str], sign: str = "") -> Callable[[str], Reading | None]:
    # Return a reader of texts that hold `sign`, which a pattern that begins anywhere looks for at each character.

    def read(message: str) -> Reading | None:
        if sign not in message:
            return None
        found = list(islice(pattern.finditer(message), MAX_VIOLATIONS))
        violations = tuple(
            Violation(_write_path(one["path"].strip()), one["message"].strip(), one.groupdict().get("rule") or "")
            for one in found
        )
        return reading_of("", violations) if violations else None

    return read


def _read_parameters(message: str) -> Reading | None:
    violations = tuple(
        Violation(
            one["required"] or one["unexpected"] or one["path"],
            one["missing"] or one["extra"] or "",
            "missing" if one["missing"] else "extra" if one["extra"] else "type",
            one["got"] or "",
            one["expected"] or "",
        )
        for one in islice(_PARAMETER.finditer(message), MAX_VIOLATIONS)
    )
    return reading_of("", violations) if violations else None


_BEGINNINGS: Final = (_HEADER, _SCHEMA, _ZOD, _GO, _MSGSPEC, _VOLUPTUOUS, _PARAMETER, _AJV, _FIELD_LINE)
_READERS: Final[tuple[Callable[[str], Reading | None], ...]] = (
    _read_pydantic, _json_schema, _by_pattern(_ZOD), _by_pattern(_GO), _by_pattern(_MSGSPEC, " - at `"),
    _by_pattern(_VOLUPTUOUS, " @ data["), _read_parameters, _by_pattern(_AJV), _read_field_lines,
)  # fmt: skip
