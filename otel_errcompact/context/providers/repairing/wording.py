"""What is put into a history that was interrupted: never more than is known."""

from __future__ import annotations

from typing import Final

UNKNOWN_OUTCOME: Final = (
    "[errcompact repair: no result of this call was recorded, since the run was interrupted. Whether it was carried "
    "out is unknown: check before you repeat it.]"
)
LOST_TURN: Final = "[errcompact repair: what was said here before is lost.]"
_LOST_CALL: Final = "[errcompact repair: the result of a call{tool} that is not in this conversation any more]"


def tell_orphan(tool: str, text: str) -> str:
    """Return a result without its call as a text."""
    line = _LOST_CALL.format(tool=f" of {tool}" if tool else "")
    return f"{line}\n{text}" if text else line
