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


def test_secrets_are_no_part_of_a_key():
    """A secret in one further reason leaves the text, and the other reasons stay as they are."""
    texts = [
        f"{FIRST}\n\nerror: no host a\nerror: refused password='{secret}'" for secret in ("hunter two", "swordfish")
    ]
    one, other = map(key, texts)
    assert one == other
    assert "hunter" not in one
    assert "no host a" in one


def test_what_has_a_structure_keeps_its_key():
    """Formats that know what belongs together need no further lines, and neither do broken rules."""
    text = f"{FIRST}\n\nerror: no host a"
    assert key(text) != FIRST
    assert key(text, format="python") == FIRST
    assert key(text, key_is_whole=True) == FIRST
    assert key(text, format="findings", key_is_whole=True) != FIRST
    assert key(f"{FIRST}\n{FIRST}") == FIRST


def test_lines_between_reasons_count_and_those_around_do_not():
    """What a program tells before the first reason is no part; what the last one is about stands behind it."""
    text = f"{FIRST}\nsection Service of depot\nerror: no host a\nin shop.conf"
    assert key(f"{text}\nworkers are idle\nworkers are gone") == key(f"{text}\nworkers are idle") == key(text)
    assert key(text.replace("Service", "Socket")) != key(text) != key(text.replace("shop", "cart"))


def test_chatter_does_not_count():
    """Times, traces of the shell and data in between have no part; nor does the folder of a path."""
    text = f"{FIRST}\nerror: cannot read /srv/a/depot.conf\nerror: no host a"
    noise = "real\t0m1.2s\n+ set -e\nready\n  [1, 2]\n| rows | 3 |"
    assert key(text.replace("\n", f"\n{noise}\n", 1).replace("/srv/a", "/srv/b")) == key(text)
    log = f"{FIRST}\nMar  2 10:11:12 web-a depot[77]: error: no host a"
    assert key(log) == key(log.replace("web-a", "web-b")) != key(log.replace("host a", "host b"))


def test_of_a_list_only_what_it_does_not_hold_counts():
    """A list that a compiler prints is read; what another program says behind it is not."""
    cause = "a.c:1:2: error: unknown type name x"
    read = f"{cause}\nb.c:4:1: error: too few arguments"
    rest = "\n  in function f, which is not used\nErrors Files\nrender: template {} is missing"
    facts = {"format": "compilers", "details": ("b.c:4:1: too few arguments",)}
    assert key(read, **facts) == cause
    assert key(read + rest.format("cart"), **facts) != key(read + rest.format("page"), **facts)
    assert "Errors" not in key(read + rest, **facts)
    assert "function" not in key(read + rest, **facts)
