"""
Find secrets by the form their issuer gives them.

The facts (beginning, alphabet, length) are those that issuers document and that the scanner gitleaks collects.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.redaction.found import Found
from otel_errcompact.redaction.values import is_mixed, is_random
from otel_errcompact.redaction.words import LONG_RUN, find_drawn_words
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator


class Issued(NamedTuple):
    """Tokens of one alphabet and least length, by their beginnings."""

    begins: tuple[str, ...]
    """Beginnings of the tokens."""

    body: str
    """The characters that follow, as a class of a regular expression."""

    least: int
    """How many of them follow at least."""

    kind: str = "api_key"
    """The word in its place: `[REDACTED:<kind>]`."""


_WORD: Final = "[A-Za-z0-9_-]"
_LETTERS: Final = "[A-Za-z0-9]"
_HEX: Final = "[A-Fa-f0-9]"
_BASE64: Final = "[A-Za-z0-9+/=_-]"

ISSUED: Final[tuple[Issued, ...]] = (
    # Providers' own messages quote their keys with stars in the middle.
    Issued(("sk-ant-",), r"[\w*-]", 8, "anthropic_key"),
    Issued(("sk-",), r"[\w*-]", 16, "openai_key"),
    Issued(("sk-",), r"[\w-]{0,15}\*[\w*-]", 2, "openai_key"),
    Issued(
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_"), r"[\w*]", 8, "stripe_key"
    ),
    Issued(("AKIA", "ASIA", "ABIA", "ACCA"), "[A-Z0-9]", 16, "aws_key"),
    Issued(("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), r"\w", 20, "github_token"),
    Issued(
        ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "xoxe.xoxb-", "xoxe.xoxp-"),
        _WORD,
        10,
        "slack_token",
    ),
    Issued(("AIza", "ya29.", "GOCSPX-"), r"[\w.-]", 20, "google_key"),
    Issued(
        (
            *("dckr_pat_", "dop_v1_", "glagent-", "glcbt-", "glc_", "gldt-", "glft-", "glpat-", "glptt-", "glrt-"),
            *("glsa_", "glsoat-", "gsk_", "hf_", "hvs.", "lin_api_", "lsv2_pt_", "lsv2_sk_", "npm_", "NRAK-", "ntn_"),
            *("PMAK-", "pplx-", "pypi-", "r8_", "SG.", "shpat_", "shpca_", "shpss_", "tvly-", "xai-"),
        ),
        _WORD,
        16,
    ),
    Issued(("ops_",), _BASE64, 60),
    Issued(("sc_", "ext_", "scauth_", "authress_"), "[A-Za-z0-9+/=_.-]", 40),
    Issued(("CLOJARS_", "clojars_"), _LETTERS, 40),
    Issued(("doo_v1_", "dor_v1_", "sntryu_", "rubygems_", "rdme_"), _LETTERS, 32),
    Issued(("duffel_test_", "duffel_live_", "tfp_", "pscale_tkn_", "pscale_oauth_", "pscale_pw_"), r"[\w.=-]", 24),
    Issued(("fo1_", "fm1a_", "fm1r_", "fm2_"), r"[\w+/-]", 40),
    Issued(("sntrys_",), r"[\w+/=-]", 32),
    Issued(("api_org_", "pnu_"), _LETTERS, 30),
    Issued(("sm_aat_", "sm_pat_", "sm_sat_"), _LETTERS, 16),
    Issued(("shippo_live_", "shippo_test_", "shppa_", "shptka_"), _HEX, 32),
    Issued(("sk_prod_", "rk_prod_", "pk_prod_", "sq0atp_"), _LETTERS, 10),
    Issued(("sgp_",), r"[\w]", 40),
    Issued(("live_", "test_", "live_pub_", "test_pub_"), _HEX, 31),
    Issued(("live_",), _BASE64, 40),
    Issued(("squ_", "sqp_", "sqa_"), _LETTERS, 32),
    Issued(("dckr_oat_",), _WORD, 20),
    Issued(("sbp_", "nfp_", "fig_", "figd_", "render_", "rnd_", "crsr_", "e2b_", "fc_", "csb_", "dtn_"), _WORD, 24),
    Issued(("vercel_", "vca_", "vcp_", "vci_", "vcr_", "vck_", "secret_", "cio_", "ubi_", "hfo_"), _LETTERS, 24),
    Issued(("pk_", "sk_"), _LETTERS, 28),
    Issued(("key_", "fpat_", "whpk_", "phc_", "phx_", "ret_", "re_", "wmr_", "cal_live_", "lip_"), _LETTERS, 24),
    Issued(("b_",), "[a-z0-9=_-]", 44),
    Issued(("A3-",), "[A-Z0-9-]", 28),
    Issued(("p8e-",), _LETTERS, 32),
    Issued(("AGE-SECRET-KEY-1", "AGE-PLUGIN-"), "[A-Z0-9-]", 30),
    Issued(("FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-", "FLWPUBK-"), "[a-zA-Z0-9-]", 12),
    Issued(("fio-u-", "dnkey-"), r"[\w=-]", 40),
    Issued(("glffct-", "glimt-", "gloas-", "glrtr-", "glwt-"), r"[\w.-]", 20),
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
    Issued(("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), r"[\w.-]", 40),
    Issued(("dt0c01.", "dt0s01.", "dt0s16."), "[A-Za-z0-9.]", 48),
    Issued(("pat.", "sat."), r"[\w.-]", 60),
    Issued(("hvb.", "hvr.", "b.AAAAAQ"), _WORD, 24),
    Issued(("s.",), _LETTERS, 24),
    Issued(("sl.",), r"[\w=-]", 100),
    Issued(("pk.eyJ", "sk.eyJ", "tk.eyJ"), r"[\w.-]", 40),
    Issued(("t1.",), r"[\w=.-]", 86),
    Issued(("1//0",), r"[\w-]", 30),
    Issued(("sha256~",), _WORD, 40),
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
    Issued(("ATATT3", "ATCTT3", "ATBB", "BBDC-"), r"[\w=-]", 24),
    Issued(("AQVN",), _WORD, 35),
    Issued(("YCAJ", "YCMJ", "YCPJ", "YCNJ", "YC"), _WORD, 38),
    Issued(("AAAAAAAAAAAAAAAAAAAA",), "[A-Za-z0-9%]", 40),
    Issued(("ATTA",), _HEX, 60),
    Issued(("y0_", "y1_", "y2_", "y3_"), _WORD, 39),
    Issued(("CCIPAT_", "CCIPRJ_"), "[A-Za-z0-9_]", 40),
    Issued(("ak-", "as-"), _LETTERS, 22),
    Issued(("AKID",), _LETTERS, 32),
    Issued(("hcaik_", "hcalk_", "hcamk_"), "[a-z0-9]", 30),
    Issued(("CFPAT-",), _WORD, 40),
    Issued(("pcsk_", "napi_", "bkua_", "bkct_", "rpa_", "lin_oauth_", "fw_", "oy2"), "[A-Za-z0-9_]", 22),
    Issued(("pa-",), _WORD, 40),
    Issued(("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"), "[A-Za-z0-9+/=]", 40),
    Issued(("BBFF-", "NRBR-"), _LETTERS, 19),
    Issued(("ak_live_", "flb_live_", "rzp_live_", "rzp_test_", "bb_live_", "key_live_", "key_test_"), _LETTERS, 14),
    Issued(
        ("cfk_", "ramp_id_", "ramp_sec_", "rootly_", "shltm_", "slk_", "sqco_", "ory_at_", "ory_st_", "ory_pat_"),
        _WORD,
        32,
    ),
    Issued(
        ("pat-eu1-", "pat-na1-", "pub-c-", "sub-c-", "sec-c-", "rh-api-", "waka_", "sk-lf-", "pk-lf-"),
        "[A-Za-z0-9-]",
        36,
    ),
    Issued(("PMAT-", "phs_", "phr_", "pha_", "lin_wh_", "aio_", "sb_secret_", "sb_publishable_", "essu_"), _WORD, 24),
    Issued(
        ("os_v2_app_", "os_v2_org_", "apify_api_", "tgp_v1_", "wandb_v1_", "mdb_sa_sk_", "retool_", "dbtc_", "dbtu_"),
        _WORD,
        24,
    ),
    Issued(
        ("xnd_production_", "xnd_development_", "pdl_live_apikey_", "pdl_sdbx_apikey_", "secret-live-", "secret-test-"),
        _WORD,
        24,
    ),
    Issued(
        ("fc-", "llx-", "m0-", "nk-", "ck-", "ste-", "luma-", "jina_", "sk_car_", "arc_", "zpka_", "tss_", "cu_"),
        _WORD,
        32,
    ),
    Issued(("akab-",), "[a-z0-9-]", 32),
    Issued(("cflt", "AQE", "A21AA", "gAAAAA", "SCW"), "[A-Za-z0-9+/=_-]", 60),
    Issued(("st.",), "[A-Za-z0-9.]", 60),
    Issued(("EAA", "SKAA", "dG9r"), _BASE64, 56),
    Issued(("MII",), "[A-Za-z0-9+/=]", 200),
)
"""Tokens that their beginning tells; the first entry that a token meets gives its kind."""

SHAPES: Final[tuple[str, ...]] = (
    r"pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}",  # Airtable
    r"SK[0-9a-fA-F]{32}",  # Twilio
    r"ZXlK[A-Za-z0-9+/]{40,}={0,2}",  # a JSON web token in base64
    r"[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,40}",  # Discord
)
"""Tokens that their beginning and a mark in their middle tell."""

APART: Final = "(?<![A-Za-z0-9])"
"""Where a form may begin that starts with a class of characters."""

DRAWN: Final[tuple[tuple[str, str, str], ...]] = (
    (":AA", r"[0-9](?<![A-Za-z0-9].)[0-9]{7,11}:AA[\w-]{32,34}", "api_key"),  # Telegram
    ("$", r"\$(?:2[abxy]|apr1|y|[156]|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,12})\$[\w./$=,+-]{20,}", "password"),
    ("}", r"\{S?SHA\}[A-Za-z0-9+/=$.]{12,}", "password"),  # LDAP and htpasswd
    ("$", r"pbkdf2_sha\d{1,3}\$[0-9]{1,9}\$[\w+/=$-]{20,}", "password"),  # Django
    (" sr=", r"SharedAccessSignature sr=[^\s\"']{20,}", "api_key"),  # Azure
)
"""Strings that stand in all of them, forms that no beginning tells and that may hold no digit, and kinds."""

MARKED: Final[tuple[tuple[str, str, str], ...]] = (
    *DRAWN,
    ("Q~", rf"{APART}[\w~.]{{3}}[0-9]Q~[\w~.-]{{31,34}}", "api_key"),  # Azure AD
    (".atlasv1.", rf"{APART}[A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{40,}}", "api_key"),  # Terraform Cloud
    ("_mmk", rf"{APART}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk", "api_key"),  # MaxMind
    ("-us", rf"{APART}[a-f0-9]{{32}}-us[0-9]{{1,2}}", "api_key"),  # Mailchimp
    ("JQQJ99", rf"{APART}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{24,}}", "api_key"),  # Azure
    ("AzFu", rf"{APART}[\w-]{{40,44}}AzFu[\w-]{{6}}={{0,2}}", "api_key"),
    ("ACDb", rf"{APART}[A-Za-z0-9+/]{{76}}ACDb[A-Za-z0-9+/]{{5,6}}={{0,2}}", "api_key"),
    ("+A", rf"{APART}[A-Za-z0-9+/]{{76}}\+A(?:St|MC|CR)[A-Za-z0-9+/]{{5,6}}={{0,2}}", "api_key"),
    ("|", r"[0-9](?<![A-Za-z0-9].)[0-9]{14,15}\|[0-9A-Za-z_-]{27,40}", "api_key"),  # Facebook
    ("%", r"[0-9](?<![A-Za-z0-9].)[0-9]{14,15}%[0-9A-Za-z_-]{27,40}", "api_key"),
    ("access_token$", r"(?<=access_token\$)(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", "api_key"),  # Braintree
    ("/", r"/(?<=(?<![\w/.])([0-2])/)[0-9]{14,18}(?:/[0-9]{14,18})?:[a-f0-9]{32}", "api_key"),  # Asana
    ("!", r"00D(?<!\w...)[A-Za-z0-9]{12,15}![\w.]{60,}", "api_key"),  # Salesforce
    ("hooks.slack", r"(?<=/services/|/triggers/)[\w+/-]{30,80}|(?<=/workflows/)[\w+/-]{30,80}", "webhook"),
    ("/webhooks/", r"(?<=/webhooks/)[0-9]{15,20}/[\w-]{40,90}", "webhook"),  # Discord
    ("/webhookb2/", r"(?<=/webhookb2/)[\w@/-]{60,200}", "webhook"),  # Teams
    ("telegram.org/bot", r"(?<=telegram\.org/bot)[0-9]{6,12}:[\w-]{30,40}", "webhook"),
)
"""The same with those of which a long word holds a digit; a group is where the secret begins."""


def _join_forms() -> str:
    forms = _join_begins([(begin, f"{one.body}{{{one.least},4096}}") for one in ISSUED for begin in one.begins])
    shapes = "|".join(SHAPES)
    jwt = r"ey[A-Za-z0-9]{5,4096}\.[\w/\\-]{4,}(?:\.[\w/\\-]*={0,2})?"
    return rf"{APART}(?:(?P<jwt>{jwt})|(?P<shape>(?:{shapes})(?![A-Za-z0-9]))|{forms}(?:\.[\w-]{{7,12}})?)"


def _join_begins(forms: list[tuple[str, str]]) -> str:
    # A trie: three hundred beginnings one beside the other are three hundred questions at each word.
    rests: dict[str, list[tuple[str, str]]] = {}
    for begin, body in forms:
        rests.setdefault(begin[:1], []).append((begin[1:], body))
    ways: list[str] = []
    for first, rest in rests.items():
        ways += [re.escape(first) + _join_begins(rest)] if first else [body for _, body in rest]
    return f"(?:{'|'.join(ways)})"


_FORMS: Final = lazy_pattern(_join_forms)
_MARKED: Final = tuple((clue, lazy_pattern(rf"(?:{form})(?![A-Za-z0-9])"), kind) for clue, form, kind in MARKED)


def find_issued(text: str) -> list[Found]:
    """Return secrets that their issuer's form tells."""
    drawn = find_drawn_words(text)
    found = [one for word in drawn for one in _find_in_word(text, *word)]
    for clue, pattern, kind in _MARKED if drawn else _MARKED[: len(DRAWN)]:
        if clue in text:
            found += [Found(match.start(match.lastindex or 0), match.end(), kind) for match in pattern.finditer(text)]
    return found


def _find_in_word(text: str, start: int, end: int) -> Iterator[Found]:
    for match in _FORMS.finditer(text, start, end):
        if match.lastgroup == "jwt":
            yield Found(match.start(), match.end(), "jwt")
        elif match.lastgroup == "shape":
            yield Found(match.start(), match.end(), "api_key")
        elif _is_token(match[0]):
            yield Found(match.start(), match.end(), _kind_of(match[0]))


def _is_token(word: str) -> bool:
    # Words of people are joined by signs and hold no digits.
    return (
        is_random(word)
        or (is_mixed(word) and word.count("-") < MIN_SIGNS)
        or "**" in word
        or (len(set(word)) >= MIN_LETTERS and LONG_RUN.search(word) is not None)
    )


MIN_SIGNS: Final = 3
"""Hyphens between words that are no token."""

MIN_LETTERS: Final = 10
"""Different characters of a token without digits."""


def _kind_of(token: str) -> str:
    return next(one.kind for one in ISSUED if token.startswith(one.begins))
