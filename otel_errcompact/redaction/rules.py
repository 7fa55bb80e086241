"""
Rules of redaction: a rule says what stays and what is replaced.

The tests run each rule's examples.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class RedactionRule(NamedTuple):
    """One kind of secret and where it stands."""

    name: str
    """The rule's name, and the name of its group in the compiled pattern."""

    kind: str
    """The word in its place: `[REDACTED:<kind>]`."""

    pattern: str
    """
    A regular expression of the secret.

    Its repetitions are bounded or exclude what follows them, so that it runs in linear time.
    """

    head: str = ""
    """A regular expression of the text that stays in front."""

    assigned_to: tuple[str, ...] = ()
    """Ends of the names that the secret is assigned to, in any case, as patterns of fixed width."""

    issued: tuple[str, ...] = ()
    """Beginnings of such secrets, in front of the pattern, as patterns of fixed width."""

    inside_words: bool = False
    """Whether a word may stand directly in front."""

    redacts: tuple[tuple[str, str], ...] = ()
    """Texts before and after redaction."""

    keeps: tuple[str, ...] = ()
    """Texts without a secret."""


_PASSWORDS: Final = ("password", "passwd", "pwd", "passphrase")
_KEYS: Final = ("api", "access", "account", "secret", "auth", "private", "encryption", "signing", "master", "shared")
_SECRETS: Final = ("secret", "token", *(f"{word}key" for word in _KEYS), *(f"{word}[_-]key" for word in _KEYS))
IS: Final = r"['\"]? {0,3}(?::|=>?) {0,3}"
_BARE: Final = r"[^\s,;&'\"()<>\[\]{}]"
_REST_OF_QUOTED: Final = r"(?:(?<=')[^'\n]+(?=')|(?<=\")[^\"\n]+(?=\"))"
_PLACEHOLDER: Final = r"(?:\$|(?i:none|null|nil|true|false|undefined|required|missing|invalid|expired)(?!\w))"
_COMPLAINT: Final = r"[^'\"\n]{0,80}(?i:required|must |invalid|missing|at least|should| not | is | too )"
_PROSE: Final = (
    r"(?<=: )(?:must|should|is|was|not|no|too|cannot|may|please|expected|the|this|your|an?|at|does|has|field|value"
    r"|input|string|authentication) "
)
_SCHEME: Final = r"(?i:bearer|basic|token|digest|apikey)"

_OPTION: Final = r"-(?:[a-z]\w{0,20}-){0,3}(?:password|passwd|token|secret|api-key) "
_SIGNED: Final = r"(?i:key|sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)="
CLUES: Final = {":": (r"//[^\s/]{0,384}@",), "-": (_OPTION, "----BEGIN "), "?": (_SIGNED,), "&": (_SIGNED,)}
"""Patterns of secrets without a name or prefix, behind their first character."""

RULES: Final[tuple[RedactionRule, ...]] = (
    RedactionRule(
        name="quoted_password",
        kind="password",
        assigned_to=_PASSWORDS,
        head=r"['\"]",
        pattern=rf"(?!\[REDACTED|{_COMPLAINT}){_REST_OF_QUOTED}",
        redacts=(
            ("{'db_password': 'hunter two'}", "{'db_password': '[REDACTED:password]'}"),
            ('connect(password="x")', 'connect(password="[REDACTED:password]")'),
        ),
        keeps=("{'password': 'This field is required.'}", "KeyError: 'password'"),
    ),
    RedactionRule(
        name="password",
        kind="password",
        assigned_to=_PASSWORDS,
        pattern=rf"(?!{_PROSE}|{_PLACEHOLDER}){_BARE}+",
        redacts=(
            ("DB_PASSWORD=hunter2 make", "DB_PASSWORD=[REDACTED:password] make"),
            ("Server=x;Pwd=a!b;Db=y", "Server=x;Pwd=[REDACTED:password];Db=y"),
            ("password: letmein now", "password: [REDACTED:password] now"),
        ),
        keeps=("password: must be longer", "password=None", "password=$DB_PASSWORD"),
    ),
    RedactionRule(
        name="quoted_secret",
        kind="secret",
        assigned_to=_SECRETS,
        head=r"['\"]",
        pattern=rf"(?!\[REDACTED|{_PLACEHOLDER})[^\s'\"]{{4,4096}}(?=['\"])",
        redacts=(
            ('{"api_key": "abcd-efgh"}', '{"api_key": "[REDACTED:secret]"}'),
            ("clientSecret='abcdefgh'", "clientSecret='[REDACTED:secret]'"),
        ),
        keeps=("KeyError: 'api_key'", '{"token": "is not valid"}', "Unexpected token: 'x'", "tokens: 'abcdefgh'"),
    ),
    RedactionRule(
        name="secret",
        kind="secret",
        assigned_to=_SECRETS,
        pattern=r"(?=[\w.+/=~-]{0,200}[0-9])[\w.+/=~-]{8,}",
        redacts=(
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[REDACTED:secret]"),
            ("/v1?access_token=0123456789&x=1", "/v1?access_token=[REDACTED:secret]&x=1"),
        ),
        keeps=("max_tokens: 131072000", "token: expired", "primary_key=12345678"),
    ),
    RedactionRule(
        name="authorization",
        kind="authorization",
        assigned_to=("authorization",),
        head=rf"['\"]?(?:{_SCHEME} {{1,3}})?",
        pattern=rf"(?!{_SCHEME}(?!\w)){_BARE}{{4,}}",
        redacts=(
            ("'Authorization': 'Bearer abc.def'", "'Authorization': 'Bearer [REDACTED:authorization]'"),
            ("authorization: Basic dXNlcjpwdw==", "authorization: Basic [REDACTED:authorization]"),
        ),
        keeps=("the Authorization header is missing",),
    ),
    RedactionRule(
        name="cookie",
        kind="cookie",
        assigned_to=("cookie",),
        head=r"['\"]?",
        pattern=r"(?:[\w.-]{1,80}=[^\n'\"]+)",
        redacts=(
            ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: [REDACTED:cookie]"),
            ("{'Cookie': 'a=b; c=d'}", "{'Cookie': '[REDACTED:cookie]'}"),
        ),
        keeps=("cookie: not found", "cookies are disabled"),
    ),
    RedactionRule(
        name="bearer",
        kind="authorization",
        head=r"[Bb](?:earer|asic) {1,3}",
        pattern=r"(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{8,}",
        redacts=(("curl -H 'X: Bearer 0123456789abcdef'", "curl -H 'X: Bearer [REDACTED:authorization]'"),),
        keeps=("Bearer authentication is required", "basic example 1"),
    ),
    RedactionRule(
        name="option",
        kind="password",
        head=rf"-{_OPTION}",
        pattern=rf"(?!-){_BARE}{{4,}}",
        redacts=(("mysqldump --password hunter2 shop", "mysqldump --password [REDACTED:password] shop"),),
        keeps=("unknown option --password --verbose",),
    ),
    RedactionRule(
        name="password_in_url",
        inside_words=True,
        kind="password",
        head=r":(?:(?<=[a-z0-9]:)//[^\s/?#'\"<>:@]{0,128}:)",
        pattern=r"[^\s/'\"<>]{1,256}(?=@)",
        redacts=(
            ("postgres://app:s3cr3t@db:5432/shop", "postgres://app:[REDACTED:password]@db:5432/shop"),
            ("redis://:p@ss@cache:6379", "redis://:[REDACTED:password]@cache:6379"),
        ),
        keeps=("http://host:8080/a@b", "https://user@host/x"),
    ),
    RedactionRule(
        name="query_parameter",
        inside_words=True,
        kind="secret",
        head=rf"[?&]{_SIGNED}",
        pattern=r"[\w.%+/=~-]{6,}",
        redacts=(("GET /v1/models?key=0123456789", "GET /v1/models?key=[REDACTED:secret]"),),
        keeps=("GET /v1?key=a",),
    ),
    RedactionRule(
        name="private_key",
        inside_words=True,
        kind="private_key",
        pattern=r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----END ))*(?:-----END [A-Z ]{0,60}-----)?",
        redacts=(
            (
                "bad key -----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- here",
                "bad key [REDACTED:private_key] here",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIEow", "[REDACTED:private_key]"),
        ),
        keeps=("-----BEGIN CERTIFICATE-----",),
    ),
    RedactionRule(
        name="anthropic_key",
        kind="anthropic_key",
        issued=("sk-ant-",),
        pattern=r"(?:[\w-]{8,}\**\w*|\*+\w*)",
        redacts=(("invalid x-api-key sk-ant-api03-AbCdEf0123", "invalid x-api-key [REDACTED:anthropic_key]"),),
    ),
    RedactionRule(
        name="openai_key",
        kind="openai_key",
        issued=("sk-",),
        pattern=r"(?:[\w-]{16,}\**\w*|[\w-]{0,15}\*+[\w*-]*)",
        redacts=(
            ("Incorrect API key provided: sk-qzmvbt****91ce.", "Incorrect API key provided: [REDACTED:openai_key]."),
            ("sk-proj-AbCdEfGhIjKl0123456789 is revoked", "[REDACTED:openai_key] is revoked"),
        ),
        keeps=("risk-assessment-of-the-quarter", "sk-learn is missing"),
    ),
    RedactionRule(
        name="aws_key",
        kind="aws_key",
        issued=("AKIA", "ASIA", "ABIA", "ACCA"),
        pattern=r"[A-Z0-9]{16,}(?!\w)",
        redacts=(("InvalidClientTokenId AKIAIOSFODNN7EXAMPLE", "InvalidClientTokenId [REDACTED:aws_key]"),),
        keeps=("AKIA is a prefix",),
    ),
    RedactionRule(
        name="github_token",
        kind="github_token",
        issued=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        pattern=r"\w{20,}",
        redacts=(("bad ghp_0123456789abcdefABCDEF0123456789abcd", "bad [REDACTED:github_token]"),),
        keeps=("ghp_ is the prefix",),
    ),
    RedactionRule(
        name="slack_token",
        kind="slack_token",
        issued=("xox[abeoprs]-", "xapp-"),
        pattern=r"[\w-]{10,}",
        redacts=(("invalid_auth xoxb-1234567890-abcdef", "invalid_auth [REDACTED:slack_token]"),),
    ),
    RedactionRule(
        name="google_key",
        kind="google_key",
        issued=("AIza", r"ya29\.", "GOCSPX-"),
        pattern=r"[\w.-]{20,}",
        redacts=(("key AIzaSyA-0123456789abcdefghijklmnopqrstu", "key [REDACTED:google_key]"),),
    ),
    RedactionRule(
        name="stripe_key",
        kind="stripe_key",
        issued=("sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_"),
        pattern=r"[\w*]{8,}",
        redacts=(
            ("Invalid API Key provided: sk_test_4eC39HqLyjWD", "Invalid API Key provided: [REDACTED:stripe_key]"),
        ),
    ),
    RedactionRule(
        name="jwt",
        kind="jwt",
        issued=("eyJ",),
        pattern=r"[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)?",
        redacts=(("expired eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "expired [REDACTED:jwt]"),),
        keeps=("eyJust kidding.",),
    ),
    RedactionRule(
        name="prefixed_key",
        kind="api_key",
        issued=(
            "dckr_pat_",
            "dop_v1_",
            "glagent-",
            "glcbt-",
            "glc_",
            "gldt-",
            "glft-",
            "glpat-",
            "glptt-",
            "glrt-",
            "glsa_",
            "glsoat-",
            "gsk_",
            "hf_",
            r"hvs\.",
            "lin_api_",
            "lsv2_pt_",
            "lsv2_sk_",
            "npm_",
            "NRAK-",
            "ntn_",
            "PMAK-",
            "pplx-",
            "pypi-",
            "r8_",
            r"SG\.",
            "shpat_",
            "shpca_",
            "shpss_",
            "tvly-",
            "xai-",
        ),
        pattern=r"(?=[\w-]{0,40}[0-9])[\w-]{16,}",
        redacts=(
            ("denied glpat-0123456789abcdefXYZ_", "denied [REDACTED:api_key]"),
            ("denied hf_AbCdEfGhIjKlMnOpQr0tUv", "denied [REDACTED:api_key]"),
            ("denied npm_0123456789abcdefghij", "denied [REDACTED:api_key]"),
        ),
        keeps=("npm_config_registry", "hf_hub_download failed"),
    ),
)
