"""Random values by a form: `sk-{b62:20}` is `sk-` and twenty letters or digits."""

from __future__ import annotations

import base64
import re
import string
import uuid
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

B62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digits": string.digits,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "alpha": string.ascii_letters,
    "b32": string.ascii_uppercase + "234567",
    "b36": string.digits + string.ascii_lowercase,
    "B36": string.digits + string.ascii_uppercase,
    "b62": B62,
    "b64": B62 + "+/",
    "url": B62 + "-_",
    "tilde": B62 + "-_.~",
    "word": B62 + "_",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "symbols": B62 + "!#$%&()*+,-./:;<=>?@[]^_{|}~",
}
FIELD = r"\{(\w+)(?::(\d+)(?:-(\d+))?)?\}"
"""`{alphabet:length}` or `{alphabet:least-most}`; the length of base64 and base64url is in bytes, uuid has none."""


def fill(form: str, rng: Random) -> str:
    """Return `form` with random characters in place of its fields."""
    return re.sub(FIELD, lambda field: _value(field[1], int(field[2] or 0), int(field[3] or field[2] or 0), rng), form)


def base(number: int, alphabet: str, length: int) -> str:
    """Return `number` in the digits of `alphabet`, filled up to `length`."""
    digits = ""
    while number:
        number, digit = divmod(number, len(alphabet))
        digits = alphabet[digit] + digits
    return digits.rjust(length, alphabet[0])


def with_checksum(prefix: str, length: int, rng: Random) -> str:
    """Return a token whose last six characters are the CRC-32 of its body in base 62."""
    body = fill(f"{{b62:{length}}}", rng)
    return prefix + body + base(zlib.crc32(body.encode()), B62, 6)


def encode(raw: bytes) -> str:
    """Return base64 of `raw`."""
    return base64.b64encode(raw).decode()


def encode_for_url(raw: bytes) -> str:
    """Return base64 of `raw` in the alphabet of URLs, without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _value(alphabet: str, least: int, most: int, rng: Random) -> str:
    if alphabet == "uuid":
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    length = rng.randint(least, most)
    if alphabet == "base64":
        return encode(rng.randbytes(length))
    if alphabet == "base64url":
        return encode_for_url(rng.randbytes(length))
    return "".join(rng.choices(ALPHABETS[alphabet], k=length))
