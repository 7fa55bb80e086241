"""Find out what is to stay as it is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

VARIABLES: Final = ("ERRCOMPACT", "OTEL_ERRCOMPACT_ENABLED")
"""The first is for coding agents: some give their hooks and commands no variable that begins with `OTEL_`."""

RAW: Final = "errcompact exec --raw "
_OFF: Final = frozenset({"0", "false", "no", "off"})


def is_off(environ: Mapping[str, str]) -> bool:
    """Return whether an environment says that we are not here."""
    return any(_says_off(environ.get(name, "")) for name in VARIABLES)


def is_left_alone(line: str) -> bool:
    """Return whether a command line itself says that its output stays raw."""
    line = line.lstrip()
    name, _, value = line.partition(" ")[0].partition("=")
    return (name in VARIABLES and _says_off(value)) or line.startswith(RAW)


def _says_off(value: str) -> bool:
    return value.strip().lower() in _OFF
