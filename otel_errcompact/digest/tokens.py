"""Count the tokens of a text, by estimate or by tokenizer."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol
from zlib import adler32

from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODING: Final = "o200k_base"
"""The encoding that is counted with where no model names another: that of the GPT-4o, GPT-5 and o-series models."""

LOAD_SECONDS: Final = 10.0
"""How long an encoding may take to load: the first time tiktoken fetches it, and sets itself no limit."""

MAX_REMEMBERED: Final = 16_384
"""Texts whose count is remembered, each by a digest of 16 bytes."""

PIECE: Final = 65_536
"""Characters that are encoded at a time: tiktoken's parser overflows its stack on a million spaces."""

_COSTS: Final = r"""
eotain 1 1 1  srlcdh 6 6 9  umpgfy 5 5 5  bwvkxjqz 25 25 25  ETAOINRS 3 3 3  LDCMP 3 3 4  BFGHJKQUVWXYZ 27 29 29
012 17 17 14  3456789 10 10 13  00-1F 20 20 17  20-20 1 1 0
- 8 8 8  ./'#<=* 2 2 4  "`,:;@$~^|_ 11 11 12  ()[]{}>!%&+?\ 16 16 20
C2-C2 24 18 25  C3-C3 13 38 37  C4-C5 6 12 30  C6-D6 33 34 22  E1-E1 6 14 51
CE-CF 8 17 21  D0-D0 4 5 5  D1-D1 11 12 14  D7-D7 4 15 14  D8-DB 6 10 14  DC-DF 6 16 16
E0-E0 6 13 23  E2-E2 12 13 13  E3-E3 10 13 12  E4-E9 10 11 9  EA-ED 8 8 12  EE-EF 8 10 10  F0-F4 24 26 27
84-8B 2 7 10  98-9F 15 21 16  A4-A5 0 6 0  A6-A7 0 9 13  A8-AB 7 13 10  AC-AD 3 0 0  AE-B7 0 11 12  B8-B9 0 0 6
"""
"""
What each byte of a text in UTF-8 costs, in twentieths of a token of `o200k_base`, `cl100k_base`, and Claude's tokenizer
as it was published: characters, or the first and the last byte of a range. Letters that are rare in words tell base64
and ids from prose; the second bytes tell scripts apart that share their first one.
"""

# Models of `cl100k_base`, behind any prefix: https://github.com/openai/tiktoken/blob/main/tiktoken/model.py
_OLDER: Final = lazy_pattern(r"\bgpt-(?:4(?![\w.]|-1\b)|3\.?5)", re.IGNORECASE)

_BLOCK: Final = 1_024
"""Bytes that are summed at a time: their costs stay below the modulus of Adler-32."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str) -> int:
        """Return the number of tokens in `text`."""
        ...


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text` as a quarter of its characters."""
    return (len(text) + 3) // 4


def read_costs(column: int) -> bytes:
    """Return what each byte costs, by its tokenizer's column in the table."""
    costs, words = bytearray(256), _COSTS.split()
    for at in range(0, len(words), 4):
        first, _, last = words[at].rpartition("-")
        for byte in range(int(first, 16), int(last, 16) + 1) if first else words[at].encode():
            costs[byte] = int(words[at + 1 + column])
    return bytes(costs)


def estimate_mixed_tokens(text: str, costs: bytes = read_costs(0)) -> int:
    """
    Estimate the tokens of `text` by what its bytes cost.

    Never less for a text than for a part of it; docs/context.md has the errors.

    Args:
        text: The text.
        costs: What each byte costs, in twentieths of a token; as `o200k_base` counts by default.
    """
    spent = text.encode("utf-8", "surrogatepass").translate(costs)
    # The lower half of Adler-32 is the sum of the bytes, at a tenth of the price of `sum`.
    if len(spent) <= _BLOCK:
        return (adler32(spent, 0) % 65_536 + 19) // 20
    return (sum([adler32(spent[at : at + _BLOCK], 0) % 65_536 for at in range(0, len(spent), _BLOCK)]) + 19) // 20


@lru_cache(maxsize=16)
def default_counter(model: str = "") -> TokenCounter:
    """
    Return the best counter there is for a model.

    tiktoken's if it can load the model's encoding, else an estimator of it; for Claude an estimator always.

    Args:
        model: The model's name; "" if unknown, which counts as `ENCODING`.
    """
    if "claude" in model.lower():
        return partial(estimate_mixed_tokens, costs=read_costs(2))
    is_older = _OLDER.search(model) is not None
    estimate = partial(estimate_mixed_tokens, costs=read_costs(1)) if is_older else estimate_mixed_tokens
    return _load_counter("cl100k_base" if is_older else ENCODING) or estimate


def _load_counter(encoding: str) -> TokenCounter | None:
    # None where tiktoken is not installed, or cannot load the encoding.
    try:
        tiktoken: Any = import_module("tiktoken")
    except ImportError:
        return None
    loaded: list[TokenCounter] = []

    def load() -> None:
        with suppress(Exception):  # whatever the network, a proxy or a broken cache may raise
            loaded.append(_Counter(tiktoken.get_encoding(encoding).encode_ordinary))

    thread = Thread(target=load, name="errcompact-tiktoken", daemon=True)
    thread.start()
    thread.join(LOAD_SECONDS)
    return next(iter(loaded), None)


class _Counter:
    """
    Counts tokens with a tokenizer, and remembers the counts of texts.

    Args:
        encode: Returns the tokens of a text.
    """

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        from hashlib import blake2b  # not before: with it the library of OpenSSL is loaded

        self._encode = encode
        self._hash = partial(blake2b, digest_size=16)
        self._remembered: BoundedTable[bytes, int] = BoundedTable(MAX_REMEMBERED)

    def __call__(self, text: str) -> int:
        key = self._hash(text.encode("utf-8", "surrogatepass")).digest()
        known = self._remembered.get(key)
        if known is None:
            known = sum(len(self._encode(text[at : at + PIECE])) for at in range(0, len(text), PIECE))
            self._remembered.put(key, known)
        return known
