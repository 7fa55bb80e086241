"""`errcompact serve`: the local service, in the foreground."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Final

import typer

SERVE_EPILOG: Final = """\
\b
Examples:
  errcompact serve
  errcompact serve --port 4778 --idle 0
  errcompact serve --stop
  errcompact serve --openapi > service.openapi.json
  curl --unix-socket "$XDG_RUNTIME_DIR/errcompact/errcompact.sock" \\
    -d '{"run": "r1", "tool": "sql", "text": "no such table: orders"}' \\
    http://errcompact/v1/failures
\b
Variables, also for a service that a hook starts:
  OTEL_ERRCOMPACT_SERVICE               the socket
  OTEL_ERRCOMPACT_SERVICE_PORT          as --port
  OTEL_ERRCOMPACT_SERVICE_TOKEN         the file with the token
  OTEL_ERRCOMPACT_SERVICE_IDLE_SECONDS  as --idle
  OTEL_ERRCOMPACT_SERVICE_LOG_LEVEL     debug, info, warning or error
  OTEL_EXPORTER_OTLP_ENDPOINT           where metrics and spans go
\b
Beside the socket, in a folder that only you can open:
  *.lock              held by the service that runs
  *.log               what one that was started on demand logs
  *.token             what requests to the port bring:
                      Authorization: Bearer TOKEN
  *.sqlite3           the runs, which outlive the service
"""


def serve(
    *,
    socket: Annotated[
        Path | None,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="The unix socket; by default errcompact/errcompact.sock in $XDG_RUNTIME_DIR, or "
            "otel-errcompact/service/errcompact.sock in ~/.local/state.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65_535,
            metavar="N",
            help="Also listen on this port of 127.0.0.1, for hosts that need a URL; 0 for any free one.",
        ),
    ] = None,
    idle: Annotated[
        float | None,
        typer.Option(
            "--idle",
            min=0,
            metavar="SECONDS",
            help="End after so long without a request; 0 for never.  [default: 1800]",
        ),
    ] = None,
    store: Annotated[
        str,
        typer.Option(
            "--store",
            metavar="STORE",
            help="Where runs live: memory, sqlite:///path or redis://host. By default a file beside the socket.",
        ),
    ] = "",
    otlp: Annotated[
        bool,
        typer.Option(
            "--otlp",
            help="Also receive telemetry by OTLP on 127.0.0.1, ports 4318 and 4317 (gRPC), and count its failed calls.",
        ),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a service that runs, to start again with other options.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the service that runs, and do nothing else.")] = False,
    openapi: Annotated[
        bool, typer.Option("--openapi", help="Print the OpenAPI document of its interface, and do nothing else.")
    ] = False,
) -> None:
    """
    Serve agents that are no Python programs of yours.

    Hooks of coding agents, and programs in any language, report their tool calls over HTTP, and read digests and
    verdicts. There is one service for each machine and user: where one answers already, this says so and ends; an
    older release is replaced. A hook that finds none starts one, which ends when it is idle; its runs are kept. It
    exports by OTLP as any installation does.
    """
    from otel_errcompact.config import ServiceOptions
    from otel_errcompact_hosts.ports import logs
    from otel_errcompact_hosts.service import serving
    from otel_errcompact_hosts.service.places import find_places
    from otel_errcompact_lab.cli.output import FINE, INCOMPLETE, say, write_json

    if openapi:
        write_json(serving.describe(), indent=2)
        return
    if stop:
        raise typer.Exit(FINE if serving.stop(find_places(socket), say) else INCOMPLETE)
    given = ServiceOptions.from_environ()
    logs.set_up_log(given.log_level)
    settings = serving.ServiceSettings(
        places=find_places(socket, given.token),
        port=given.port if port is None else port,
        idle_seconds=given.idle_seconds if idle is None else idle,
        store=store,
        replace=replace,
        otlp=otlp,
    )
    serving.serve(settings, say)
