"""300 kinds of secret, each with a generator that a seed makes repeat."""

from __future__ import annotations

from benchmarks.secrets.blocks import BLOCKS, COOKIES
from benchmarks.secrets.issuers import ISSUERS
from benchmarks.secrets.passwords import PASSWORDS, RANDOM

KINDS = (*PASSWORDS, *RANDOM, *ISSUERS, *BLOCKS, *COOKIES)
