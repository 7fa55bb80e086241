"""Ids by position and by look: one template whatever the id."""

from __future__ import annotations

import random
import string
import uuid
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.dedup.ids import find_labelled
from otel_errcompact.dedup.masking import mask
from tests.clock import costs_little

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = 60
BASE62 = string.ascii_letters + string.digits
BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
HEXADECIMAL = "0123456789abcdef"


def pick(alphabet: str, length: int, start: str = "") -> Callable[[random.Random], str]:
    """Return what makes random texts of an alphabet."""
    return lambda chance: start + "".join(chance.choice(alphabet) for _ in range(length))


KINDS: dict[str, Callable[[random.Random], str]] = {
    "UUID": lambda chance: str(uuid.UUID(int=chance.getrandbits(128))),
    "UUID in capitals": lambda chance: str(uuid.UUID(int=chance.getrandbits(128))).upper(),
    "32 hexadecimal digits": pick(HEXADECIMAL, 32),
    "16 hexadecimal digits": pick(HEXADECIMAL, 16),
    "8 hexadecimal digits": pick(HEXADECIMAL, 8),
    "base62 of 22": pick(BASE62, 22),
    "base62 of 16": pick(BASE62, 16),
    "nanoid": pick(BASE62 + "_-", 21),
    "ULID": pick(BASE32, 24, "01"),
    "KSUID": pick(BASE62, 27),
    "decimal": lambda chance: str(chance.randrange(1_000, 10 ** chance.randrange(4, 9))),
    "snowflake": lambda chance: str(chance.randrange(10**17, 10**19)),
    "base64url": pick(BASE62 + "_-", 43),
    "base64": lambda chance: pick(BASE62 + "+/", 22)(chance) + "==",
    "groups with dashes": lambda chance: "-".join(pick(HEXADECIMAL, 4)(chance) for _ in range(3)),
    "trace of a cloud": lambda chance: f"1-{pick(HEXADECIMAL, 8)(chance)}-{pick(HEXADECIMAL, 24)(chance)}",
    "with a prefix": pick(BASE62, 24, "req_"),
}
KNOWN_BY_LOOK = (
    "UUID", "UUID in capitals", "32 hexadecimal digits", "base62 of 22", "ULID", "KSUID", "base64url", "with a prefix",
)  # fmt: skip
LABELS = (
    "upload failed: id={}",
    "refused, Request ID: {}",
    "{{'request_id': '{}'}} was refused",
    "refused, trace_id={}, retry",
    "x-amzn-requestid: {}",
    "failed correlation-id: {} (late)",
    'pod "{}" not found',
    "session {} has expired",
    "unknown token id {}",
    "quote reference {}.",
    "job {} failed",
    "digest: sha256:{} is unknown",
    'ETag: "{}" differs',
    '{{"requestId":"{}","code":"Busy"}}',
    "gone [request_id={}]",
    "no order with id `{}`",
    '{{\\"span_id\\": \\"{}\\"}}',
    "the deployment id is {}",
)
PLACES = ("object {} is gone", "no such thing: '{}'", "({}) was refused", "/v1/items/{}/parts", "/srv/cache/{}.json")


def make(kind: str, position: str) -> set[str]:
    """Return the templates of a position with many ids of one kind."""
    chance = random.Random(f"{kind} {position}")
    return {mask(position.format(KINDS[kind](chance))) for _ in range(VALUES)}


@pytest.mark.parametrize("position", LABELS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_label_makes_an_id_of_whatever_follows(kind: str, position: str):
    """One kind of id in one position has one template, and the template is its own."""
    templates = make(kind, position)

    assert len(templates) == 1
    assert {mask(template) for template in templates} == templates


@pytest.mark.parametrize("position", [each for each in LABELS if "pod" not in each])
def test_kinds_of_ids_share_a_template(position: str):
    """Behind a label it does not matter what the id looks like."""
    kinds = [kind for kind in KINDS if kind != "with a prefix" or ("id" in position.lower() and "job" not in position)]

    assert len({template for kind in kinds for template in make(kind, position)}) == 1


@pytest.mark.parametrize("position", PLACES)
@pytest.mark.parametrize("kind", KNOWN_BY_LOOK)
def test_long_ids_are_known_by_their_look(kind: str, position: str):
    """Without a label an id is known by its length and its disorder."""
    assert len(make(kind, position)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "the id is missing", "KeyError: 'id'", "id=None", "user_id: Field required", "session expired", "job failed",
        "Unexpected token id", "model_id=claude-3-5-sonnet-20241022", "plugin id: com.android.application2",
        "Request 404 Not Found", "couldn't find remote ref feature-42", "undefined reference to `vtable for Foo2'",
        "NoSuchJsonPathError", "InvalidS3KmsKeyArnException", "testIPv6AddressTooLarge", "getElementsByTagNameNS",
        "TLS_AES_256_GCM_SHA384", "DeepSeek-R1-Distill-Qwen-32B", "x86_64-unknown-linux-gnu", "job build-linux failed",
        "request id: InvalidParameterValue", "TestUtf8ToUtf16Conversion",
    ],
)  # fmt: skip
def test_names_are_no_ids(text: str):
    """Words behind labels, and long names, stay."""
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ('pod "web-6d4cf56db6-x2x7z"', 'pod "web-<id>"'),
        ("pod migrate-kqzvw", "pod migrate-<id>"),
        ("pod cache-0 is gone", "pod cache-<id> is gone"),
        ("pod 4f3a-55f3-1e95 is gone", "pod <id> is gone"),
        ("model id 3f0d9a52-6b1e-4d7a-8c35-0e9b7d41f6a8", "model id <id>"),
        ("on ip-10-0-3-7.ec2.internal, host-17", "on ip-<id>.ec2.internal, host-<id>"),
        ("request id: job-4f3a55f31e95", "request id: <id>"),
        ("job ingest-4f3a55f31e95 failed", "job ingest-<id> failed"),
        ("request id: kqzvwxbcdfghjklmnp", "request id: <id>"),
        ("id: deadbeef", "id: <id>"),
        (f"in {'AbC1dEf2' * 9}", "in <id>"),
    ],
)
def test_names_keep_what_they_mean(text: str, template: str):
    """What makes one of several goes, the rest of the name stays."""
    assert mask(text) == template
    assert mask(template) == template


def test_what_a_label_masks_is_named():
    """A number behind a noun counts something, and stays."""
    said = "order 17 of request 8f3a9b1c2d4e"
    assert list(find_labelled(said)) == [("request 8f3a9b1c2d4e", "request <id>")]


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit", ["id=", "id: A1b", "pod a-", "Aa", "A1", "ABCDEF", "12-", "session AbC1", '\\"id\\": ']
)
def test_labels_take_linear_time(unit: str):
    """A hundred thousand characters of labels and ids are masked in a moment."""
    text = unit * (100_000 // len(unit))

    assert costs_little(lambda: mask(text))
