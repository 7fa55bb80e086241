"""How secrets leave a text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.redaction.issued import ISSUED, MARKED, SHAPES
from otel_errcompact.redaction.redact import redact
from tests.clock import costs_little
from tests.redaction.examples import KEPT, REDACTED

EXAMPLES = [(rule, text, rest) for rule, texts in REDACTED.items() for text, rest in texts]
COUNTER_EXAMPLES = [(rule, text) for rule, texts in KEPT.items() for text in texts]
TEXTS = st.lists(
    st.sampled_from(
        [text for _, text, _ in EXAMPLES] + [text for _, text in COUNTER_EXAMPLES] + ["\n", "=", ": '", "--"]
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    ("text", "rest"), [pytest.param(text, rest, id=f"{rule}-{text}") for rule, text, rest in EXAMPLES]
)
def test_secret_is_redacted(text: str, rest: str):
    """
    Each kind of rule takes the secret out of its examples and leaves the name, the user and the host beside it.
    """
    assert rest == redact(text)


@pytest.mark.parametrize("text", [pytest.param(text, id=f"{rule}-{text}") for rule, text in COUNTER_EXAMPLES])
def test_text_without_a_secret_is_kept(text: str):
    """
    Each kind of rule leaves its counter-examples exactly as they are.
    """
    assert text == redact(text)


_MIXED = "0a1B2c3D4e5F6g7H8i9J" * 10
_HEX = "0a1b2c3d4e5f" * 10

BY_MARK = {
    "Airtable": (f"pat{_MIXED[:14]}.{_HEX[:64]}", "[REDACTED:api_key]"),
    "Twilio": (f"SK{_HEX[:32]}", "[REDACTED:api_key]"),
    "token in base64": (f"ZXlK{_MIXED[:60]}", "[REDACTED:api_key]"),
    "Discord": (f"M{_MIXED[:24]}.{_MIXED[:6]}.{_MIXED[:30]}", "[REDACTED:api_key]"),
    "Azure AD": (f"a1~2Q~{_MIXED[:32]}", "[REDACTED:api_key]"),
    "Terraform Cloud": (f"{_MIXED[:14]}.atlasv1.{_MIXED[:64]}", "[REDACTED:api_key]"),
    "MaxMind": (f"{_MIXED[:6]}_{_MIXED[:29]}_mmk", "[REDACTED:api_key]"),
    "Mailchimp": (f"{_HEX[:32]}-us12", "[REDACTED:api_key]"),
    "Azure": (f"{_MIXED[:52]}JQQJ99{_MIXED[:26]}", "[REDACTED:api_key]"),
    "Azure Functions": (f"{_MIXED[:42]}AzFu{_MIXED[:6]}==", "[REDACTED:api_key]"),
    "Azure Cosmos": (f"{_MIXED[:76]}ACDb{_MIXED[:6]}==", "[REDACTED:api_key]"),
    "Azure Storage": (f"{_MIXED[:76]}+ASt{_MIXED[:6]}==", "[REDACTED:api_key]"),
    "Telegram": (f"0123456789:AA{_MIXED[:33]}", "[REDACTED:api_key]"),
    "Facebook": (f"0123456789012345|{_MIXED[:27]}", "[REDACTED:api_key]"),
    "Facebook in a URL": (f"0123456789012345%{_MIXED[:27]}", "[REDACTED:api_key]"),
    "bcrypt": (f"$2b$12${_MIXED[:53]}", "[REDACTED:password]"),
    "LDAP": (f"{{SSHA}}{_MIXED[:28]}", "[REDACTED:password]"),
    "Django": (f"pbkdf2_sha256$600000${_MIXED[:22]}${_MIXED[:44]}", "[REDACTED:password]"),
    "Braintree": (f"access_token$sandbox${_HEX[:16]}${_HEX[:32]}", "access_token$[REDACTED:api_key]"),
    "Asana": (f"1/{'0123456789' * 2}"[:18] + f":{_HEX[:32]}", "[REDACTED:api_key]"),
    "Salesforce": (f"00D{_MIXED[:12]}!{_MIXED[:80]}", "[REDACTED:api_key]"),
    "shared access": (f"SharedAccessSignature sr={_MIXED[:40]}", "[REDACTED:api_key]"),
    "Slack": (f"hooks.slack.com/services/{_MIXED[:40]}", "hooks.slack.com/services/[REDACTED:webhook]"),
    "Discord webhook": (f"/webhooks/0123456789012345/{_MIXED[:60]}", "/webhooks/[REDACTED:webhook]"),
    "Teams": (f"/webhookb2/{_MIXED[:80]}", "/webhookb2/[REDACTED:webhook]"),
    "Telegram webhook": (f"telegram.org/bot0123456789:{_MIXED[:35]}", "telegram.org/bot[REDACTED:webhook]"),
}


@pytest.mark.parametrize(("secret", "rest"), [pytest.param(*each, id=name) for name, each in BY_MARK.items()])
def test_secret_with_a_mark_is_found_among_letters_and_blanks(secret: str, rest: str):
    """
    A form that no beginning tells is found in a text that holds no other sign than the secret itself.
    """
    assert rest == redact(secret)
    assert f"denied {rest} here" == redact(f"denied {secret} here")


@pytest.mark.parametrize("form", [*SHAPES, *(form for _, form, _ in MARKED)])
def test_each_form_with_a_mark_has_an_example(form: str):
    """
    No form can be added without an example in a text of its own.
    """
    assert any(re.search(form, secret) for secret, _ in BY_MARK.values())


@pytest.mark.parametrize(
    ("begin", "least"),
    [pytest.param(begin, one.least, id=begin) for one in ISSUED if "{" not in one.body for begin in one.begins],
)
def test_issued_key_is_redacted_wherever_it_stands(begin: str, least: int):
    """
    A key is known by what its issuer begins it with, at either end of a text, in quotes and behind `=`.
    """
    body = ("0A1B2C3D4E5F" * 20 if begin.isupper() else "0a1b2c3d4e5f" * 20)[:least]
    key = f"{begin}{body}"

    for text in (key, f"denied: {key}", f"'{key}'", f"x={key}", f"{key} is revoked"):
        assert body not in redact(text)


def test_several_secrets_in_one_text():
    """
    All secrets of a text are redacted, each with its kind.
    """
    text = "login postgres://app:pw1@db failed; Authorization: Bearer abcd1234; api_key='zzzz9999'"

    assert redact(text) == (
        "login postgres://app:[REDACTED:password]@db failed; Authorization: Bearer [REDACTED:authorization];"
        " api_key='[REDACTED:secret]'"
    )


@given(TEXTS.map(" ".join) | TEXTS.map("".join) | st.text())
def test_redacted_text_holds_no_secret(text: str):
    """
    Redacting is idempotent and raises for no text.
    """
    assert redact(text) == redact(redact(text))


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit",
    [
        "a", "-", "--", "a.", "a-", ".", "=", "'", "eyJ", "eyJa.", "sk-", "sk-a", "://a:", "://a:b@", "token=",
        "token: ",
        "?key=",
        "password='", 'password="', "password a ", "cookie: a=", "authorization: Basic ", "Bearer a", "AKIA", "glpat-a",
        "-----BEGIN PRIVATE KEY-----", "--a-password ", "api_key",
    ],
)  # fmt: skip
def test_hostile_text_takes_linear_time(unit: str):
    """
    A hundred thousand characters of any kind are searched well within a second.
    """
    text = unit * (100_000 // len(unit))

    assert costs_little(lambda: redact(text))
