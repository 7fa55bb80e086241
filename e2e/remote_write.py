"""Made-up series with their past, written by Prometheus' own protocol: labels stand once beside many samples."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable

SLAB_S: Final = 1_800
"""Seconds of the past, sent at once: Prometheus refuses what is an hour older than its newest sample."""

SERIES_AT_ONCE: Final = 5_000
HEADERS: Final = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """
    A series, and how its values go.
    """

    labels: tuple[tuple[str, str], ...]
    begin: float
    """Since when there are samples."""

    base: float = 1.0
    rate: float = 0.0

    def value(self, at: float) -> float:
        """Return the value at a time."""
        return self.base + int(self.rate * (at - self.begin))


def write(address: str, series: Iterable[Series], times: range) -> None:
    """Write the samples of series at these times, in whole seconds; Prometheus has to run as a receiver."""
    encoded = [(b"".join(_field(1, _label(*label)) for label in each.labels), each) for each in series]
    steps = SLAB_S // times.step
    with httpx.Client(trust_env=False, timeout=120) as client:
        for first in range(0, len(times), steps):
            slab = times[first : first + steps]
            for start in range(0, len(encoded), SERIES_AT_ONCE):
                body = b"".join(
                    _field(1, labels + samples)
                    for labels, each in encoded[start : start + SERIES_AT_ONCE]
                    if (samples := _samples(each.begin, each.base, each.rate, slab))
                )
                answer = client.post(f"{address}/api/v1/write", content=_snappy(body), headers=HEADERS)
                assert answer.is_success, answer.text[:1_000]


@lru_cache(1_000)
def _samples(begin: float, base: float, rate: float, times: range) -> bytes:
    made = Series(labels=(), begin=begin, base=base, rate=rate)
    return b"".join(_field(2, _sample(made.value(at), at)) for at in times if at >= begin)


def _sample(value: float, at: int) -> bytes:
    return b"\x09" + struct.pack("<d", value) + b"\x10" + _varint(at * 1_000)


def _label(name: str, value: str) -> bytes:
    return _field(1, name.encode()) + _field(2, value.encode())


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _snappy(data: bytes) -> bytes:
    """Return data in the form of Snappy's blocks, as literals, which compress nothing."""
    parts = (data[at : at + 65_536] for at in range(0, len(data), 65_536))
    return _varint(len(data)) + b"".join(b"\xf4" + struct.pack("<H", len(part) - 1) + part for part in parts)
