"""Say in one plain sentence what is wrong with a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ALL_FIELDS: Final = "GET /v1/openapi.json describes all that there are"
_DESCRIBED: Final = "what GET /v1/openapi.json describes"
_ONE_OBJECT: Final = "send one JSON object"
_BODY: Final = ("body",)

_NO_JSON: Final = "json_invalid"
_UNKNOWN_FIELD: Final = "extra_forbidden"
_MISSING: Final = "missing"
_EMPTY: Final = "string_too_short"
_LONG: Final = "string_too_long"
_WANTED: Final[Mapping[str, str]] = {
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
"""What is to be sent, by what pydantic calls a mistake."""

_GIVEN: Final[tuple[tuple[type, str], ...]] = (
    (bool, "true or false"),
    (int, "a number"),
    (float, "a number"),
    (str, "a text"),
    (list, "a list"),
    (dict, "an object"),
)


def describe_problem(errors: Sequence[Mapping[str, Any]], document: object) -> str:
    """
    Return what is wrong, where, and what to do.

    Args:
        errors: What pydantic has found; at least one.
        document: The body as it came, where it is no JSON.
    """
    # A misspelt field is the reason why another one is missing.
    found = min(errors, key=lambda each: each["type"] != _UNKNOWN_FIELD)
    if found["type"] == _NO_JSON:
        return f"the body is no JSON: {found['ctx']['error']}{_find_place(document, found['loc'][-1])}; {_ONE_OBJECT}"
    place = found["loc"][:2]  # behind it stands which of several types was tried
    where = ".".join(map(str, place))
    if found["type"] == _UNKNOWN_FIELD:
        return f"there is no field {where}; {_ALL_FIELDS}"
    if found["type"] == _MISSING:
        return f"the body is empty; {_ONE_OBJECT}" if place == _BODY else f"the field {where} is missing; {_ALL_FIELDS}"
    if found["type"] in {_EMPTY, _LONG}:
        is_empty = found["type"] == _EMPTY
        bound = f"at least {found['ctx']['min_length']}" if is_empty else f"at most {found['ctx']['max_length']:,}"
        return f"the field {where} has {len(found['input']):,} characters; send {bound}"
    given = next((name for kind, name in _GIVEN if isinstance(found["input"], kind)), "null")
    if place == _BODY:
        return f"the body is {given}; {_ONE_OBJECT}"
    tried = (each["type"] for each in errors if each["loc"][:2] == place)
    wanted = dict.fromkeys(_WANTED.get(each, _DESCRIBED) for each in tried)
    return f"the field {where} is {given}; send {' or '.join(wanted)}"


def _find_place(document: object, position: object) -> str:
    if not isinstance(document, str) or not isinstance(position, int):
        return ""
    line = document.count("\n", 0, position) + 1
    return f" at line {line}, column {position - document.rfind(chr(10), 0, position)}"
