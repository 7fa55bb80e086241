"""Histograms with buckets that fit what they measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.metrics import Histogram, Meter


def histogram(meter: Meter, name: str, unit: str, description: str, buckets: Sequence[float]) -> Histogram:
    """Make a histogram, with these bounds of its buckets unless a view says otherwise."""
    try:
        return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=buckets)
    except TypeError:  # an API before 1.30, where only a view can say what the buckets are
        return meter.create_histogram(name, unit, description)
