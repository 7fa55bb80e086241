"""Record spans that are not sampled, so that their failures count."""

from __future__ import annotations

import logging
from typing import Any, Final

from opentelemetry.sdk.trace import sampling
from opentelemetry.sdk.version import __version__ as sdk_version

from otel_errcompact.otel import semconv

NEEDED: Final = "1.45"
"""The first SDK with a sampler that records everything."""

_logger = logging.getLogger(semconv.SCOPE)


def record_unsampled(tracers: object) -> sampling.Sampler | None:
    """
    Record the spans that a provider's sampler drops, without export.

    A tracer copies the sampler when it is made: tracers that exist already keep the old one.

    Returns:
        The sampler that was replaced, for `restore_sampler`; None if none was.
    """
    provider: Any = tracers
    sampler = getattr(provider, "sampler", None)
    recording: Any = getattr(sampling, "AlwaysRecordSampler", None)
    if recording is None:
        _logger.warning(
            "spans that are not sampled stay unseen: to record them takes opentelemetry-sdk %s or later, this is %s",
            NEEDED,
            sdk_version,
        )
    elif not isinstance(sampler, sampling.Sampler):
        _logger.warning("spans that are not sampled stay unseen: %r has no sampler to be replaced", tracers)
    elif not isinstance(sampler, recording):
        provider.sampler = recording(sampler)
        return sampler
    return None


def restore_sampler(tracers: object, sampler: sampling.Sampler | None) -> None:
    """Restore the sampler of a provider; existing tracers keep recording."""
    if sampler is not None:
        provider: Any = tracers
        provider.sampler = sampler
