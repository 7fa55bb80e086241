"""Count the tokens of a text, by estimate or by tokenizer."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol

from otel_errcompact.exceptions import ConfigurationError, MissingExtraError
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.warning import warn

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODING: Final = "o200k_base"
"""The encoding that is counted with where none is named: that of the GPT-4o, GPT-5 and o-series models."""

LOAD_SECONDS: Final = 10.0
"""How long an encoding may take to load: the first time tiktoken fetches it, and sets itself no limit."""

MAX_REMEMBERED: Final = 16_384
"""Texts whose count is remembered, each by a digest of 16 bytes."""

PIECE: Final = 65_536
"""Characters that are encoded at a time: tiktoken's parser overflows its stack on a million spaces."""

_PLAIN: Final = b"abcdefghijklmnopqrstuvwxyz "


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str) -> int:
        """Return the number of tokens in `text`."""
        ...


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text` as a quarter of its characters."""
    return (len(text) + 3) // 4


def estimate_mixed_tokens(text: str) -> int:
    """
    Estimate the tokens of `text` by the kinds of its characters.

    A fifth of a token for each small letter and space, as in prose; three fifths for every other ASCII character, since
    digits, signs and capitals make short tokens; and of what is not ASCII two fifths for each byte that UTF-8 needs
    beyond the first. A window that is filled by `estimate_tokens` overflows where tool results are numbers, paths and
    JSON: docs/context.md has the errors of both. Never less for a text than for a part of it.
    """
    if text.isascii():
        return (len(text) + 2 * len(text.encode().translate(None, _PLAIN)) + 4) // 5
    ascii_ = text.encode("ascii", "ignore")
    fifths = len(ascii_) + 2 * len(ascii_.translate(None, _PLAIN))
    fifths += 2 * (len(text.encode("utf-8", "surrogatepass")) - len(text))
    return (fifths + 4) // 5


def tiktoken_counter(encoding: str = ENCODING) -> TokenCounter:
    """
    Return a counter with a tokenizer of tiktoken and a memory.

    tiktoken fetches an encoding the first time, and keeps it in `TIKTOKEN_CACHE_DIR`. Where it cannot be loaded, a
    warning says so, and `estimate_mixed_tokens` is returned.

    Args:
        encoding: The encoding's name.

    Raises:
        MissingExtraError: tiktoken is not installed.
        ConfigurationError: tiktoken knows no encoding of that name.
    """
    counter, problem = _load_counter(encoding)
    if counter is None:
        warn(
            f"tokens are estimated, since tiktoken cannot load {encoding!r} ({problem}); fetch it once where there is "
            "a network, and set TIKTOKEN_CACHE_DIR to the folder it was kept in"
        )
        return estimate_mixed_tokens
    return counter


@cache
def default_counter() -> TokenCounter:
    """Return tiktoken's counter if it can load its encoding, else the estimator."""
    try:
        counter, _ = _load_counter(ENCODING)
    except MissingExtraError:
        return estimate_mixed_tokens
    return counter or estimate_mixed_tokens


def _load_counter(encoding: str) -> tuple[TokenCounter | None, str]:
    """Return the counter, or what kept tiktoken from loading the encoding."""
    try:
        tiktoken: Any = import_module("tiktoken")
    except ImportError as error:
        raise MissingExtraError("tiktoken_counter()", "tiktoken") from error
    known: list[str] = sorted(tiktoken.list_encoding_names())
    if encoding not in known:
        raise ConfigurationError(f"encoding={encoding!r} is unknown to tiktoken; it knows {', '.join(known)}")
    loaded: list[TokenCounter] = []
    problems: list[str] = []

    def load() -> None:
        try:
            loaded.append(_Counter(tiktoken.get_encoding(encoding).encode_ordinary))
        except Exception as error:  # noqa: BLE001 - whatever the network, a proxy or a broken cache may raise
            problems.append(f"{type(error).__name__}: {str(error)[:200]}")

    thread = Thread(target=load, name="errcompact-tiktoken", daemon=True)
    thread.start()
    thread.join(LOAD_SECONDS)
    return next(iter(loaded), None), next(iter(problems), f"no answer within {LOAD_SECONDS:g} s")


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
