"""Texts that the library and the shipped collector redact alike, and texts that both keep."""

from __future__ import annotations

from typing import Final

REDACTED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "quoted_password": (
        ("{'db_password': 'hunter two'}", "{'db_password': '[REDACTED:password]'}"),
        ('connect(password="x")', 'connect(password="[REDACTED:password]")'),
    ),
    "password": (
        ("DB_PASSWORD=hunter2 make", "DB_PASSWORD=[REDACTED:password] make"),
        ("Server=x;Pwd=a!b;Db=y", "Server=x;Pwd=[REDACTED:password];Db=y"),
        ("password: letmein now", "password: [REDACTED:password] now"),
    ),
    "quoted_secret": (
        ('{"api_key": "abcd-efgh"}', '{"api_key": "[REDACTED:secret]"}'),
        ("clientSecret='abcdefgh'", "clientSecret='[REDACTED:secret]'"),
    ),
    "secret": (
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[REDACTED:secret]"),
        ("/v1?access_token=0123456789&x=1", "/v1?access_token=[REDACTED:secret]&x=1"),
    ),
    "authorization": (
        ("'Authorization': 'Bearer abc.def'", "'Authorization': 'Bearer [REDACTED:authorization]'"),
        ("authorization: Basic dXNlcjpwdw==", "authorization: Basic [REDACTED:authorization]"),
    ),
    "cookie": (
        ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: [REDACTED:cookie]"),
        ("{'Cookie': 'a=b; c=d'}", "{'Cookie': '[REDACTED:cookie]'}"),
    ),
    "bearer": (("curl -H 'X: Bearer 0123456789abcdef'", "curl -H 'X: Bearer [REDACTED:authorization]'"),),
    "option": (("mysqldump --password hunter2 shop", "mysqldump --password [REDACTED:password] shop"),),
    "password_in_url": (
        ("postgres://app:s3cr3t@db:5432/shop", "postgres://app:[REDACTED:password]@db:5432/shop"),
        ("redis://:p@ss@cache:6379", "redis://:[REDACTED:password]@cache:6379"),
    ),
    "query_parameter": (("GET /v1/models?key=0123456789", "GET /v1/models?key=[REDACTED:secret]"),),
    "private_key": (
        (
            "bad key -----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- here",
            "bad key [REDACTED:private_key] here",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow", "[REDACTED:private_key]"),
    ),
    "anthropic_key": (("invalid x-api-key sk-ant-api03-AbCdEf0123", "invalid x-api-key [REDACTED:anthropic_key]"),),
    "openai_key": (
        ("Incorrect API key provided: sk-qzmvbt****91ce.", "Incorrect API key provided: [REDACTED:openai_key]."),
        ("sk-proj-AbCdEfGhIjKl0123456789 is revoked", "[REDACTED:openai_key] is revoked"),
    ),
    "aws_key": (("InvalidClientTokenId AKIAIOSFODNN7EXAMPLE", "InvalidClientTokenId [REDACTED:aws_key]"),),
    "github_token": (("bad ghp_0123456789abcdefABCDEF0123456789abcd", "bad [REDACTED:github_token]"),),
    "slack_token": (("invalid_auth xoxb-1234567890-abcdef", "invalid_auth [REDACTED:slack_token]"),),
    "google_key": (("key AIzaSyA-0123456789abcdefghijklmnopqrstu", "key [REDACTED:google_key]"),),
    "stripe_key": (
        ("Invalid API Key provided: sk_test_4eC39HqLyjWD", "Invalid API Key provided: [REDACTED:stripe_key]"),
    ),
    "jwt": (("expired eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "expired [REDACTED:jwt]"),),
    "prefixed_key": (
        ("denied glpat-0123456789abcdefXYZ_", "denied [REDACTED:api_key]"),
        ("denied hf_AbCdEfGhIjKlMnOpQr0tUv", "denied [REDACTED:api_key]"),
        ("denied npm_0123456789abcdefghij", "denied [REDACTED:api_key]"),
    ),
}
"""By kind of rule: texts before and after redaction."""

KEPT: Final[dict[str, tuple[str, ...]]] = {
    "quoted_password": (
        "{'password': 'This field is required.'}",
        "KeyError: 'password'",
    ),
    "password": (
        "password: must be longer",
        "password=None",
        "password=$DB_PASSWORD",
    ),
    "quoted_secret": (
        "KeyError: 'api_key'",
        '{"token": "is not valid"}',
        "Unexpected token: 'x'",
        "tokens: 'abcdefgh'",
    ),
    "secret": (
        "max_tokens: 131072000",
        "token: expired",
        "primary_key=12345678",
    ),
    "authorization": ("the Authorization header is missing",),
    "cookie": (
        "cookie: not found",
        "cookies are disabled",
    ),
    "bearer": (
        "Bearer authentication is required",
        "basic example 1",
    ),
    "option": ("unknown option --password --verbose",),
    "password_in_url": (
        "http://host:8080/a@b",
        "https://user@host/x",
    ),
    "query_parameter": ("GET /v1?key=a",),
    "private_key": ("-----BEGIN CERTIFICATE-----",),
    "openai_key": (
        "risk-assessment-of-the-quarter",
        "sk-learn is missing",
    ),
    "aws_key": ("AKIA is a prefix",),
    "github_token": ("ghp_ is the prefix",),
    "jwt": ("eyJust kidding.",),
    "prefixed_key": (
        "npm_config_registry",
        "hf_hub_download failed",
    ),
}
"""By kind of rule: texts without a secret."""

NAMES: Final = (
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "accountkey",
    "secretkey",
    "authkey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "sharedkey",
    "api_key",
    "access_key",
    "account_key",
    "secret_key",
    "auth_key",
    "private_key",
    "encryption_key",
    "signing_key",
    "master_key",
    "shared_key",
    "authorization",
    "cookie",
)
"""Names of secrets that the collector knows."""
