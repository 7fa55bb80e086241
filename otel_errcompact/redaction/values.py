"""Tell secrets from placeholders, code and complaints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_PLACEHOLDER: Final = lazy_pattern(
    r"\$(?![12aby56]\w*\$)(?:[^\W_]|[_{(:$%]|$)|[{%<]|\\{1,8}[nrt]|\[REDACTED|\*+$|[xX.#-]{3,}$|(?i:none|null|nil|true|false|undefined|required|missing"
    r"|invalid|expired|optional|string|str|bytes|int|number|boolean|bool|unset|empty|hidden|redacted|masked|secret"
    r"|default|unknown|not[_ ]set|n/a|your[_ -].*|my[_ -].*|changed|values?|test|example|dummy|content|token|key|set|ok"
    r"|pass(?:word|wd)?|yes|no|is|must|should|self|text|varchar|char|field|object|function|error|failed|file|stdin"
    r"|prompt|env|type|permission|authentication|unrecognized|incorrect|wrong|cannot|and|or|for|from|with|not|the|a|in|of|to|was|on|at|by)$"
)
_SUBSTANCE: Final = lazy_pattern(r"[^\W_]")
_COMPLAINT: Final = lazy_pattern(
    r"(?i)\b(?:required|must|invalid|missing|at least|should|not|is|are|was|too|cannot|may|please|expected|unexpected"
    r"|has|does|don't|can't|field|valid|expired|incorrect|wrong|denied|failed|error|empty|blank|long|short|characters?"
    r"|provided|supplied|found|unknown|unsupported|blank|than|match(?:es)?|mismatch|already|the|this|your|for|of)\b"
)
_CODE: Final = lazy_pattern(
    r"(?:self|cls|this|os|sys|env|process|config|settings|args|kwargs|options?|opts|request|req|params?|data|event|user"
    r"|ctx|context|conf|cfg|secrets?|credentials?|creds)[.\[]|[A-Za-z_][\w.]*(?:\(|\[['\"\w])|&?[a-z_]+(?:->|::)\w"
)
_IDENTIFIER: Final = lazy_pattern(r"[A-Za-z_][A-Za-z_.]*")
_PARTS: Final = lazy_pattern("[A-Z]?[a-z]+|[A-Z]+")
_STEMS: Final = frozenset(
    form
    for word in [
        *("pass", "password", "passwd", "pwd", "passphrase", "secret", "token", "key", "auth", "cred", "creds"),
        *("credential", "credentials", "cookie", "input", "value", "param", "params", "arg", "args", "field", "env"),
    ]
    for form in (word, word.title(), word.upper())
)
"""Words of which one stands in what code calls a secret."""
_RANDOM: Final = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[\w.+/=~$!@#%^&*:-]+")
_STAND_IN: Final = lazy_pattern(r"(?:[a-z]{2,12}[-_]){1,3}token")
"""A token that calls itself one is that of a test."""
_UUID: Final = lazy_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MEASURE: Final = lazy_pattern(
    r"[0-9.]+(?:\s?[a-zA-Z%]{0,3})?|v?\d+(?:\.\d+)+[\w.-]*|\d{4}-\d\d-\d\d.*|(?:[Uu]?[Ii]nt|[Ff]loat)(?:8|16|32|64)\w*"
)
_PATH: Final = lazy_pattern(
    r"(?:~|\.{0,2})?/(?:[\w.@-]+/)*[\w.@-]+/?|[A-Za-z]:\\.*|https?://.*|[\w-]+(?:/[\w.-]+)+\.\w{1,5}"
)


MIN_ISSUED: Final = 8
"""Characters of what a program issues; shorter words are words."""

MIN_MIXED: Final = 4
"""The same of a word in quotes that mixes letters and digits."""

MIN_SESSION: Final = 20
"""Characters of what identifies a session to a server."""

MAX_PHRASE: Final = 80
"""Characters of several words without quotes."""


def is_secret(value: str, kind: str, *, quoted: bool) -> bool:
    """
    Return whether the value behind a secret's name is a secret.

    Args:
        value: The value, without quotes.
        kind: The kind of its name.
        quoted: Whether the value stands in quotes.
    """
    if not _SUBSTANCE.search(value) or _PLACEHOLDER.match(value) or (not quoted and _CODE.match(value)):
        return False
    if " " in value and (_COMPLAINT.search(value) or (not quoted and len(value) > MAX_PHRASE)):
        return False
    if kind == "password":
        return quoted or _is_bare_password(value)
    judge = _JUDGES.get(kind)
    return judge(value) if judge is not None else _is_issued(value, quoted=quoted)


def _is_bare_password(value: str) -> bool:
    # In code and prose a bare word is a name or a word of a sentence.
    is_name = _IDENTIFIER.fullmatch(value) and ("." in value or not _STEMS.isdisjoint(_PARTS.findall(value)))
    return not is_name and not _PATH.fullmatch(value)


def _is_session(value: str) -> bool:
    return len(value) >= MIN_SESSION and is_random(value) and not _UUID.search(value) and not _PATH.fullmatch(value)


def _is_signature(value: str) -> bool:
    return len(value) >= MIN_ISSUED and is_random(value)


def _is_issued(value: str, *, quoted: bool) -> bool:
    if value.isdigit():
        return len(value) >= MIN_ISSUED
    if " " in value or _MEASURE.fullmatch(value) or _PATH.fullmatch(value):
        return False
    if len(value) >= MIN_ISSUED:
        return (quoted and not _STAND_IN.fullmatch(value)) or is_random(value)
    return quoted and len(value) >= MIN_MIXED and is_random(value)


def _is_key(value: str) -> bool:
    return len(value) >= MIN_SESSION and _MIXED.fullmatch(value) is not None and not _PATH.fullmatch(value)


_MIXED: Final = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[\w+/=~-]+")
_JUDGES: Final[dict[str, Callable[[str], bool]]] = {
    "key": _is_key,
    "session": _is_session,
    "signature": _is_signature,
}


def is_random(value: str) -> bool:
    """Return whether a word mixes letters and digits."""
    return _RANDOM.fullmatch(value) is not None
