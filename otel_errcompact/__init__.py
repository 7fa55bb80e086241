"""
Compact, count and escalate the errors of LLM agents, on OpenTelemetry.

The names of a first page are here; all else is imported from its module. Each name is imported at its first use:
the core never loads OpenTelemetry.
"""

from __future__ import annotations

# `typing` takes longer to import than all that `errcompact exec` runs before a command.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from otel_errcompact.boundary import Call, Run, compacted, current_run, run
    from otel_errcompact.config import Options
    from otel_errcompact.escalator.actions import Continue, Halt, Pause
    from otel_errcompact.escalator.escalation import Escalation
    from otel_errcompact.escalator.exceptions import RunHalted, RunPaused
    from otel_errcompact.escalator.thresholds import Thresholds
    from otel_errcompact.installation.install import install, uninstall

    __version__: str

_MODULES: Final = {
    ".boundary": ("Call", "Run", "compacted", "current_run", "run"),
    ".config": ("Options",),
    ".escalator.actions": ("Continue", "Halt", "Pause"),
    ".escalator.escalation": ("Escalation",),
    ".escalator.thresholds": ("Thresholds",),
    ".escalator.exceptions": ("RunHalted", "RunPaused"),
    ".installation.install": ("install", "uninstall"),
}

__all__ = [
    "Call",
    "Continue",
    "Escalation",
    "Halt",
    "Options",
    "Pause",
    "Run",
    "RunHalted",
    "RunPaused",
    "Thresholds",
    "compacted",
    "current_run",
    "install",
    "run",
    "uninstall",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _read_version()
    from otel_errcompact.runtime.forks import load_name

    return load_name(__name__, _MODULES, name)


def _read_version() -> str:
    # Imported here: it costs more than the whole of this module.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("otel-errcompact")
    except PackageNotFoundError:
        return "unknown"


def __dir__() -> list[str]:
    return __all__
