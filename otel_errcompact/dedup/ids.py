"""
Ids: known by a label, or by their look.

A label decides whatever the id looks like: a class whose id is now a UUID, now a number is one class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_LABELLED: Final = lazy_pattern(
    r"[iIrRsStTdDeEjJpPoOcCwWbB](?:"
    r"(?<=[iI])[dD](?:(?<![A-Za-z][A-Za-z]..)|(?<=[a-z]I.)|"
    + "|".join(
        f"(?<={word}..)"
        for word in ("request", "trace", "span", "session", "correlation", "client", "message", "task", "uu", "gu")
    )
    + r")(?P<id>)"
    r"|(?<![A-Za-z].)(?:(?:(?<=[rR])e(?:f(?:erence)?|quest)|(?<=[sS])(?:ession|pan)|(?<=[tT])(?:race(?:parent)?|ransaction|icket)"
    r"|(?<=[dD])igest|(?<=[eE])[tT]ag|(?<=[iI])ncident)(?P<one>)"
    r"|(?:(?<=[jJ])ob|(?<=[pP])ods?)(?P<thing>)"
    r"|(?:(?<=[pP])(?:ayment|arcel|ipeline[Rr]un)|(?<=[oO])rder|(?<=[iI])nvoice|(?<=[tT])ask[Rr]un"
    r"|(?<=[cC])(?:ustomer|ontainer)|(?<=[sS])hipment|(?<=[wW])orkflow|(?<=[rR])evision|(?<=[bB])ooking)(?P<noun>)"
    r"))(?: (?:is|was|number|no\.))?(?=[^\w.])"
    r"(?P<between>\\{0,2}['\"`]?(?: ?(?:[:=#(\[,]{1,2}|->)[ \t]?| )(?:W/(?=\"))?\\{0,2}['\"`<(\[]?)"
    r"(?=[A-Za-z_+/~.:=-]{0,64}[0-9]|[\w+/~=-]{16}|[a-fA-F]{8}(?!\w)|[a-z-]{3,60}-[b-df-hj-np-tv-z2-9]{5}(?![\w-]))"
    r"(?![45][0-9][0-9] [A-Z])(?P<value>[\w+/~.:=-]*[\w+/=~-])"
)
_MEANT: Final = lazy_pattern(
    r"(?i:model|plugin|rule|tool|tests?|check|region|locale|lang|column|error|chart|code|project|extension|package|app)"
    r"[ _-]?\Z"
)
"""What such ids say is chosen by people, and is meaning."""

_LONGEST_OWNER: Final = len("extension_")
_STRICT: Final = frozenset(":=#")
_REPLICA: Final = lazy_pattern(r"(?<=[^\W_])(?:-[b-df-hj-np-tv-z0-9]{7,10})?-(?:[b-df-hj-np-tv-z2-9]{5}|[0-9]{1,3})\Z")
"""The end of a pod's name, as deployments, jobs, daemon sets and stateful sets make it."""

_WORD: Final = lazy_pattern(
    r"(?<![^\W_])(?![0-9a-f]+(?![^\W_]))[A-Za-z](?<=[aeiouyAEIOUY])[a-z]{2,}(?![^\W_])"
    r"|(?<![^\W_])(?![0-9a-f]+(?![^\W_]))[A-Za-z](?=[a-z]{0,3}[aeiouy])[a-z]{2,}(?![^\W_])"
)
_DIGIT: Final = lazy_pattern(r"[0-9]")
_HEXADECIMAL: Final = lazy_pattern(r"(?:[0-9a-f]{8,}|[0-9A-F]{8,})\Z")
MIN_RANDOM: Final = 16
"""Characters that an id without a label has at least; shorter ones are judged by their parts."""

_MIN_LETTERS: Final = 24
"""Small letters in a row, behind a dash, that no word has: `DerivedData/Shop-bqzlcahcsjoyhvfddxkqosrdqykb`."""

_STORE: Final = lazy_pattern(r"(?=[a-z]{0,31}[0-9])[0-9a-df-np-sv-z]{32}-(?=[a-z])")
"""The hash before a name in the store of nix."""

_MIN_SCORE: Final = 2

_UNSPOKEN: Final = lazy_pattern(r"[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{6}")
_MIN_REST: Final = 8
_PREFIX: Final = lazy_pattern(
    r"(?:(?![0-9a-f]+[-_])(?=[a-z]{0,2}[aeiou])[a-z]{3,12}[-_])+(?=[A-Za-z0-9]{1,32}(?:-[a-z0-9]{5})?=*\Z)"
)
"""Words in front of an id, which stay."""

_LONG: Final = lazy_pattern(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16,128}(?:={1,2}(?![\w=]))?(?!\w)")
_RANDOM_LOOK: Final = lazy_pattern(r"[A-Za-z0-9_-]{16,128}={0,2}\Z")
_TURN: Final = lazy_pattern(r"(?<=[a-z])[A-Z0-9]|(?<=[0-9])[A-Za-z]|(?<=[A-Z])(?:[0-9]|[A-Z](?=[a-z]))")
"""Where a word of a name would end, other than at a dash."""

_ODD: Final = lazy_pattern(
    r"(?<=[0-9])[a-z]|(?<=[a-z0-9])[A-Z](?![A-Za-z])|(?<=[A-Z0-9])[a-z](?![a-z])|(?<=[a-z0-9])[A-Z](?=[A-Z][a-z])"
    r"|(?i:[jqxz](?=[bcdfghjkmnpqrsvwxz])|[bcdfghkmpqvwz](?=[jqxz]))"
)
"""Turns and pairs of letters that hardly any name has."""

_HUMP_OF_NAME: Final = lazy_pattern(
    r"(?:(?:(?=[A-Za-z][a-z]{0,3}[aeiouy]|[aeiouAEIOU])[A-Z]?[a-z]{2,}(?<![b-df-hj-np-tv-xz]{4})|[0-9]+|[A-Z]{2,5}(?![A-Z](?![a-z])))"
    r"(?:[._/-]+|(?![\w._/-])|(?=[A-Z])|(?<=[a-zA-Z])(?=[0-9])))+\Z"
)


_SPOKEN: Final = lazy_pattern(r"(?:[A-Z]|(?<![A-Za-z]))(?=[a-z]{0,3}[aeiouy])[a-z]{2,}")
"""Words of a name in camel case, or between dashes."""


def mask_labelled(text: str) -> str:
    """Return `text` with a placeholder for each id that a label names."""
    low = text.lower()
    # What labels hold: most texts hold none of it. Written out, since this is done for every message.
    if (
        "id" in low or "requ" in low or "ref" in low or "tra" in low or "job" in low or "pod" in low or "ses" in low
        or "span" in low or "dige" in low or "etag" in low or "incid" in low or "ticket" in low
        or "order" in low or "voice" in low or "tomer" in low or "tainer" in low or "ayment" in low
        or "hipment" in low or "workflow" in low or "revis" in low or "taskrun" in low
        or "linerun" in low or "parcel" in low or "booking" in low
    ):  # fmt: skip
        return _LABELLED.sub(_mask_match, text)
    return text


def find_labelled(text: str) -> Iterator[tuple[str, str]]:
    """Yield the same ids with their labels, each with its placeholder."""
    if mask_labelled(text) != text:
        for match in _LABELLED.finditer(text):
            if (masked := _mask_match(match)) != match[0]:
                yield match[0], masked


def _mask_match(match: re.Match[str]) -> str:
    value = match["value"]
    kept = match[0][: match.start("value") - match.start()]
    if match["noun"] is not None and value.isdecimal():
        return match[0]
    if match["thing"] is not None or match["noun"] is not None:
        return kept + _mask_thing(value)
    is_id = match["id"] is not None
    if is_id and _MEANT.search(match.string, max(match.start() - _LONGEST_OWNER, 0), match.start()):
        return kept + ("<id>" if _is_made_up(value) else value)
    if is_id or not _STRICT.isdisjoint(match["between"]):
        named = _DIGIT.search(value) is None and not _is_unlike_name(value)
    else:
        named = not (_is_made_up(value) or _is_unlike_name(value))
    return match[0] if named else f"{kept}<id>"


def _mask_thing(name: str) -> str:
    stem = _REPLICA.sub("-<id>", name) if name[0].isalpha() else name
    if stem != name or _PREFIX.match(name):
        return stem
    return "<id>" if _is_made_up(name) or _is_unlike_name(name) else name


def is_random(text: str) -> bool:
    """Tell whether a long word is made up: base62, base64url, nanoid."""
    if len(text) < MIN_RANDOM or not _RANDOM_LOOK.match(text):
        return False
    odd = len(_ODD.findall(text))
    if not odd:
        return False
    score = odd + len(_TURN.findall(text)) - len(text) // 4
    if score < _MIN_SCORE or (score == _MIN_SCORE and not _DIGIT.search(text)):
        return False
    return 3 * sum(map(len, _SPOKEN.findall(text))) < 2 * len(text)


def mask_long(text: str) -> str:
    """Mask the long made-up words in a name or a path."""
    return _LONG.sub(_mask_random, text)


def _mask_random(match: re.Match[str]) -> str:
    text = match[0]
    store = _STORE.match(text)
    if store is not None:
        return f"<id>-{text[store.end() :]}"
    head, dash, tail = text.rpartition("-")
    if len(tail) >= _MIN_LETTERS and tail.isalpha() and tail.islower():
        return f"{head}{dash}<id>"
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    return f"{text[:start]}<id>" if is_random(text[start:]) else text


def _is_made_up(text: str) -> bool:
    prefix = _PREFIX.match(text)
    rest = text[prefix.end() :] if prefix else text
    if is_random(rest):
        return True
    return _DIGIT.search(rest) is not None and not _WORD.search(rest) and (not prefix or len(rest) >= _MIN_REST)


def _is_unlike_name(text: str) -> bool:
    if _HEXADECIMAL.match(text) or (len(text) >= MIN_RANDOM and _UNSPOKEN.search(text)):
        return True
    return len(text) >= MIN_RANDOM and not (text.islower() or text.isupper()) and not _HUMP_OF_NAME.match(text)
