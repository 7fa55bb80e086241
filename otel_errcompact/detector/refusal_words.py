"""Words without which no short result is a refusal."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_WHO: Final = (
    "access", "action", "api ", "authenti", "authori", "browser", "build", "call", "cell", "client", "code", "command",
    "compilation", "connection", "deployment", "download", "edit", "evaluation", "execution", "fetch", "function",
    "installation", "job", "kernel", "login", "method", "navigation", "operation", "page", "pane", "patch",
    "permission", "pid", "process", "program", "query", "quota", "regex", "request", "run", "script", "search",
    "server", "service", "session", "shell", "syntax", "tab", "target", "task", "terminal", "test", "this file",
    "this model", "tool", "transaction", "upload", "validation", "window", "write_stdin",
)  # fmt: skip
"""What is said to have failed: tools, and what they work with."""

_WHAT: Final = (
    "aborted", "already", "are beyond", "are out", "bad ", "can't", "cannot", "context deadline", "could", "didn",
    "doesn", "error", "exceeds", "failed", "forbidden", "found ", "has ", "have ", "illegal",
    "insufficient", "invalid", "is a binary", "is a directory", "is already", "is ambiguous", "is beyond", "is binary",
    "is blocked", "is closed", "is denied", "is forbidden", "is ignored", "is missing", "is out", "is required",
    "is too large", "is unreadable", "killed", "malformed", "missing", "multiple", "n't ", "net::err_", "no longer",
    "no such", "not ", "rate limit", "refus", "stopped", "terminated", "there is no", "time", "too many", "unable",
    "unauthori", "unexpected", "unknown", "unrecognized", "unsupported", "usage", "waiting", "was aborted",
    "was denied", "was rejected",
)  # fmt: skip
"""What is said of it."""

_NAMES: Final = (
    "eacces", "eaddrinuse", "eai_again", "econn", "eexist", "eisdir", "enoent", "enotdir", "enotfound", "eperm",
    "etimedout", "http", "status",
)  # fmt: skip
"""Names of errors of systems, and of what has numbers for them."""

_FORMS: Final = ("[45][0-9]{2}", "e[a-z]{3,12}: ", "don[o']t")
"""Numbers of errors, names that no table holds, and a word in two spellings."""

_LIKE_ASCII: Final = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")
"""Letters of other alphabets that a pattern takes for one of ASCII where it does not tell small ones from large."""


def _join() -> str:
    # By their first letter: of so many branches each would be tried at each word.
    words = (f"{first}(?:{'|'.join(rests)})" for first, rests in _by_first_letter((*_WHO, *_WHAT, *_NAMES)))
    return rf"\b(?:{'|'.join((*words, *_FORMS))})"


def _by_first_letter(words: Iterable[str]) -> Iterable[tuple[str, list[str]]]:
    for first, group in groupby(sorted(words), key=lambda word: word[0]):
        yield first, [word[1:] for word in group]


_TELLING: Final = lazy_pattern(_join)


def holds_word_of_refusal(text: str) -> bool:
    """
    Tell whether a short text holds a word of a refusal.

    A dozen patterns that read whole sentences need one of these words, each from its first letter on. They are looked
    for once, since most results hold none.
    """
    lowered = text.lower() if text.isascii() else text.translate(_LIKE_ASCII).lower()
    return _TELLING.search(lowered) is not None
