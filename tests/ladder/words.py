"""The numbers in the texts that an agent reads, by what they count."""

from __future__ import annotations

import re
from typing import Final

_COUNTS: Final = {
    "count": r"(?:again|with new details) \(x(\d+)",
    "streak": r"(?:again|with new details) \(x\d+, (\d+) in a row",
    "loop": r"(\d+) identical calls",
    "consecutive": r"(\d+) calls failed in a row",
    "total": r"(\d+) failures in this run",
    "loop halt": r"at (\d+) the run is stopped",
    "limit": r"(?:escalates|ESCALATED) at (\d+)",
    "executed": r"this exact call has failed (\d+) times",
    "attempt": r"this was attempt (\d+)",
}
_NUMBER: Final = re.compile(r"(?<![\w#.:/])(?<!Errno )(?<!code )\d+(?![\w.])")
_CLASS: Final = re.compile(r"(?m)^\[.*?(?: \(x(\d+)(?:, (\d+) in a row)?\))? #([0-9a-f]{4,16})$")


def read_counts(text: str) -> dict[str, int]:
    """Return each count of a text by its name; a text never has two of one name."""
    found = {name: [int(number) for number in re.findall(pattern, text)] for name, pattern in _COUNTS.items()}
    assert all(len(set(numbers)) <= 1 for numbers in found.values()), text
    return {name: numbers[0] for name, numbers in found.items() if numbers}


def list_unread(text: str) -> list[str]:
    """Return numbers of a text that no pattern reads: a new wording has to be added here."""
    read = {each.end(1) for pattern in _COUNTS.values() for each in re.finditer(pattern, text)}
    return [each[0] for each in _NUMBER.finditer(text) if each.end() not in read]


def read_block(text: str) -> dict[str, tuple[int, int]]:
    """Return count and longest row of each class of a block, by its short name."""
    return {short: (int(count or 1), int(row or 1)) for count, row, short in _CLASS.findall(text)}
