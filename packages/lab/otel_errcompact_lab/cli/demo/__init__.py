"""`errcompact demo`: a scripted agent with real tools that really fail."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv
from otel_errcompact_lab.cli.demo.agent import MODEL
from otel_errcompact_lab.cli.demo.narrative import open_console, write_opening, write_repeat, write_step, write_summary
from otel_errcompact_lab.cli.demo.session import AGENT, model_calls, play
from otel_errcompact_lab.cli.demo.telemetry import telemetry
from otel_errcompact_lab.cli.output import FINE, UNWRITABLE, say_unwritten
from otel_errcompact_lab.cli.sources import check_appendable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from otel_errcompact_lab.cli.demo.session import Session, Step
    from otel_errcompact_lab.cli.demo.telemetry import Telemetry

TRAJECTORY: Final = Path("errcompact-trajectory-demo.jsonl")


def demo(*, plain: bool = False, trajectory: Path | None = None, repeat: int = 1, pause_s: float = 0) -> int:
    """
    Let a scripted agent work, and print its session.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: The trajectory cannot be written, or OpenTelemetry is switched off.
    """
    file = _open_file(trajectory, anew=False) if trajectory else _open_file(TRAJECTORY, anew=True)
    console = open_console(plain=plain)
    with _until_interrupted() if repeat != 1 else nullcontext(), telemetry(file) as running:
        write_opening(console)
        session = _play_session(partial(write_step, console), running)
        write_summary(console, session, running.signals(), file)
        for number in range(2, repeat + 1) if repeat else count(2):
            time.sleep(pause_s)
            write_repeat(console, number, _play_session(lambda _: None, running))
    if running.unwritten:
        say_unwritten(file, running.unwritten)
        return UNWRITABLE
    return FINE


def _play_session(show: Callable[[Step], None], running: Telemetry) -> Session:
    session = play(show, running.tracer_provider)
    # As an agent framework would after each call of a model; ours is a script, so that all of it is estimated.
    for prompt, answer in model_calls(session.steps):
        running.usage.record(prompt, semconv.TOKENS_IN, agent=AGENT, model=MODEL)
        running.usage.record(answer, semconv.TOKENS_OUT, agent=AGENT, model=MODEL)
    return session


@contextmanager
def _until_interrupted() -> Generator[None]:
    # An interrupt, or the signal that stops a container, ends the block as if it were done.
    # What a shell starts in the background ignores the first.
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.default_int_handler) for number in signals}
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_file(path: Path, *, anew: bool) -> Path:
    path = path.absolute()
    check_appendable(path, "--trajectory")
    if anew:
        # A file of an earlier version may be readable by others.
        path.chmod(0o600)
        os.truncate(path, 0)
    return path
