"""`errcompact demo`: the main job, end to end, with real tools that really fail."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from otel_errcompact.cli.demo.account import write_account, write_opening, write_step
from otel_errcompact.cli.demo.paper import paper
from otel_errcompact.cli.demo.session import play
from otel_errcompact.cli.demo.telemetry import telemetry
from otel_errcompact.exceptions import ConfigurationError

TRAJECTORY: Final = Path("errcompact-trajectory-demo.jsonl")


def demo(*, plain: bool = False, trajectory: Path | None = None) -> None:
    """
    Let a scripted agent work, and print what came of it.

    Args:
        plain: Neither colours nor drawn boxes.
        trajectory: Where the raw errors are appended to; a file in the working directory, made anew, if None.

    Raises:
        ConfigurationError: The trajectory cannot be written, or OpenTelemetry is switched off.
    """
    file = _writable(trajectory, anew=False) if trajectory else _writable(TRAJECTORY, anew=True)
    page = paper(plain=plain)
    with telemetry(file) as running:
        write_opening(page)
        session = play(partial(write_step, page), running.tracer_provider)
        write_account(page, session, running.signals(), file)


def _writable(path: Path, *, anew: bool) -> Path:
    path = path.absolute()
    try:
        path.open("wb" if anew else "ab").close()
    except OSError as error:
        raise ConfigurationError(f"trajectory {path}: {error.strerror}; give another one with --trajectory") from error
    return path
