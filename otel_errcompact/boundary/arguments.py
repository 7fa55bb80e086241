"""A call's arguments as text."""

from __future__ import annotations

import json
from collections.abc import Mapping

Arguments = Mapping[str, object] | str | None


def as_text(arguments: Arguments) -> str:
    """Return a call's arguments as JSON; text is taken as it is, and what JSON does not know by its `str`."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, default=str, ensure_ascii=False)
