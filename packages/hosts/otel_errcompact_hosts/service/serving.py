"""Serve the ledger of this process until it is stopped or idle."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import otel_errcompact
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.exceptions import MissingExtraError
from otel_errcompact.installation.install import current_meter_provider, install
from otel_errcompact.otel import semconv
from otel_errcompact.otel.metrics.instruments import Telemetry
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.calls import find_way_back
from otel_errcompact_hosts.heard import Heard
from otel_errcompact_hosts.ports.edge import Activity, Edge, Gate
from otel_errcompact_hosts.ports.sockets import LOOPBACK, bind_agreed_port, bind_path, bind_port, read_token
from otel_errcompact_hosts.runs import LedgerRuns
from otel_errcompact_hosts.service.lifecycle import find_running, stop_running, take_over
from otel_errcompact_hosts.service.places import SERVICE_PACKAGES, prepare_folder
from otel_errcompact_hosts.service.processes import start_mark

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from fastapi import FastAPI
    from uvicorn import Server

    from otel_errcompact_hosts.service.places import Places
    from otel_errcompact_hosts.telemetry.serving import TelemetryServer

_logger: Final = logging.getLogger(semconv.SCOPE)

NAME: Final = "errcompact-service"
"""What the service is called in telemetry, unless `OTEL_SERVICE_NAME` gives it another name."""

TELEMETRY: Final = " (telemetry)"
"""What the names of agents end with in metrics, where telemetry has reported the call and no hook."""

_LOOK_S: Final = 1.0
_LOOKS: Final = 4
"""How often in the idle time it is looked at, at least."""

_UNAUTHORIZED: Final = (
    "this port needs the header 'Authorization: Bearer TOKEN'; 'errcompact serve' says at its start where the token is"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """How the service listens and ends."""

    places: Places
    port: int | None = None
    """A port of 127.0.0.1 beside the socket; 0 for any free one."""

    idle_seconds: float = 1_800
    """After how many seconds without a request it ends; 0 for never."""

    store: str = ""
    """Where runs live, as `Options.store` has it; a file beside the socket if empty and no variable names another."""

    otlp: bool = False
    """Whether telemetry is received too, on the standard ports of OTLP."""

    replace: bool = False
    """Whether a service that answers is replaced, whatever its release."""


def serve(settings: ServiceSettings, say: Callable[[str], None]) -> None:
    """
    Serve until a signal or the idle time.

    Return at once where another service answers.

    Raises:
        ConfigurationError: A place or the port cannot be used.
        MissingExtraError: The extra `serve` is not installed.
        ServiceError: Another process is in the way.
    """
    require_extra()
    from otel_errcompact_hosts.ports.connections import make_server

    places = settings.places
    prepare_folder(places)
    lock = take_over(places, otel_errcompact.__version__, replace=settings.replace, say=say)
    if lock is None:
        places.starting.unlink(missing_ok=True)
        return
    listener = bind_agreed_port(places.port) if settings.port is None else bind_port(settings.port)
    token, port = (read_token(places.token), listener.getsockname()[1]) if listener is not None else ("", None)
    app, runs, activity = _make_app(settings, token, port)
    telemetry = _receive_telemetry(runs, activity) if settings.otlp else None
    # The last step before it answers: who meets the socket without an answer waits in vain.
    listeners = [*filter(None, [listener]), bind_path(places.socket)]
    places.starting.unlink(missing_ok=True)
    at_port = f" and http://{LOOPBACK}:{port}, token in {places.token}" if port else ""
    say(f"listening on {places.socket}{at_port}{f'; {telemetry}' if telemetry is not None else ''}")
    server = make_server(app)
    watch = _Watch(places.socket, runs)
    for number in (signal.SIGTERM, signal.SIGINT):  # the server takes them over, and raises them again at its end
        signal.signal(number, watch.note_signal)
    try:
        asyncio.run(_run_server(server, listeners, settings.idle_seconds, activity, watch))
    finally:
        if telemetry is not None:
            telemetry.close()
        if not watch.is_cut_off():  # else another service may listen there
            places.socket.unlink(missing_ok=True)
        os.close(lock)
    # Exporters send what they still have when the interpreter ends.
    _logger.info("ended")


def stop(places: Places, say: Callable[[str], None]) -> bool:
    """End the service that answers; return whether there was one."""
    running = find_running(places.socket)
    if running is None:
        say(f"no service answers at {places.socket}")
        return False
    stop_running(running, places.socket)
    say(f"ended: {running}")
    return True


def describe() -> dict[str, Any]:
    """Return the OpenAPI document of the interface."""
    require_extra()
    from otel_errcompact_hosts.service.api import create_app

    return create_app(LedgerRuns(), {}).openapi()


def require_extra() -> None:
    """Check that what the service needs is installed."""
    try:
        for name in SERVICE_PACKAGES:
            import_module(name)
    except ImportError as error:
        raise MissingExtraError("the local service", "serve") from error


def _receive_telemetry(runs: LedgerRuns, activity: Activity) -> TelemetryServer:
    from otel_errcompact_hosts.telemetry.counting import ReportedRuns
    from otel_errcompact_hosts.telemetry.receiver import Receiver
    from otel_errcompact_hosts.telemetry.serving import TelemetryServer

    # Anybody on the machine may send it: it shares neither runs, nor names of metrics, nor the trajectory with what
    # hooks report.
    ledger = Ledger(runs.ledger.options)
    ledger.listeners.add(Telemetry(current_meter_provider(), ledger))
    receiver = Receiver(ReportedRuns(ledger), is_hooked=runs.is_hooked, source=TELEMETRY)
    return TelemetryServer(receiver, activity=activity)


def _make_app(settings: ServiceSettings, token: str, port: int | None) -> tuple[Any, LedgerRuns, Activity]:
    from otel_errcompact_hosts.service.api import create_app

    installation = install(options=_read_options(settings), service_name=NAME)
    runs = LedgerRuns(ledger=installation.ledger)
    runs.heard = Heard(settings.places.data)
    health = {
        "version": otel_errcompact.__version__,
        "pid": os.getpid(),
        "process": start_mark(os.getpid()),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "port": port,
    }
    app: FastAPI = create_app(runs, health)
    activity = Activity()
    gate = Gate(token=token, hint=_UNAUTHORIZED)
    return Edge(app, activity, gate, kind=b"application/json"), runs, activity


def _read_options(settings: ServiceSettings) -> Options:
    options, places = Options.from_environ(), settings.places
    if options.trajectory.enabled:  # else nothing is kept that could be cut
        options = options.with_way_back(find_way_back())
    if not settings.store and "store" in options.model_fields_set:
        return options
    return options.model_copy(update={"store": settings.store or f"sqlite:///{quote(str(places.store))}"})


class _Watch:
    def __init__(self, socket: Path, runs: LedgerRuns) -> None:
        self.is_signalled = False
        self._socket = socket
        self._runs = runs
        self._found = _identify_file(socket)

    def note_signal(self, _: int, __: object) -> None:
        self.is_signalled = True

    def may_end(self) -> bool:
        # In memory alone, the end would forget that a run was stopped.
        runs = self._runs
        return runs.ledger.store.is_shared or not any(
            runs.verdict(run_id).stopped for run_id in runs.ledger.store.run_ids()
        )

    def is_cut_off(self) -> bool:
        # Its folder was removed, as a test or a logout does.
        return _identify_file(self._socket) != self._found


def _identify_file(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


async def _run_server(
    server: Server,
    listeners: list[socket.socket],
    idle_seconds: float,
    activity: Activity,
    watch: _Watch,
) -> None:
    serving = asyncio.create_task(server.serve(sockets=listeners))
    look = min(_LOOK_S, idle_seconds / _LOOKS) if idle_seconds else _LOOK_S
    while not serving.done():
        await asyncio.wait({serving}, timeout=look)
        if idle_seconds and activity.idle_seconds >= idle_seconds and watch.may_end():
            _logger.info("no request for %g seconds", idle_seconds)
            server.should_exit = True
        elif watch.is_cut_off():
            _logger.warning("the socket is gone, so that no client finds this service")
            server.should_exit = True
        elif watch.is_signalled:  # before the server has taken signals over
            server.should_exit = True
    with suppress(asyncio.CancelledError):
        await serving
