"""Tell secrets from placeholders, code and complaints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_PLACEHOLDER: Final = lazy_pattern(
    r"\$(?![12aby56]\w*\$)(?:[^\W_]|[_{(:$%]|$)"
    r"|(?:\{\{|<%|[{<]|%\(?)[ ]?[\w .:$-]{0,60}(?:[%>})].{0,3})?$"
    r"|[(\[<!][A-Za-z_]+$|#\{|%[A-Za-z](?:\W|$)|\{\{|<%|[*&][a-z]+(?:[_-][a-z0-9]+)*$"
    r"|\\{1,8}[nrt]|\[REDACTED|\*+$|[xX.#-]{3,}$|(?i:none|null|nil|true|false|undefined|required|missing"
    r"|invalid|expired|optional|string|str|bytes|int|number|boolean|bool|unset|empty|hidden|redacted|masked|secret"
    r"|default|unknown|not[_ ]set|n/a|your[_ -].*|my[_ -].*|changed|values?|test|example|dummy|content|token|key|set|ok"
    r"|pass(?:word|wd)?|yes|no|is|must|should|self|text|varchar|char|field|object|function|error|failed|file|stdin"
    r"|prompt|env|type|see|nicht|nie|non|n\u00e3o|never|await|change[-_]?me|off|disabled|enabled|accepted|rejected"
    r"|deprecated|min|max|issued|requires?|raise|return|throw|continue|break|permission|authentication|unrecognized|incorrect|wrong|cannot"
    r"|and|or|for|from|with|not|the|a|in|of|to|was|on|at|by)$"
)
_SUBSTANCE: Final = lazy_pattern("[A-Za-z0-9]")
_COMPLAINT: Final = lazy_pattern(
    r"(?i)\b(?:required|must|invalid|missing|at least|should|not|is|are|was|too|cannot|may|please|expected|unexpected"
    r"|has|does|don't|can't|field|valid|expired|incorrect|wrong|denied|failed|error|empty|blank|long|short|characters?"
    r"|provided|supplied|found|weak|fair|good|strong|same|used|saved|stored|updated|reset|changed|removed|added|generated|rotated"
    r"|skip(?:ped)?"
    r"|ignored|present|absent|given|protected|locked|expires?|leaked|reused|hashed|encrypted|unknown"
    r"|unsupported|blank|than|match(?:es)?|mismatch|already|the|this|your|for|of)\b"
)
_CODE: Final = lazy_pattern(
    r"[A-Z]\w{1,40}<[A-Z]|(?:self|cls|this|os|sys|env|process|config|settings|args|kwargs|options?|opts|request|req|params?|data|event|user"
    r"|ctx|context|conf|cfg|secrets?|credentials?|creds)[.\[]|[A-Za-z_][\w.]*(?:\(|\[['\"\w])|&?[a-z_]+(?:->|::)\w"
)
_IDENTIFIER: Final = lazy_pattern(r"[&*!:@]?[A-Za-z_][A-Za-z_.-]*[0-9]{0,4}")
_PARTS: Final = lazy_pattern("[A-Z]?[a-z]+|[A-Z]+")
_STEMS: Final = frozenset(
    form
    for word in [
        *("pass", "password", "passwd", "pwd", "passphrase", "secret", "token", "key", "auth", "cred", "creds"),
        *("credential", "credentials", "cookie", "input", "value", "param", "params", "arg", "args", "field", "env"),
        *("login", "session", "certificate", "handler", "manager", "provider", "service", "config", "store", "parser"),
        *("hash", "hashed", "digest", "encrypted", "data", "body", "user", "policy", "prompt", "reset"),
    ]
    for form in (word, word.title(), word.upper())
)
"""Words of which one stands in what code calls a secret."""
_RANDOM: Final = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[\w.+/=~$!@#%^&*:-]+")
_STAND_IN: Final = lazy_pattern(r"(?:[a-z]{2,12}[-_]){1,3}token")
"""A token that calls itself one is that of a test."""
UUID: Final = lazy_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MEASURE: Final = lazy_pattern(
    r"[0-9.]+(?:\s?[a-zA-Z%]{0,3})?|0x[0-9a-fA-F]+|[\^~<>=v]{0,2}\d+(?:\.\d+)+[\w.-]*"
    r"|\d{4}-\d\d-\d\d.*|(?:[Uu]?[Ii]nt|[Ff]loat)(?:8|16|32|64)\w*"
)
_RANGE: Final = lazy_pattern(r"[0-9]{1,3}-[0-9]{1,3}|[0-9]{1,4}(?:\.[0-9]{1,4}){2,3}")
_PATH_FORM: Final = (
    r"(?:~|\.{0,2})?/(?:[\w.@-]+/)*[\w.@-]+/?"
    r"|[A-Za-z]:\\.*|(?:https?|file|op|vault|ref\+\w{1,20}|arn|env):.*|[\w-]+(?:/[\w.-]+)+\.\w{1,5}"
)
_PATH: Final = lazy_pattern(_PATH_FORM)


MIN_ISSUED: Final = 8
"""Characters of what a program issues; shorter words are words."""

MIN_MIXED: Final = 4
"""The same of a word in quotes that mixes letters and digits."""

MIN_BARE: Final = 3
"""Characters of a password without quotes."""

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
        return quoted or (not _COMPLAINT.fullmatch(value) and _is_bare_password(value))
    judge = _JUDGES.get(kind)
    return judge(value) if judge is not None else _is_issued(value, quoted=quoted)


def _is_bare_password(value: str) -> bool:
    # In code and prose a bare word is a name or a word of a sentence.
    is_name = _IDENTIFIER.fullmatch(value) and ("." in value or not _STEMS.isdisjoint(_PARTS.findall(value)))
    return (
        not is_name
        and not _PATH.fullmatch(value)
        and not _RANGE.fullmatch(value)
        and len(value) >= (MIN_MIXED if value.isdigit() else MIN_BARE)
    )


def _is_session(value: str) -> bool:
    return len(value) >= MIN_SESSION and is_random(value) and not UUID.search(value) and not _PATH.fullmatch(value)


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
    return len(value) >= MIN_SESSION and _MIXED.fullmatch(value) is not None and not _NO_KEY.fullmatch(value)


_NO_KEY: Final = lazy_pattern(rf"{_PATH_FORM}|.*-[0-9a-f]{{32,64}}|.*sha[0-9]{{1,3}}-.*")
"""A path, or what a cache finds a file by."""
_MIXED: Final = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[\w+/=~-]+")
_JUDGES: Final[dict[str, Callable[[str], bool]]] = {
    "key": _is_key,
    "session": _is_session,
    "signature": _is_signature,
}


def is_random(value: str) -> bool:
    """Return whether a word mixes letters and digits as no name does."""
    return is_mixed(value) and not is_identifier(value)


def is_measure(value: str) -> bool:
    """Return whether it is a number, version, date or size."""
    return _MEASURE.fullmatch(value) is not None


def is_mixed(value: str) -> bool:
    """Return whether a word mixes letters and digits."""
    return _RANDOM.fullmatch(value) is not None


def is_identifier(value: str) -> bool:
    """
    Return whether it is made of spoken words and few numbers.

    Words are at least half of it, and numbers are no more than words are: so are `TestX400`, `ClientV2Handler` and
    `optimize12` made. What a machine draws is so once in fifty times.
    """
    if _SLUG.fullmatch(value):
        return True
    if _NO_NAME.search(value):
        return False
    runs, numbers = _RUNS.findall(value), _NUMBERS.findall(value)
    words = [run for run in runs if _SPOKEN.fullmatch(run)]
    return 2 * len("".join(words)) >= len(value) and max(len(numbers), len(runs) - len(words)) <= len(words)


_SLUG: Final = lazy_pattern(
    r"(?:(?:[A-Z]?[a-z]{1,16}|[A-Z]{1,12})[0-9]{0,2}|[0-9]{1,4})"
    r"(?:[-_./](?:(?:[A-Z]?[a-z]{1,16}|[A-Z]{2,12})[0-9]{0,2}|[0-9]{1,4})){0,9}"
)
"""Words and short numbers with signs between them, as `app-tls-2024`."""
_NO_NAME: Final = lazy_pattern(r"^[0-9]|[^\w./:#-]")
"""What no name begins with or holds."""

_RUNS: Final = lazy_pattern("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SPOKEN: Final = lazy_pattern(
    r"(?i)(?=[a-z]{0,63}[aeiouy])"
    r"(?![a-z]{0,63}?(?:[b-df-hj-np-tv-xz]{5}|q(?!u)|[jvwx][b-df-hj-np-tv-xz]{2}|[b-df-hj-np-tv-xz]{2}[jvwx]))[a-z]{4,64}"
)
_NUMBERS: Final = lazy_pattern("[0-9]+")
