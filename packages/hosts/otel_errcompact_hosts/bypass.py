"""Find out what is to stay as it is without us, with nothing imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

ENABLED_VARIABLE: Final = "OTEL_ERRCOMPACT_ENABLED"
RAW: Final = "errcompact exec --raw "
_OFF: Final = frozenset({"0", "false", "no", "off"})


def is_off(environ: Mapping[str, str]) -> bool:
    """Return whether an environment says that we are not here."""
    return _says_off(environ.get(ENABLED_VARIABLE, ""))


def is_left_alone(line: str) -> bool:
    """Return whether a command line itself says that its output stays raw."""
    line = line.lstrip()
    name, _, value = line.partition(" ")[0].partition("=")
    return (name == ENABLED_VARIABLE and _says_off(value)) or line.startswith(RAW)


def _says_off(value: str) -> bool:
    return value.strip().lower() in _OFF
