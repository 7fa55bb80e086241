"""Find words of an output by the tokens that it consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKEN: Final = lazy_pattern(r"[a-z0-9]+")
_ENDINGS: Final = ("", "s", "d", "ed", "ing", "ked", "ion")
"""What a word may end in where nothing follows it in the table: `abort` is in `aborted`, `panic` in `panicked`."""

_DENIALS: Final = {
    "error": (" no error", " 0 error", "\n0 error", "without error", "errors: 0\n", "errors=0\n"),
    "fail": (" 0 fail", "\n0 fail", " no fail", "failed: 0\n", "failures: 0,"),
}
_MIN_BEGINNING: Final = 3
_END: Final = 300

_IN_TOKENS: Final = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256)).lower()  # noqa: PLR2004 - ASCII


class Words:
    """
    Find which words stand in a text.

    A text is split once, and its tokens are looked up at once: to search it for each word costs ten times as much.

    Args:
        everywhere: Parts of words, looked for in the whole text.
        words: The words, in small letters, looked for at its ends; a word of another alphabet is a single character.
    """

    def __init__(self, everywhere: Iterable[str], words: Iterable[str]) -> None:
        self._everywhere: Final = tuple(everywhere)
        filed: dict[str, list[str]] = {}
        parts: list[str] = []
        marks: list[str] = []
        for word in words:
            tokens = _tokens_of(word)
            for token in tokens:
                filed.setdefault(token, []).append(word)
            if not tokens:
                (parts if word.isascii() else marks).append(word)
        self._filed: Final = {token.encode(): tuple(group) for token, group in filed.items()}
        self._tokens: Final = frozenset(self._filed)
        self._parts: Final = tuple(parts)
        self._marks: Final = tuple(marks)

    def find(self, text: str, lowered: str) -> tuple[str, ...]:
        """Return the words in a text, given as it is and lowered."""
        found = [word for word in self._everywhere if word in lowered and not _is_denied(word, lowered)]
        ends = lowered if len(lowered) <= 2 * _END else f"{lowered[:_END]}\n{lowered[-_END:]}"
        tokens = ends.encode("ascii").translate(_IN_TOKENS, b"'").split()
        holds = ends.__contains__
        for token in self._tokens.intersection(tokens):
            found += filter(holds, self._filed[token])
        found += filter(holds, self._parts)
        if not text.isascii():
            found += filter(text.__contains__, self._marks)
        return tuple(dict.fromkeys(found)) if found else ()


def _is_denied(word: str, lowered: str) -> bool:
    # Tell whether each place of a word says that there was none.
    if word not in _DENIALS:
        return False
    return lowered.count(word) == sum(map(lowered.count, _DENIALS[word]))


def _tokens_of(word: str) -> tuple[str, ...]:
    # Return the tokens of which one is in each text with a word; none where too many may hold it: `sc1`, `sh: `.
    text = word.replace("'", "")
    longest = max(_TOKEN.finditer(text), key=lambda found: len(found[0]), default=None)
    if longest is None or (longest.end() == len(text) and longest[0][-1].isdigit()):
        return ()
    if longest.start() == 0 and len(longest[0]) < _MIN_BEGINNING:
        return ()
    endings = _ENDINGS if longest.end() == len(text) else ("",)
    return tuple(f"{longest[0]}{ending}" for ending in endings)


def lower(text: str) -> str:
    """
    Return a text in small letters, with an end of line added.

    Each character of another alphabet becomes `?`: among such characters words are looked for twice as slowly.
    """
    return f"\n{text.lower()}" if text.isascii() else f"\n{text.encode('ascii', 'replace').decode('ascii').lower()}"
