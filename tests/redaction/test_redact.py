"""How secrets leave a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.redaction.issued import ISSUED
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
