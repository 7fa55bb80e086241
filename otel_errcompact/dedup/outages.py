"""
Outages: a template without the place, where the reason is the host's or the device's.

A host that answers 503 does so for each of its pages, and a full disk for each file: one outage is one class.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    import re

_MASKED: Final = "<(?:id|num|query|hash|index|tmp|port|ip|time|value|size)>"
_HOST: Final = rf"[a-z][a-z0-9+]{{1,15}}://(?:[^\s/?'\"<>(){{}}|\\^`,;\]]|{_MASKED})+"
_ROUTE: Final = rf"[/?](?:[^\s'\"<>(){{}}|\\^`,;\]]|{_MASKED})*(?<![.:])"
_DEVICE: Final = (
    r"(?i:no space left on device|there is not enough space on the disk|too many open files(?: in system)?"
    r"|file table overflow|read-only file ?system|disk quota exceeded|input/output error|i/o error"
    r"|can(?:not|'t) allocate memory|not enough memory,"
    r"|\[errno (?:5|12|23|24|28|30|122)\]|\be(?:nospc|mfile|nfile|rofs|dquot|io|nomem)\b)"
)
_NO_FILE: Final = rf"(?!(?:write|open|read|close|stream|create)(?:\W|$)|{_DEVICE})"


class Outage(NamedTuple):
    """What shows that a failure is of one level, and what of it leaves the class."""

    name: str
    signs: tuple[str, ...]
    """Strings of which a template with such a failure holds one, in small letters."""

    level: re.Pattern[str]
    """What tells that the failure is of this level."""

    place: re.Pattern[str]
    """What is left out; its group `kept` stays in front."""

    left: str
    """What stands in its place."""

    masks: tuple[tuple[str, str], ...]
    """Templates, and what is left of them."""

    keeps: tuple[str, ...]
    """Templates that stay."""


OUTAGES: Final = (
    Outage(
        name="host",
        signs=("/",),
        level=lazy_pattern(
            r"(?<![\w.,/-])(?<![mM]it )(?<!mit of )(?<!mum )(?<![a-z>\]]:)"
            r"(?:401|407|429|5[0-9]{2})(?![\w/-]|\.[0-9]|,[0-9])"
        ),
        place=lazy_pattern(
            rf"(?P<host>{_HOST}){_ROUTE}"
            r"|(?P<verb>\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|[uU]rl|URL|[pP]ath|[rR]oute|[eE]ndpoint)"
            rf"['\"]?[:=]? ?['\"]?){_ROUTE}"
        ),
        left="",
        masks=(
            (
                "Server error '503 Service Unavailable' for url 'https://api.example.com/v1/orders/<id>?<query>'",
                "Server error '503 Service Unavailable' for url 'https://api.example.com'",
            ),
            ("GET /v1/orders: 429, retry later", "GET : 429, retry later"),
            (
                "429 Client Error: Too Many Requests for url: https://x.io/a",
                "429 Client Error: Too Many Requests for url: https://x.io",
            ),
        ),
        keeps=(
            "404 Client Error: Not Found for url: https://api.example.com/v1/orders",
            "HTTP 410: https://api.example.com/v1/orders is gone",
            "422 Unprocessable Entity for url 'https://api.example.com/v1/orders'",
            "limit of 500 reached at https://api.example.com/v1/orders",
            "dial tcp db:587: https://api.example.com/v1",
        ),
    ),
    Outage(
        name="device",
        signs=(
            *("space", "open files", "table overflow", "read-only", "quota", "i/o error", "input/output", "memory"),
            *("enospc", "emfile", "enfile", "erofs", "edquot", "eio", "enomem", "[errno"),
        ),
        level=lazy_pattern(_DEVICE),
        place=lazy_pattern(
            # In quotes; a path, or a name with an ending; a name in front of the reason, or of it in brackets.
            rf"(?P<quoted>['\"\u2018`]){_NO_FILE}(?=[^'\"\u2019`\n]{{0,300}}[./\\])"
            r"[^'\"\u2019`\n]{1,300}(?=['\"\u2019`])"
            rf"|(?P<word>(?<!\bat)(?:^|[\s(=])){_NO_FILE}(?:[^\s:'\"(),/\\]{{0,99}}[/\\][^\s:'\"(),]{{1,300}}"
            r"|[^\s:'\"(),/\\]{1,99}\.[a-z][a-z0-9]{0,9})(?=[\s:,)]|$)"
            rf"|(?P<name>^|\s){_NO_FILE}[^\s:'\"]{{1,300}}(?=: {_DEVICE}| \({_DEVICE}\))"
        ),
        left="<path>",
        masks=(
            ("[Errno 28] No space left on device: '/var/a.csv'", "[Errno 28] No space left on device: '<path>'"),
            ("[Errno 30] write-protected: '/mnt/a.csv'", "[Errno 30] write-protected: '<path>'"),
            ("ENOSPC: no space left on device, open 'a.csv'", "ENOSPC: no space left on device, open '<path>'"),
            ("write /mnt/a.csv: no space left on device", "write <path>: no space left on device"),
            ("/var/a.csv (Too many open files)", "<path> (Too many open files)"),
            ("bash: Makefile: Read-only file system", "bash: <path>: Read-only file system"),
        ),
        keeps=(
            "ENOENT: no such file or directory, open '/etc/app.conf'",
            "[Errno 13] Permission denied: '/var/a.csv'",
            "[Errno 21] Is a directory: '/var/a'",
            "[Errno 2] No such file or directory: '/var/a.csv'",
            "tar: Cannot write: No space left on device",
            "No space left on device at load.pl line <num>",
        ),
    ),
)


def leave_place(template: str) -> str:
    """Return a template without the path or file that an outage happens to meet."""
    low = template.lower()
    for outage in OUTAGES:
        if has_any(low, outage.signs) and outage.level.search(template):
            template = outage.place.sub(partial(_shorten_place, outage.left), template)
    return template


def _shorten_place(left: str, found: re.Match[str]) -> str:
    return found[found.lastgroup or 0] + left
