"""The key of a text without structure takes in every reason that it gives."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import Facts
from otel_errcompact.extract.evidence.keyed import MAX_REASONS, key_reasons

FIRST = "error: unknown section 'Instal' in depot.service"


def key(text: str, **facts: object) -> str:
    """Return what counts for the key of a text that begins with its cause."""
    found = Facts(type="error", cause=text.partition("\n")[0], **facts)  # type: ignore[arg-type]
    return key_reasons(found, text).keyed_cause


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{FIRST}\n\nrelation stock is locked", f"{FIRST}\n\nrelation orders is missing"),
        (f"{FIRST}\n\nerror: no host a", f"{FIRST}\n\nerror: no host b"),
    ],
)
def test_another_further_reason_is_another_class(one: str, other: str):
    """Failures that begin alike differ in what they say next."""
    assert key(one) != key(other)


@pytest.mark.parametrize(
    "text",
    [
        f"{FIRST}\n\nerror: no host b\nerror: no host a",
        f"{FIRST}\n\nerror: no host a\nerror: no host b\nerror: no host a",
        f"{FIRST}\n\nerror: no host a\nINFO: 3 workers\nready\nerror: no host b",
    ],
    ids=["order", "count", "noise"],
)
def test_order_counts_and_noise_do_not_matter(text: str):
    """Further reasons are a set."""
    assert key(text) == key(f"{FIRST}\n\nerror: no host a\nerror: no host b")


def test_further_reasons_are_bounded():
    """A long list ends somewhere."""
    lines = [f"error: no host {chr(97 + number)}" for number in range(MAX_REASONS)]
    text = "\n\n".join((FIRST, *lines))
    assert key(f"{text}\n\nerror: no host y") == key(f"{text}\n\nerror: no host z")


def test_what_has_a_structure_keeps_its_key():
    """Formats that know what belongs together need no further lines, and a whole key is whole."""
    text = f"{FIRST}\n\nerror: no host a"
    assert key(text) != FIRST
    assert key(text, format="python") == key(text, key_is_whole=True) == FIRST
    assert key(f"{FIRST}\n{FIRST}") == FIRST
