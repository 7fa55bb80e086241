"""
Names: words joined by `-`, `.`, `_`, `/` and the like.

Digits belong to a name unless they look made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re

_DIGIT: Final = lazy_pattern(r"[0-9]")

_NAME_TOKENS: Final = {
    "uuid": "<id>",
    "segment": "<id>",
    "leading": "<id>",
    "suffix": "<id>",
    "pod": "<id>",
    "handle": "@<id>",
    "temporary": "<tmp>",
    "build": "<hash>",
    "index": "<index>",
}

_VOLATILE_IN_NAME: Final = lazy_pattern(
    r"(?<![^\W_])(?:"
    r"[0-9a-fA-F][0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)(?P<uuid>)"
    # items/81723, 3344.py, mia_li_3668; not orders_2024
    r"|[0-9](?<=[a-z0-9_]/.)[0-9]*(?!\w)(?P<segment>)"
    r"|[0-9](?<!..)[0-9]*(?!\w)(?P<leading>)"
    r"|[0-9](?<=_.)[0-9]{3,}(?!\w)(?<!_19[0-9]{2})(?<!_20[0-9]{2})(?<!_20[0-9]{6})(?P<suffix>)"
    # ORA-00942, CVE-2021-44228, BC30451
    r"|[A-Z][A-Z]+[-_]?[0-9]+(?:-[0-9]+)*(?!\w)(?P<code>)"
    r"|tmp(?=[a-z_]{0,7}[0-9])[a-z0-9_]{6,8}(?!\w)(?P<temporary>)"
    # Task-42, ThreadPoolExecutor-0_3
    r"|(?:[A-Za-z]*(?:Task|Thread|Worker|Process|Executor)|worker|thread|task|job|run|shard|attempt|input"
    r"|host|server|replica|broker|runner|agent|instance|pod|partition|machine|executor|consumer|producer|node|gpu|compute"
    r"|vm)-[0-9]+"
    r"(?:_[0-9]+)?(?![^\W_])(?P<numbered>)|ip(?:-[0-9]{1,3}){4}(?!\w)(?P<address>)"
    # req_7f3a9b1c2d, toolu_01XFDUDYJgAACzvnptvVoYEL, cus_NffrFeUfNV2Hib
    r"|(?:(?:req|call|chatcmpl|cmpl|resp|msg|toolu|thread|run|asst|evt|batch|sess|session|trace|span|org|proj|cus|acct|txn)"
    r"[-_](?:(?=[A-Za-z]*[0-9][A-Za-z]*[0-9])[A-Za-z0-9]{6,}|[A-Za-z0-9]{20,})"
    r"|(?:cus|pi|ch|pm|sub|price|prod|seti|src|tok|card|in|si|re)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{14,24})"
    r"(?!\w)(?P<prefixed>)"
    # index-4185d9aa.js
    r"|[A-Za-z0-9](?<=[-.].)(?=[A-Za-z_]{0,19}[0-9])\w{7,19}(?=(?:\.[a-z]{1,8})?\.(?:[cm]?jsx?|css|map|wasm)(?!\w))"
    r"(?P<build>)"
    # web-6d4cf56db6-x2x7z
    r"|[b-z0-9](?<=-.)(?=[a-z]{0,9}[0-9])[bcdf-hj-np-tv-z0-9]{7,9}-[bcdf-hj-np-tv-z0-9]{5}(?!\w)(?P<pod>)"
    r"|[A-Za-z](?=[A-Za-z]*[0-9])[A-Za-z0-9]{4,}(?![^\W_])(?P<mixed>)"
    # items.0.qty; not libcudart.so.12
    r"|[0-9](?<=[A-Za-z_]\..)(?<!\.so\..)[0-9]*(?:\.[0-9]+)*(?!\w)(?P<index>)"
    r"|[0-9][A-Za-z0-9]{4,}(?![^\W_])(?P<digits>)"
    r"|@(?<=\w.)[0-9a-f]{5,8}(?!\w)(?P<handle>)"
    r")"
)

_INVENTED: Final = lazy_pattern(
    # A date is part of a name: claude-3-5-sonnet-20241022.
    r"(?!(?:19|20)[0-9]{6}\Z)(?:"
    r"[0-9]+\Z"
    r"|(?:[0-9a-f]{8,}|[0-9A-F]{8,}|(?=[0-9]+[a-f]+[0-9]|[a-f]+[0-9]+[a-f])[0-9a-f]{6,7})\Z"
    # Letters and digits in turns, other than in CamelCase2Names.
    r"|(?=[0-9]*[A-Za-z]+[0-9]+[A-Za-z]+[0-9])(?=[A-Za-z0-9]*[0-9][a-z]|[0-9]|[A-Z0-9]+\Z)[A-Za-z0-9]{8}"
    r"|[0-9][A-Za-z0-9]{15}"
    r")"
)
_ID_BEHIND_WORD: Final = lazy_pattern(r"(?<=[-_]).*")


def has_digit(text: str) -> bool:
    """Tell whether a text holds a digit from 0 to 9."""
    return _DIGIT.search(text) is not None


def mask_name(name: str) -> str:
    """Return a name whose made-up parts are masked."""
    return _VOLATILE_IN_NAME.sub(_mask_name_part, name)


def _mask_name_part(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    part = match[0]
    if kind in {"mixed", "digits"}:
        return "<id>" if _INVENTED.match(part) else part
    if kind in {"prefixed", "numbered", "address"}:
        return _ID_BEHIND_WORD.sub("<id>", part, count=1)
    return _NAME_TOKENS.get(kind, part)


def mask_blob(text: str) -> str:
    """Mask base64 data; a long word of one case is a name."""
    is_data = has_digit(text) and not text.islower() and not text.isupper()
    return "<data>" if is_data else mask_name(text)
