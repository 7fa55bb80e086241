"""
Lend a global provider, and follow those that the application sets.

The API lets a global provider be set once. What a library sets there, an application's own set-up cannot replace: its
exporters would get nothing. So a tracer provider of ours is only lent, and all others are never put there.
"""

from __future__ import annotations

import logging
import weakref
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Span, Tracer

_SLOTS: Final = (
    ("opentelemetry.trace", "_set_tracer_provider"),
    ("opentelemetry.metrics._internal", "_set_meter_provider"),
    ("opentelemetry._logs._internal", "_set_logger_provider"),
)
"""Where the API keeps what sets a global provider, behind the public function."""

_LENT: Final = "_TRACER_PROVIDER"

_logger = logging.getLogger(semconv.SCOPE)
_followers: Final[list[Callable[[], object]]] = []


def is_placeholder(provider: object) -> bool:
    """
    Return whether a provider is the API's stand-in.

    That is, for one that is set later.

    By the name of its class, which for meters is private: an instrument that is made there cannot be made again on the
    real one. A class of that name that is not the API's is a real provider.
    """
    kind = type(provider)
    return kind.__module__.startswith("opentelemetry.") and kind.__name__.lstrip("_").startswith("Proxy")


def follow_global_providers(call: Callable[[], object]) -> None:
    """
    Call a function whenever a global provider has been set.

    Replaces the private functions behind `set_tracer_provider` and its siblings, since the API calls no one back.
    Where one is missing, a provider that is set later is not joined.
    """
    if call in _followers:
        return
    _followers.append(call)
    if len(_followers) == 1:
        for module, name in _SLOTS:
            _call_after(import_module(module), name)


def _call_after(module: Any, name: str) -> None:
    original = getattr(module, name, None)
    if original is None:
        return

    def set_and_call(*args: Any, **keywords: Any) -> None:
        original(*args, **keywords)
        for call in tuple(_followers):
            try:
                call()
            except Exception:  # whatever it is, the application's own set-up is done
                _logger.exception("a global provider was not joined; the application is not affected")

    setattr(module, name, set_and_call)


class LentTracerProvider(TracerProvider):
    """
    Makes spans until the application sets a tracer provider of its own.

    Then the tracers that were given out make them there.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._lent: Final[weakref.WeakSet[_LentTracer]] = weakref.WeakSet()

    def get_tracer(self, *args: Any, **keywords: Any) -> Tracer:
        """Return a tracer, as the SDK does."""
        tracer = _LentTracer(super().get_tracer(*args, **keywords), args, keywords)
        self._lent.add(tracer)
        return tracer

    def lend(self) -> None:
        """
        Be the global tracer provider until the application sets one.

        Sets `_TRACER_PROVIDER` without the API's mark that it is set. Where there is no such name, nothing is lent.
        """
        if hasattr(trace, _LENT):
            setattr(trace, _LENT, self)

    def hand_over(self, provider: trace.TracerProvider) -> None:
        """Let the given tracers make their spans elsewhere."""
        for tracer in tuple(self._lent):
            tracer.move_to(provider)


class _LentTracer(trace.Tracer):
    def __init__(self, tracer: Tracer, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self._tracer = tracer
        self._identity: Final = args, keywords

    def move_to(self, provider: trace.TracerProvider) -> None:
        args, keywords = self._identity
        self._tracer = provider.get_tracer(*args, **keywords)

    def start_span(self, *args: Any, **keywords: Any) -> Span:
        return self._tracer.start_span(*args, **keywords)

    def start_as_current_span(self, *args: Any, **keywords: Any) -> Any:
        return self._tracer.start_as_current_span(*args, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tracer, name)
