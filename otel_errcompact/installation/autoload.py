"""
Provide the entry points of `opentelemetry-instrument`.

None raises into the application, and an import of them costs nothing.

Two entry points lead here. `opentelemetry_pre_instrument` runs when the SDK is set up and no instrumentor has made its
tracer yet, so that a new sampler reaches all of them. `opentelemetry_instrumentor` brings the options of a
configuration file, and comes first where there is one. The first one decides, and the other one does nothing.
"""

from __future__ import annotations

import logging
import os
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from otel_errcompact.installation import DECIDED

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "errcompact"
"""The library's name in the list of disabled instrumentations, and in a configuration file."""

_ENABLED: Final = "OTEL_ERRCOMPACT_ENABLED"
_DISABLED_INSTRUMENTATIONS: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
_SDK_DISABLED: Final = "OTEL_SDK_DISABLED"
_CONFIG_FILE: Final = "OTEL_CONFIG_FILE"
_LOG_LEVEL: Final = "OTEL_LOG_LEVEL"

_OFF: Final = frozenset({"false", "0", "off", "no", "f", "n"})
"""Values that the options read as false; here too, since importing the options costs half of what is switched off."""

_logger = logging.getLogger("otel_errcompact")


def pre_instrument() -> None:
    """Install on the providers of auto-instrumentation, unless switched off or installed already."""
    ErrcompactInstrumentor().load(None)


class ErrcompactInstrumentor:
    """
    The instrumentor, in the shape of OpenTelemetry's loaders.

    It has no base: the upstream one warns about every second call, and auto-instrumentation always makes one.
    """

    is_instrumented_by_opentelemetry: ClassVar[bool] = False
    """Whether this process has decided whether to install."""

    def instrument(self, *, skip_dep_check: bool = False, **options: object) -> None:  # noqa: ARG002 - the loader's argument
        """
        Install with the options of a configuration file.

        Args:
            skip_dep_check: Ignored: there is no dependency to check.
            options: As in `Options`, nested.
        """
        self.load(options)

    def uninstrument(self, **_: object) -> None:
        """Remove everything."""
        from otel_errcompact.installation.install import uninstall

        uninstall()
        type(self).is_instrumented_by_opentelemetry = False

    def load(self, section: Mapping[str, object] | None) -> None:
        """
        Install once, and log what was done.

        Args:
            section: The options of a configuration file; None if it has not been read yet.
        """
        if self.is_instrumented_by_opentelemetry:
            return
        type(self).is_instrumented_by_opentelemetry = True
        DECIDED.append(True)
        try:
            off = _find_off_switch()
            if not off and section is None:
                off, section = _read_file()
            _log_line(f"not loaded: {off}" if off else _install_from_section(section or {}))
        except Exception:  # whatever it is, the application must start
            _logger.exception("not loaded; the application goes on without it")


def _find_off_switch() -> str:
    """Return the variable that switches the plugin off; empty if none does."""
    environ = os.environ
    if environ.get(_ENABLED, "").strip().lower() in _OFF:
        return f"{_ENABLED}={environ[_ENABLED]}"
    if environ.get(_SDK_DISABLED, "").strip().lower() == "true":
        return f"{_SDK_DISABLED}={environ[_SDK_DISABLED]}"
    named = {name.strip() for name in environ.get(_DISABLED_INSTRUMENTATIONS, "").split(",")}
    if named & {NAME, "*"}:
        return f"{_DISABLED_INSTRUMENTATIONS}={environ[_DISABLED_INSTRUMENTATIONS]}"
    return ""


def _read_file() -> tuple[str, Mapping[str, object]]:
    """Return a configuration file's off switch and options for the plugin."""
    path = os.environ.get(_CONFIG_FILE, "")
    if not path:
        return "", {}
    # A distribution of its own, needed only where there is such a file.
    configuration: Any = import_module("opentelemetry.configuration").load_config_file(path)
    if configuration.disabled:
        return f"disabled: true in {path}", {}
    instrumentation = configuration.instrumentation_development
    sections: Any = (instrumentation and instrumentation.python) or {}
    section: dict[str, object] = dict(sections.get(NAME) or {})
    if not section.pop("enabled", True):
        return f"enabled: false in {path}", {}
    return "", section


def _install_from_section(section: Mapping[str, object]) -> str:
    """Install, and return in one line what was done."""
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


def _log_line(line: str) -> None:
    """
    Log one line, on standard error if logging is not ready.

    Only if `OTEL_LOG_LEVEL` asks for it.

    Only then: every Python program that an agent's tool starts is instrumented as well, and the agent may read its
    standard error.
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
