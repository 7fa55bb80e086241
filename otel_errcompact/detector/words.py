"""Words that an output holds, found by what many of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHARED: Final = (
    *("*", "q", "^", "=", "%", "|", ">", "z", "j", '"', "[", "problem", "found", "_", "v", "l:", "con", "5", "issue"),
    *("http", "w", "defined", "3", "ca", "module", ".py", "x", "lua:", "k", "/", "le", "h:", "2", "4", "pp:", "b"),
    *("go:", "-", "0", "c:", "1"),
)
"""
What several words have in common, in the order in which a word is filed under it: what few outputs hold comes first.

Any choice finds the same words; this one was found by trying what is fastest over the outputs of real tools.
"""


class Words:
    """
    Find which words stand in a text.

    Args:
        words: The words, in small letters; a word of another alphabet is a single character.
    """

    def __init__(self, words: Iterable[str]) -> None:
        files: dict[str, list[str]] = {}
        marks: list[str] = []
        for word in words:
            shared = next((part for part in _SHARED if part in word), word)
            (files.setdefault(shared, []) if word.isascii() else marks).append(word)
        self._marks: Final = tuple(marks)
        self._alone: Final = tuple(group[0] for group in files.values() if len(group) == 1)
        self._shared: Final = {shared: tuple(group) for shared, group in files.items() if len(group) > 1}

    def find(self, text: str, lowered: str) -> tuple[str, ...]:
        """Return the words in a text; `lower` is the text in small letters."""
        holds = lowered.__contains__
        found = [*filter(holds, self._alone)]
        for shared in filter(holds, self._shared):
            found += filter(holds, self._shared[shared])
        if not text.isascii():
            found += filter(text.__contains__, self._marks)
        return tuple(found)


def lower(text: str) -> str:
    """
    Return a text in small letters, behind the end of a line that is not there.

    Each character of another alphabet becomes `?`: among such characters words are looked for twice as slowly.
    """
    return f"\n{text.lower()}" if text.isascii() else f"\n{text.encode('ascii', 'replace').decode('ascii').lower()}"
