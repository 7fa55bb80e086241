"""Exit statuses of the command line, and their meanings."""

from __future__ import annotations

from typing import Final

FINE: Final = 0
INCOMPLETE: Final = 1
USAGE: Final = 2
FAULT: Final = 70
"""A fault of our own; this and the next one as sysexits.h has them."""

UNWRITABLE: Final = 74
INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""What shells show for SIGPIPE."""

MEANINGS: Final = {
    FINE: "fine",
    INCOMPLETE: "some input was malformed, unreadable or unknown, or an extra is missing; the rest was processed",
    USAGE: "wrong usage, or a named output cannot be written; nothing was processed",
    FAULT: "a fault of errcompact itself",
    UNWRITABLE: "output was lost: standard output is closed, or a disk is full",
    INTERRUPTED: "interrupted",
    READER_GONE: "the reader of the output has ended, as head does",
}
"""What each exit status means."""
