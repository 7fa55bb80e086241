"""A call's arguments as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

Arguments = Mapping[str, object] | str | None

_ENCODER: Final = json.JSONEncoder(default=str, ensure_ascii=False)


def as_text(arguments: Arguments) -> str:
    """
    Return a call's arguments as JSON; text is taken as it is, and what JSON does not know by its `str`.

    Arguments that cannot be written down, such as cyclic ones, count as unknown: the text is empty.
    """
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    try:
        return _ENCODER.encode(arguments)
    except Exception:  # noqa: BLE001 - the application's own __str__ may raise anything
        return ""
