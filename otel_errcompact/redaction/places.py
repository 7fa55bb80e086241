"""
Find secrets by the place they stand in.

Places are URLs, options of known commands, statements of SQL and lines of known files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.redaction.found import Found, Place, Places
from otel_errcompact.redaction.logins import LOGINS
from otel_errcompact.redaction.names import find_stems
from otel_errcompact.redaction.values import is_secret
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from collections.abc import Iterator


PLACES: Final[Places] = (
    (
        ("-u",),
        (
            Place(
                # curl -u user:password, in a command line and in a list of arguments
                ("-u",),
                lazy_pattern(
                    r"(?:(?<=[\s'\"])-u|(?<=[\s'\"])--(?:proxy-)?user)(?:[ =\t]{0,3}|['\"],[ \t]{0,3})['\"]?"
                    r"[^\s:'\"]{1,100}:(?P<secret>[^\s'\"]{2,200})"
                ),
                "password",
            ),
            Place(
                ("smbclient", "rpcclient"),
                lazy_pattern(r"-U[ \t]{0,3}['\"]?[\w.\\-]{1,60}%(?P<secret>[^\s'\"]{2,100})"),
                "password",
            ),
        ),
    ),
    (
        ("-p", "-setcookie", "ldap", "redis-cli"),
        (
            Place(
                ("mysql", "mariadb"),
                lazy_pattern(
                    r"(?:mysql\w{0,10}|mariadb[\w-]{0,10})\b[^\n|;]{0,200}?[\s'\"]-p['\"]?"
                    r"(?P<secret>(?<=['\"])[^'\"\n]{3,100}|(?<!['\"])[^\s'\"=]{3,100})"
                ),
                "password",
            ),
            Place(
                ("sshpass", "keychain", "-setcookie ", " login ", "'login'", "sqlcmd", "bcp ", "mongo", "zip ", "7z "),
                lazy_pattern(
                    r"(?:sshpass|\w{1,20}-keychain|erl|(?:docker|podman|helm|oras|az|oc|cf|npm)(?: \w{1,20}){0,3} login"
                    r"|sqlcmd|bcp|mongo\w{0,10}|zip|unzip|7z\w?)"
                    r"\b[^\n|;]{0,200}?[\s'\"]-(?:[pP]|setcookie)(?:[ \t]{0,3}|['\"],[ \t]{0,3})"
                    r"['\"]?(?P<secret>(?<=['\"])[^'\"\n-][^'\"\n]{2,100}|[^\s'\"-][^\s'\"]{2,100})"
                ),
                "password",
            ),
            Place(
                ("ldap", "redis-cli"),
                lazy_pattern(
                    r"(?:ldap\w{3,10}\b[^\n|;]{0,200}?[\s'\"]-w|redis-cli\b[^\n|;]{0,200}?[\s'\"]-a)"
                    r"(?:[ \t]{0,3}|['\"],[ \t]{0,3})"
                    r"['\"]?(?P<secret>(?<=['\"])[^'\"\n-][^'\"\n]{2,100}|[^\s'\"-][^\s'\"]{2,100})"
                ),
                "password",
            ),
            Place(
                ("pass:",),
                lazy_pattern(r"-pass(?:in|out)?['\", =]{1,4}pass:(?P<secret>[^\s'\"]{2,100})"),
                "password",
            ),
        ),
    ),
    (
        ("password", "identified", "auth", "requirepass", "bearer", "basic", "token ", "apikey "),
        (
            Place(
                ("identified", "password '", "password e'", "set password", "sqlid"),
                lazy_pattern(
                    r"(?i)(?:\b(?:create|alter|grant|set|role|user)\b[^\n;]{0,200}?identified\s{1,3}(?:by|with\s{1,3}[\w']{1,40}\s{1,3}(?:by|as))(?:\s{1,3}password)?|password(?:\s{1,3}to)?"
                    r"|password\s{0,3}\()\s{0,3}[eEN]?['\"](?P<secret>[^'\"\n]{2,200})['\"]"
                ),
                "password",
            ),
            Place(
                ("identified by",),
                lazy_pattern(r"\b(?:CREATE|ALTER|GRANT)\b[^\n;]{0,200}? IDENTIFIED BY (?P<secret>[^\s'\";]{3,100})"),
                "password",
            ),
            Place(
                (" password ", "\tpassword ", "\npassword "),
                lazy_pattern(
                    r"(?:machine \S{1,200}|default)\s{1,8}(?:login|user) \S{1,200}\s{1,8}password (?P<secret>\S{2,200})"
                ),
                "password",
            ),
            Place(
                ("requirepass", "masterauth", "auth ", '"auth" '),
                lazy_pattern(
                    r"(?:(?:^|[>\n\"'] ?)AUTH['\"]?|[>\"'] ?auth['\"]?|requirepass|masterauth|masteruser \S{1,60})"
                    r"[ \t]{1,3}(?!PLAIN|LOGIN|CRAM|XOAUTH|error|failed|required|is|not|and)['\"]?"
                    r"(?:\w{1,40}[ \t])?(?P<secret>[^\s'\"\[(][^\s'\"]{3,200})"
                ),
                "password",
            ),
            Place(
                ("auth plain", "auth login", "auth xoauth2", "auth cram"),
                lazy_pattern(
                    r"(?i)\bAUTH (?:PLAIN|LOGIN|XOAUTH2)[ \t]{1,3}(?P<secret>[A-Za-z0-9+/]{4,400}={0,2})(?![\w+/])"
                ),
                "authorization",
            ),
            Place(
                ("bearer", "basic", "token ", "apikey "),
                lazy_pattern(
                    r"(?i)(?<![\w-])(?:bearer[ \t]{1,3}(?=\S{8})"
                    r"|(?:basic|token|apikey)[ \t]{1,3}(?=[\w+/=-]{12}|[\w+/]{8,}=))"
                    r"(?P<secret>[\w.~+/=-]{8,4096})"
                ),
                "authorization",
                issued=True,
            ),
        ),
    ),
    (
        ("@", "?", "&"),
        (
            Place(
                ("@",),
                lazy_pattern(r"://(?P<secret>[A-Za-z0-9_-]{16,200})(?=@[\w.-])"),
                "password",
                issued=True,
            ),
            Place(
                ("@",),
                lazy_pattern(
                    r"://[^\s/?#'\"<>:@]{0,128}:(?![0-9]{1,5}(?:[/;,?]|$))(?P<secret>[^\s'\"<>@]{1,256}(?:@[^\s'\"<>@/:]{1,40}(?=@))?)(?=@)"
                ),
                "password",
            ),
            Place(
                ("@tcp(", "@unix("),
                lazy_pattern(r"\b[\w.-]{1,64}:(?P<secret>[^\s@]{1,256})@(?:tcp|unix)\("),
                "password",
            ),
            Place(
                ("secret=", "token=", "password=", "passwd=", "pwd=", "key="),
                lazy_pattern(
                    r"(?i)[?&][\w-]{0,40}(?:secret|token|passw(?:or)?d|pwd|api_?key)=(?P<secret>[^\s&\"'<>]{4,2000})"
                ),
                "secret",
            ),
            Place(
                ("?", "&"),
                lazy_pattern(
                    r"(?i)[?&](?:key|sig|signature|code|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature"
                    r"|x-goog-credential|awsaccesskeyid|auth|p|pass|pw|k)=(?P<secret>[\w.%+/=~-]{6,2000})"
                ),
                "secret",
                issued=True,
            ),
        ),
    ),
    (
        (":5432:", ":*:", ":6432:", "pgpass", "jdbc:oracle", "sqlplus", "secret", "add-mask"),
        (
            Place(
                (":5432:", ":*:", ":6432:", "pgpass"),
                lazy_pattern(
                    r"(?m)^[\w.*-]{1,100}:(?:[0-9]{2,5}|\*):[\w.*-]{1,60}:[\w.*@-]{1,60}:(?P<secret>[^\s:]{2,200})$"
                ),
                "password",
            ),
            Place(
                ("jdbc:oracle", "sqlplus"),
                lazy_pattern(
                    r"(?:jdbc:oracle:\w{2,6}:|sqlplus (?:-\w{1,4} )?)\w{1,60}/(?P<secret>[^\s@'\"]{2,100})(?=@)"
                ),
                "password",
            ),
            Place(
                ("kind: secret", 'kind":"secret', 'kind": "secret'),
                lazy_pattern(
                    r"(?i)kind[\"']?:[ \t]*[\"']?secret\b(?:.|\n){0,600}?\b(?:string)?data[\"']?:[ \t{]*\s{1,40}"
                    r"[\"']?[\w.-]{1,80}[\"']?:[ \t]*[\"']?(?P<secret>[A-Za-z0-9+/]{6,8000}={0,2})"
                ),
                "secret",
            ),
            Place(
                ("kind: secret", 'kind":"secret', 'kind": "secret'),
                lazy_pattern(
                    r"(?i)\b(?:string)?data[\"']?:[ \t{]*\n[ \t]{1,20}"
                    r"[\"']?[\w.-]{1,80}[\"']?:[ \t]*[\"']?(?P<secret>[A-Za-z0-9+/]{10,8000}={0,2})"
                    r"(?=(?:.|\n){0,400}?kind[\"']?:[ \t]*[\"']?secret\b)"
                ),
                "secret",
            ),
            Place(
                ("add-mask",),
                lazy_pattern(r"::add-mask::(?P<secret>\S{2,400})"),
                "secret",
            ),
        ),
    ),
    *LOGINS,
)


_NAMELESS: Final[Places] = tuple(
    (tuple(sign for sign in signs if not find_stems(sign)), places) for signs, places in PLACES
)
"""The signs that a text may hold if it holds no stem of a secret's name."""


def find_placed(text: str, lower: str, stems: list[str]) -> list[Found]:
    """
    Return secrets that the place they stand in tells.

    Args:
        text: The text.
        lower: The same text in lower case, of equal length.
        stems: The stems of names that stand in it.
    """
    found: list[Found] = []
    for signs, places in PLACES if stems else _NAMELESS:
        for sign in signs:  # not `has_any`: most texts are short, and a call costs more than the search
            if sign in lower:
                found += [one for place in places if has_any(lower, place.clues) for one in _find_secrets(text, place)]
                break
    return found


def _find_secrets(text: str, place: Place) -> Iterator[Found]:
    for match in place.pattern.finditer(text):
        secret = match["secret"].rstrip(".,;:!?")  # the end of a sentence
        if is_secret(secret, "secret", quoted=False) if place.issued else is_secret(secret, "password", quoted=True):
            start = match.start("secret")
            yield Found(start, start + len(secret), place.kind)
