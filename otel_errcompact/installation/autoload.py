"""
What `opentelemetry-instrument` loads. Nothing here raises into the application, and importing it costs nothing.

Two entry points lead here. `opentelemetry_pre_instrument` runs when the SDK is set up and no instrumentor has made its
tracer yet, so that a sampler put in its place reaches all of them. `opentelemetry_instrumentor` brings the options of a
configuration file, and comes first where there is one. Whichever comes first decides, and the other one is silent.
"""

from __future__ import annotations

import logging
import os
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "errcompact"
"""How we are called in the list of instrumentations that are switched off, and in a configuration file."""

_ENABLED: Final = "OTEL_ERRCOMPACT_ENABLED"
_DISABLED_INSTRUMENTATIONS: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
_SDK_DISABLED: Final = "OTEL_SDK_DISABLED"
_CONFIG_FILE: Final = "OTEL_CONFIG_FILE"
_LOG_LEVEL: Final = "OTEL_LOG_LEVEL"

_OFF: Final = frozenset({"false", "0", "off", "no", "f", "n"})
"""What the options read as false. They are not asked: reading them takes half of what is switched off."""

_logger = logging.getLogger("otel_errcompact")


def pre_instrument() -> None:
    """Install on the providers that auto-instrumentation has set up, unless it is switched off or done already."""
    ErrcompactInstrumentor().load(None)


class ErrcompactInstrumentor:
    """
    The instrumentor, in the shape that OpenTelemetry's loaders ask for.

    It has no base: the upstream one warns about every second call, and auto-instrumentation always makes one.
    """

    is_instrumented_by_opentelemetry: ClassVar[bool] = False
    """Whether it has been decided in this process, either way, whether to install."""

    def instrument(self, *, skip_dep_check: bool = False, **options: object) -> None:  # noqa: ARG002 - the loader's argument
        """
        Install, with the options that a configuration file has for it.

        Args:
            skip_dep_check: Nothing is instrumented that could be missing.
            options: As in `Options`, nested.
        """
        self.load(options)

    def uninstrument(self, **_: object) -> None:
        """Take everything out again."""
        from otel_errcompact.installation.install import uninstall

        uninstall()
        type(self).is_instrumented_by_opentelemetry = False

    def load(self, section: Mapping[str, object] | None) -> None:
        """
        Install once, and say what was done.

        Args:
            section: What a configuration file says; None if that is yet to be found out.
        """
        if self.is_instrumented_by_opentelemetry:
            return
        type(self).is_instrumented_by_opentelemetry = True
        try:
            off = _switched_off()
            if not off and section is None:
                off, section = _in_file()
            _say(f"not loaded: {off}" if off else _load(section or {}))
        except Exception:  # whatever it is, the application must start
            _logger.exception("not loaded; the application goes on without it")


def _switched_off() -> str:
    """Which variable switches the plugin off; empty if none does."""
    environ = os.environ
    if environ.get(_ENABLED, "").strip().lower() in _OFF:
        return f"{_ENABLED}={environ[_ENABLED]}"
    if environ.get(_SDK_DISABLED, "").strip().lower() == "true":
        return f"{_SDK_DISABLED}={environ[_SDK_DISABLED]}"
    named = {name.strip() for name in environ.get(_DISABLED_INSTRUMENTATIONS, "").split(",")}
    if named & {NAME, "*"}:
        return f"{_DISABLED_INSTRUMENTATIONS}={environ[_DISABLED_INSTRUMENTATIONS]}"
    return ""


def _in_file() -> tuple[str, Mapping[str, object]]:
    """What a configuration file says: what switches the plugin off there, and its options."""
    path = os.environ.get(_CONFIG_FILE, "")
    if not path:
        return "", {}
    # A distribution of its own, which only those need who have such a file.
    configuration: Any = import_module("opentelemetry.configuration").load_config_file(path)
    if configuration.disabled:
        return f"disabled: true in {path}", {}
    instrumentation = configuration.instrumentation_development
    sections: Any = (instrumentation and instrumentation.python) or {}
    section: dict[str, object] = dict(sections.get(NAME) or {})
    if not section.pop("enabled", True):
        return f"enabled: false in {path}", {}
    return "", section


def _load(section: Mapping[str, object]) -> str:
    """Install, and tell in one line what was done."""
    from otel_errcompact.config import Options
    from otel_errcompact.installation.install import install

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options = Options.from_section(section)
    for warning in caught:
        _logger.warning("%s", warning.message)
    added = install(options=options, automatic=True)
    watched = "spans are watched" if added.processor is not None else "no spans are watched, only our own calls"
    if added.replaced_sampler is not None:
        watched += ", those not sampled too"
    kept = "kept nowhere" if added.trajectory is None else f"kept in {added.trajectory.path}"
    return f"loaded by auto-instrumentation: {watched}, raw errors are {kept}; {_ENABLED}=false switches it off"


def _say(line: str) -> None:
    """
    Log one line; on standard error too, if the standard's variable asks for it and logging is not set up yet.

    Not unasked: every Python program that a tool of an agent starts is instrumented as well, and the agent may read
    what it writes to standard error.
    """
    shown = None
    if os.environ.get(_LOG_LEVEL, "").strip().lower() in {"info", "debug"} and not _logger.hasHandlers():
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        _logger.addHandler(shown)
        _logger.setLevel(logging.INFO)
    _logger.info("%s", line)
    if shown is not None:
        _logger.removeHandler(shown)
        _logger.setLevel(logging.NOTSET)
