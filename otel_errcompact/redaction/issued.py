"""
Find secrets by the form their issuer gives them.

The facts (beginning, alphabet, length) are those that issuers document and that the scanner gitleaks collects.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.redaction.found import Found
from otel_errcompact.redaction.values import is_random
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


class Issued(NamedTuple):
    """Tokens of one alphabet and least length, by their beginnings."""

    begins: tuple[str, ...]
    """Beginnings of the tokens."""

    body: str
    """The characters that follow, as a class of a regular expression."""

    least: int
    """How many of them follow at least."""


_WORD: Final = "[A-Za-z0-9_-]"
_LETTERS: Final = "[A-Za-z0-9]"
_HEX: Final = "[A-Fa-f0-9]"
_BASE64: Final = "[A-Za-z0-9+/=_-]"

BY_SIGN: Final[dict[str, tuple[Issued, ...]]] = {
    "_": (
        Issued(("ops_",), _BASE64, 60),
        Issued(("sc_", "ext_", "scauth_", "authress_"), "[A-Za-z0-9+/=_.-]", 40),
        Issued(("CLOJARS_", "clojars_"), _LETTERS, 40),
        Issued(("doo_v1_", "dop_v1_", "dor_v1_", "sntryu_", "rubygems_", "rdme_"), _LETTERS, 32),
        Issued(("duffel_test_", "duffel_live_", "tfp_", "pscale_tkn_", "pscale_oauth_", "pscale_pw_"), "[\\w.=-]", 24),
        Issued(("fo1_", "fm1a_", "fm1r_", "fm2_"), "[\\w+/-]", 40),
        Issued(("glc_", "glsa_", "sntrys_"), "[\\w+/=-]", 32),
        Issued(("api_org_", "pnu_", "hf_", "npm_"), _LETTERS, 30),
        Issued(("sm_aat_", "sm_pat_", "sm_sat_"), _LETTERS, 16),
        Issued(("shippo_live_", "shippo_test_", "shppa_", "shptka_"), _HEX, 32),
        Issued(("sk_prod_", "rk_prod_", "pk_prod_", "sq0atp_"), _LETTERS, 10),
        Issued(("sgp_",), "[\\w]", 40),
        Issued(("live_", "test_", "live_pub_", "test_pub_"), _HEX, 31),
        Issued(("live_",), _BASE64, 40),
        Issued(("squ_", "sqp_", "sqa_"), _LETTERS, 32),
        Issued(("dckr_oat_", "dckr_pat_"), _WORD, 20),
        Issued(("sbp_", "nfp_", "fig_", "figd_", "render_", "rnd_", "crsr_", "e2b_", "fc_", "csb_", "dtn_"), _WORD, 24),
        Issued(("vercel_", "vca_", "vcp_", "vci_", "vcr_", "vck_", "secret_", "cio_", "ubi_", "hfo_"), _LETTERS, 24),
        Issued(("pk_", "sk_"), "[A-Za-z0-9]", 28),
        Issued(
            ("key_", "gsk_", "fpat_", "whpk_", "phc_", "phx_", "ret_", "re_", "wmr_", "cal_live_", "lip_"), _LETTERS, 24
        ),
        Issued(("b_",), "[a-z0-9=_-]", 44),
    ),
    "-": (
        Issued(("A3-",), "[A-Z0-9-]", 28),
        Issued(("p8e-",), _LETTERS, 32),
        Issued(("AGE-SECRET-KEY-1", "AGE-PLUGIN-"), "[A-Z0-9-]", 30),
        Issued(("FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-", "FLWPUBK-"), "[a-zA-Z0-9-]", 12),
        Issued(("fio-u-", "dnkey-"), "[\\w=-]", 40),
        Issued(("glffct-", "glimt-", "gloas-", "glrt-", "glrtr-", "glwt-"), "[\\w.-]", 20),
        Issued(("HRKU-",), _WORD, 36),
        Issued(("ico-",), _LETTERS, 30),
        Issued(("s-s4t2ud-", "s-s4t2af-"), _HEX, 48),
        Issued(("NRJS-", "NRII-", "NRAL-", "NRRA-", "NRIQ-"), "[A-Za-z0-9-]", 19),
        Issued(("API-",), "[A-Z0-9]", 24),
        Issued(("pul-", "ddp-"), _HEX, 32),
        Issued(("v1.0-",), "[a-f0-9-]", 150),
        Issued(("tk-us-", "tskey-auth-", "tskey-api-", "tskey-client-", "tskey-"), _WORD, 20),
        Issued(("xkeysib-", "xsmtpsib-"), "[A-Za-z0-9-]", 48),
        Issued(("sq0atp-", "sq0csp-", "sq0idp-"), _WORD, 20),
        Issued(("key-", "pubkey-"), _HEX, 32),
        Issued(("access-sandbox-", "access-development-", "access-production-"), "[0-9a-f-]", 32),
        Issued(("bedrock-api-key-",), _BASE64, 28),
        Issued(("fw-", "csk-", "nvapi-", "jina-", "wandb-", "sl-", "together-", "vapi-", "lsv2-"), _WORD, 24),
    ),
    ".": (
        Issued(("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), "[\\w.-]", 40),
        Issued(("dt0c01.", "dt0s01.", "dt0s16."), "[A-Za-z0-9.]", 48),
        Issued(("pat.", "sat."), "[\\w.-]", 60),
        Issued(("hvb.", "hvr.", "b.AAAAAQ"), _WORD, 24),
        Issued(("s.",), _LETTERS, 24),
        Issued(("sl.",), "[\\w=-]", 100),
        Issued(("pk.eyJ", "sk.eyJ", "tk.eyJ"), "[\\w.-]", 40),
        Issued(("t1.",), "[\\w=.-]", 86),
        Issued(("xoxe.xoxb-", "xoxe.xoxp-"), _WORD, 30),
        Issued(("1//0", "ya29."), "[\\w-]", 30),
    ),
    "~": (Issued(("sha256~",), _WORD, 40),),
    "": (
        Issued(("AKCp",), _LETTERS, 60),
        Issued(("GR1348941",), _WORD, 20),
        Issued(("cmVmd",), _LETTERS, 50),
        Issued(("LTAI",), _LETTERS, 16),
        Issued(("ABSK",), "[A-Za-z0-9+/=]", 100),
        Issued(("A3T",), "[A-Z0-9]", 17),
        Issued(("4b1d",), _LETTERS, 38),
        Issued(("dapi", "dose", "dkea"), "[a-f0-9-]", 32),
        Issued(("EZAK", "EZTK"), _LETTERS, 50),
        Issued(("EAAC", "EAAM", "EAAG", "EAAA", "EAAB"), _WORD, 22),
        Issued(("eyJrIjoi",), "[A-Za-z0-9=]", 40),
        Issued(("ATATT3", "ATCTT3", "ATBB", "BBDC-"), "[\\w=-]", 24),
        Issued(("AQVN",), _WORD, 35),
        Issued(("YCAJ", "YCMJ", "YCPJ", "YCNJ", "YC"), _WORD, 38),
        Issued(("AAAAAAAAAAAAAAAAAAAAAA",), "[A-Za-z0-9%]", 40),
        Issued(("MII",), "[A-Za-z0-9+/=]", 200),
    ),
}
"""By the sign that ends their beginning, which is what a text is searched for first."""

SHAPES: Final[tuple[tuple[str, str], ...]] = (
    ("pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),  # Airtable
    ("Q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}"),  # Azure AD
    (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}"),  # Terraform Cloud
    ("_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),  # MaxMind
    ("SK", r"SK[0-9a-fA-F]{32}"),  # Twilio
    (":AA", r"[0-9]{8,12}:AA[\w-]{32,34}"),  # Telegram
    ("|", r"[0-9]{15,16}\|[0-9A-Za-z_-]{27,40}"),  # Facebook
    ("%", r"[0-9]{15,16}%[0-9A-Za-z_-]{27,40}"),
    (".ey", r"ey[A-Za-z0-9]{17,}\.ey[\w/\\-]{17,}\.(?:[\w/\\-]{10,}={0,2})?"),  # a JSON web token of any head
    ("-us", r"[a-f0-9]{32}-us[0-9]{1,2}"),  # Mailchimp
    ("$", r"\$(?:2[abxy]|apr1|y|[156]|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,12})\$[\w./$=,+-]{20,}"),  # hashes
    ("A}", r"\{S?SHA\}[A-Za-z0-9+/=$.]{12,}"),  # hashes of LDAP and htpasswd
    ("pbkdf2_sha", r"pbkdf2_sha\d{1,3}\$[0-9]{1,9}\$[\w+/=$-]{20,}"),  # Django
    ("ZXlK", r"ZXlK[A-Za-z0-9+/]{40,}={0,2}"),  # a JSON web token in base64
    (" sr=", r"SharedAccessSignature sr=[^\s\"']{20,}"),  # Azure
)
"""Forms that no beginning tells, each behind a string that stands in all of them."""

_DISCORD: Final = lazy_pattern(r"\.[\w-]{6}\.[\w-]{27,40}(?![\w-])")
_DISCORD_ID: Final = lazy_pattern(r"[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,40}")
_HOOKS: Final = lazy_pattern(
    r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<slack>[\w+/-]{30,80})"
    r"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/(?P<discord>[0-9]{15,20}/[\w-]{40,90})"
    r"|webhook\.office\.com/webhookb2/(?P<teams>[\w@/-]{60,200})"
    r"|api\.telegram\.org/bot(?P<telegram>[0-9]{6,12}:[\w-]{30,40})"
)


def _join(sign: str) -> str:
    forms = "|".join(f"(?:{'|'.join(map(_escape, one.begins))}){one.body}{{{one.least},4096}}" for one in BY_SIGN[sign])
    # What can be seen of all of them is looked at first: few words are that long.
    long = "" if sign else "(?=[A-Za-z0-9]{14})"
    return rf"(?<![A-Za-z0-9]){long}(?:{forms})(?:\.[\w-]{{7,12}})?"


def _escape(begin: str) -> str:
    return begin.replace(".", r"\.")


def _join_sign(sign: str) -> str:
    # What follows is looked at first: few words are as long as a token's body, and hold a digit.
    begins = {begin[: begin.rindex(sign) + 1] for one in BY_SIGN[sign] for begin in one.begins if sign in begin}
    known = "|".join(f"(?<=(?<![A-Za-z0-9]){_escape(begin)})" for begin in sorted(begins))
    return rf"{_escape(sign)}(?=[A-Za-z0-9+/]{{4}})(?=[\w+/=.%-]{{10}})(?:{known})"


_FORMS: Final = {sign: lazy_pattern(partial(_join, sign)) for sign in BY_SIGN}
_SIGNS: Final = {sign: lazy_pattern(partial(_join_sign, sign)) for sign in BY_SIGN if sign}
_SHAPES: Final = tuple((clue, lazy_pattern(rf"{form}(?![A-Za-z0-9])")) for clue, form in SHAPES)
_BROKEN: Final = {"$", "Q~", ":AA", "|", "%", "A}", "pbkdf2_sha", " sr="}
_BROKEN_SHAPES: Final = tuple([(clue, pattern) for clue, pattern in _SHAPES if clue in _BROKEN])
"""Those that need no long word: signs may stand anywhere in them."""

_LONG: Final = lazy_pattern(r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}")
"""A word that stands in all other shapes."""


def find_issued(text: str) -> Iterator[Found]:
    """Yield secrets that their issuer's form tells."""
    for sign, pattern in _SIGNS.items():
        if sign in text:
            for match in pattern.finditer(text):
                yield from _find_around(text, match.start(), _FORMS[sign])
    for match in _FORMS[""].finditer(text):
        if _is_token(match[0]):
            yield Found(match.start(), match.end(), "api_key")
    yield from _find_shapes(text)
    if "hook" in text or "telegram" in text:
        for match in _HOOKS.finditer(text):
            start, end = match.span(match.lastgroup or 0)
            yield Found(start, end, "webhook")


def _find_shapes(text: str) -> Iterator[Found]:
    for clue, pattern in _SHAPES if _LONG.search(text) else _BROKEN_SHAPES:
        if clue in text:
            for match in pattern.finditer(text):
                if not text[match.start() - 1 : match.start()].isalnum():
                    yield Found(match.start(), match.end(), "password" if match[0][0] in "${" else "api_key")
    if _DISCORD.search(text):
        for match in _DISCORD_ID.finditer(text):
            yield Found(match.start(), match.end(), "api_key")


def _find_around(text: str, at: int, forms: re.Pattern[str]) -> Iterator[Found]:
    for start in range(at, max(-1, at - MAX_BEGIN), -1):
        token = forms.match(text, start)
        if token is not None and _is_token(token[0]):
            yield Found(start, token.end(), "api_key")


def _is_token(word: str) -> bool:
    # Words of people are joined by signs and hold no digits.
    return is_random(word) or _RUN.search(word) is not None


_RUN: Final = lazy_pattern(r"[A-Za-z0-9]{20}")

MAX_BEGIN: Final = 24
"""Characters of the longest beginning."""
