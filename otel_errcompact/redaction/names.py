"""Tell from the name of a value whether it is a secret."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from otel_errcompact.runtime.lazy import lazy_pattern

FOREIGN: Final = (
    *(
        "contrase\u00f1a",
        "contrasena",
        "senha",
        "kennwort",
        "mot de passe",
        "wachtwoord",
        "has\u0142o",
        "l\u00f6senord",
    ),
    *("\u015fifre", "\u043f\u0430\u0440\u043e\u043b\u044c", "\u5bc6\u7801", "\u5bc6\u78bc"),
    *("\u30d1\u30b9\u30ef\u30fc\u30c9", "\ube44\ubc00\ubc88\ud638", "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19"),
    *("parola", "adgangskode", "salasana"),
)
"""What a password is called in other languages, from Spanish to Finnish."""

PARTICLES: Final = "\u306f\u304c\u662f\u4e3a\u70ba\ub294\uc740\uc774\uac00"
"""What stands between a name and its value in Japanese, Chinese and Korean, without a blank."""

STEMS: Final = (
    *("pass", "pw", "secret", "token", "key", "auth", "cred", "cookie", "sig", "jwt", "sess"),
    *("_pat", "-pat", "_pin", "-pin", "otp", "mfa", *FOREIGN),
)
"""Parts of which each name of a secret holds one, in lower case."""

_PLAIN_STEMS: Final = tuple(filter(str.isascii, STEMS))


def find_stems(lower: str) -> list[str]:
    """Return the stems of names of secrets that stand in a text."""
    return [stem for stem in (_PLAIN_STEMS if lower.isascii() else STEMS) if stem in lower]


MAX_NAME: Final = 64
"""Characters of a name to either side of its stem."""

_KEYS: Final = frozenset(
    [
        *("access", "account", "admin", "aes", "api", "app", "application", "auth", "client", "cookie", "credential"),
        *("deploy", "encryption", "hmac", "integration", "license", "master", "private", "rsa", "secret", "server"),
        *("service", "session", "shared", "signing", "ssh", "storage", "subscription", "token", "webhook", "write"),
    ]
)
"""Words that make the key behind them a secret one."""

_HARMLESS: Final = frozenset(
    [
        "",
        *("cache", "composite", "dedup", "dict", "foreign", "group", "hash", "idempotency", "index", "lookup", "map"),
        *("message", "natural", "object", "order", "partition", "primary", "public", "range", "registry", "routing"),
        *("row", "shard", "sort", "translation", "unique"),
    ]
)
"""Words that make the key behind them no secret; what stands behind another key must look like one."""

_AFTER: Final = frozenset(
    [
        *("again", "b64", "base", "base64", "confirm", "confirmation", "current", "data", "dev", "digest", "env"),
        *("hash", "header", "live", "new", "old", "plain", "prod", "production", "raw", "repeat", "sandbox"),
        *("staging", "string", "test", "text", "val", "value"),
    ]
)
"""Words behind which a name still means the secret itself; a number does not change it either."""

_WORDS: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


_TEST_CLASS: Final = lazy_pattern(r"[A-Z]\w{0,60}[a-z]Test[0-9]{0,6}\Z|Test[A-Z]")
"""The name of a class of tests, or of a test."""

_KINDS: Final = {
    **dict.fromkeys(
        ["password", "passwd", "pwd", "pass", "passphrase", "passcode", "passwort", "pw", "pin", "otp", "totp"],
        "password",
    ),
    **dict.fromkeys(
        ["secret", "secrets", "token", "credential", "credentials", "creds", "cred", "jwt", "pat"], "secret"
    ),
    **dict.fromkeys(["auth", "signature", "sig"], "signature"),
    **dict.fromkeys(["session", "sessid", "sessionid", "phpsessid", "jsessionid"], "session"),
    "cookie": "cookie",
    "authorization": "authorization",
}
"""Kinds by a name's last word."""

_ENDS: Final = (
    *[(end, "password") for end in ("password", "passwd", "passphrase", "requirepass", "userpass")],
    *[(end, "secret") for end in ("secret", "token", *(f"{word}key" for word in sorted(_KEYS)))],
    ("authorization", "authorization"),
)
"""Kinds by how a name ends that is written as one word, such as PGPASSWORD."""

_NO_OWNERS: Final = frozenset(
    ["max", "min", "num", "next", "page", "continuation", "cancellation", "by", "cur", "prev", "to", "no"]
)
"""Words in front of which a token or pass is no secret: `next_token`, `max_token`, `by_pass`."""


_CODES: Final = frozenset(["otp", "totp", "mfa"])
"""Words in front of a code that is used once."""

_NO_PASSWORDS: Final = frozenset(
    [
        *("bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass", "subpass"),
        *("chpasswd", "htpasswd", "smbpasswd"),
    ]
)
MIN_JOINED: Final = 5
"""Characters of the longest word in "pass" that is written apart from its owner."""


@lru_cache(maxsize=1_024)
def kind_of_name(name: str) -> str:
    """
    Return the kind of secret behind a name, or an empty text.

    A name is split into its words, whatever joins them: `db_password`, `DbPassword`, `db-password` and `PGPASSWORD` say
    the same. The last word decides, so that `password_file`, `token_count` and `key_id` name no secret.
    """
    if name.lower().endswith(FOREIGN):
        return "password"
    words = [word.lower() for word in _WORDS.findall(name)]
    while words and (words[-1] in _AFTER or words[-1].isdigit()):
        words.pop()
    last, owner = (["", "", *words])[:-3:-1]
    if last in _NO_PASSWORDS or owner in _NO_OWNERS or "public" in words or _TEST_CLASS.match(name):
        return ""
    if last == "key":
        return "secret" if owner in _KEYS else "" if owner in _HARMLESS else "key"
    if last == "code" and owner in _CODES:
        return "password"
    if last.endswith("pass") and len(last) > MIN_JOINED:
        return "password"
    return _KINDS.get(last) or next((kind for end, kind in _ENDS if last.endswith(end)), "")
