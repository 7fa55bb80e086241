"""Calls that a model asks for by name, with JSON."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact.extract.payload.error import INVALID_ARGUMENTS, UNKNOWN_TOOL, VALIDATION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_NAMES: Final = 40
"""Names of known tools that an answer lists."""

_NEARBY: Final = 30
"""Characters on either side of the place at which a parser has stopped."""


class Misfit(NamedTuple):
    """Why a call cannot be made."""

    type: str
    text: str


class Requested(NamedTuple):
    """A function, and the arguments it can be called with."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def find_requested(tools: Mapping[str, Callable[..., Any]], name: str, arguments: str) -> Requested | Misfit:
    """
    Return the function and its arguments, or why neither fits.

    Args:
        tools: The functions by name.
        name: The name that the model wrote.
        arguments: What it wrote as arguments; some servers write nothing where there are none.
    """
    if name not in tools:
        return Misfit(UNKNOWN_TOOL, f"unknown tool '{name}'; known tools: {_list_names(tools)}")
    read, why = _read_arguments(arguments or "{}")
    if why:
        return Misfit(INVALID_ARGUMENTS, f"bad JSON arguments: {why}")
    if not isinstance(read, dict):
        return Misfit(INVALID_ARGUMENTS, f"bad JSON arguments: expected an object, got {type(read).__name__}")
    given = cast("dict[str, Any]", read)
    broken = _broken_rules(tools[name], given)
    if broken:
        count = f"{len(broken)} validation error{'s' if len(broken) > 1 else ''}"
        return Misfit(VALIDATION, "\n".join((f"{count} for {name}", *broken)))
    return Requested(tools[name], given)


def why_no_json(arguments: object) -> str:
    """Return what a parser misses in arguments; empty if they are JSON."""
    return _read_arguments(arguments)[1] if isinstance(arguments, str) and arguments else ""


def _read_arguments(arguments: str) -> tuple[object, str]:
    try:
        return json.loads(arguments), ""
    except json.JSONDecodeError as error:
        return None, f"{error}{_quote_nearby_text(arguments, error.pos)}"
    except RecursionError:
        return None, "they nest too deeply"
    except ValueError as error:
        return None, str(error)


def _list_names(tools: Mapping[str, Callable[..., Any]]) -> str:
    names = list(tools)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{', '.join(names[:MAX_NAMES])}{more}" if names else "none"


def _quote_nearby_text(arguments: str, position: int) -> str:
    before, after = arguments[max(position - _NEARBY, 0) : position], arguments[position : position + _NEARBY]
    place = f"{'...' if position > _NEARBY else ''}{before}"
    if not after.strip():
        return f"; the arguments end there: {place}"
    return (
        f"; before it: {place or 'nothing'}; from there: {after}{'...' if position + _NEARBY < len(arguments) else ''}"
    )


def _broken_rules(function: Callable[..., Any], given: dict[str, Any]) -> list[str]:
    # In the words of pydantic, whose errors are of the same class.
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # what is written in C may have no signature
        return []
    named = {each.name: each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    missing = [name for name, each in named.items() if each.default is each.empty and name not in given]
    extra = [] if takes_any else [name for name in given if name not in named]
    return [
        *(f"{name}\n  Field required [type=missing_argument]" for name in missing),
        *(f"{name}\n  Unexpected keyword argument [type=unexpected_keyword_argument]" for name in extra),
    ]
