"""Fingerprints that identical calls share."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_FINGERPRINT_BYTES: Final = 8
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, default=repr)


def call_fingerprint(tool: str, arguments: str | Mapping[str, object] | None, directory: str = "") -> str:
    """
    Return a hash that identical calls share; empty without arguments.

    Identical are calls of one tool with equal arguments in one directory, whatever the order of keys in a JSON object.
    Without arguments no two calls are surely identical.
    """
    if arguments is None or arguments == "":
        return ""
    material = f"{tool}\x1f{_canonical_json(arguments)}"
    return short_hash(f"{material}\x1f{directory}" if directory else material)


def short_hash(text: str) -> str:
    """Return sixteen hexadecimal characters that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_FINGERPRINT_BYTES).hexdigest()


def _canonical_json(arguments: str | Mapping[str, object]) -> str:
    value = parse_arguments(arguments) if isinstance(arguments, str) else arguments
    if isinstance(value, str):
        return value
    try:
        return _CANONICAL.encode(value)
    except Exception:  # noqa: BLE001 - the application's own objects may raise anything from `repr`
        return f"{type(value).__qualname__} {id(value)}"


def parse_arguments(text: str) -> object:
    """Parse arguments in JSON; any other text stays as it is."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
