"""Tables that a statement in SQL names."""

from __future__ import annotations

import re
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

MAX_STATEMENT: Final = 4_096
"""Characters of a statement that are read."""

_SQL: Final = lazy_pattern(
    r"\s{0,100}(?:select|insert\s+into|update|delete\s+from|with|create|alter|drop|truncate|merge\s+into|replace\s+into"
    r"|describe|explain|show|pragma)\b",
    re.IGNORECASE,
)

_TABLE: Final = lazy_pattern(
    r"\b(?:from|join|into|update|table|describe|truncate)\s{1,20}(?:(?:if\s{1,9}(?:not\s{1,9})?exists|only|table)\s{1,9})?"
    r"([A-Za-z_\"`\[][\w.\"`\[\]$]{0,120})",
    re.IGNORECASE,
)
_COMMON_TABLE: Final = lazy_pattern(r"\b(\w{1,60})\s{1,9}as\s{0,9}\(", re.IGNORECASE)
_NO_TABLES: Final = frozenset({"select", "set", "lateral", "unnest", "values", "where", "table", "if", "only"})
_QUOTES_OF_TABLE: Final = str.maketrans("", "", '"`[]')


def is_sql(text: str) -> bool:
    """Tell whether a text begins as a statement in SQL."""
    return _SQL.match(text) is not None


def tables_in(text: str) -> list[str]:
    """Return the tables that a statement in SQL names."""
    if not is_sql(text):
        return []
    text = text[:MAX_STATEMENT]
    own = {name.lower() for name in _COMMON_TABLE.findall(text)} | _NO_TABLES
    names = (name.translate(_QUOTES_OF_TABLE).lower() for name in _TABLE.findall(text))
    return list(dict.fromkeys(name for name in names if name and name not in own))
