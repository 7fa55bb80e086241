"""The whole stack on loopback addresses of its own, with the configuration files and the arguments that are shipped."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from e2e.backends import Alertmanager, Backends, Jaeger, Prometheus, VictoriaLogs
from e2e.build import program as built
from e2e.programs import Program, free_ports
from e2e.recipes import ROOT
from e2e.webhook import Webhook
from tests.stack.compose import JAEGER, services

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

HOST: Final = "127.0.0.1"
PORTS: Final = (
    "prometheus",
    "alertmanager",
    "jaeger",
    "jaeger_grpc",
    "jaeger_otlp",
    "jaeger_health",
    "victorialogs",
    "collector_grpc",
    "collector_http",
    "collector_health",
    "collector_pages",
)
SHIPPED: Final = ("collector-config", "dashboards/generated")
CONTAINER_FOLDER: Final = "/etc/errcompact"
"""Where the containers see what is shipped."""

WEBHOOK_FILE: Final = "/run/secrets/alert-webhook-url"
"""Where Alertmanager's container sees the address to notify."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """
    The running programs, and where each can be reached.
    """

    prometheus: str
    alertmanager: str
    jaeger: str
    victorialogs: str
    collector_grpc: str
    collector_http: str
    webhook: Webhook
    programs: Mapping[str, Program]
    """By the names of their services in the compose files."""

    backends: Backends

    def close(self) -> None:
        """Stop everything."""
        self.backends.close()
        # The senders before the receivers: the other way round each would wait for the next.
        for service in ("otelcol", "prometheus", "alertmanager", "jaeger", "victoria-logs"):
            self.programs[service].kill()
        self.webhook.close()


def start(directory: Path, **environ: str) -> tuple[Stack, Mapping[str, float]]:
    """
    Start everything at once, and wait until it can be used.

    Args:
        directory: Gets what the programs keep, their logs, and a copy of what is shipped.
        environ: Variables of every program, beside those of its container.

    Returns:
        The stack, and how long each program took to be ready.
    """
    webhook = Webhook()
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    url = {name: f"http://{HOST}:{port}" for name, port in ports.items()}
    shipped = ship(directory, ports, webhook.address)
    programs = {program.name: program for program in _programs(directory, shipped, ports)}
    stack = Stack(
        prometheus=url["prometheus"],
        alertmanager=url["alertmanager"],
        jaeger=url["jaeger"],
        victorialogs=url["victorialogs"],
        collector_grpc=url["collector_grpc"],
        collector_http=url["collector_http"],
        webhook=webhook,
        programs=programs,
        backends=Backends(
            prometheus=Prometheus(url["prometheus"]),
            alertmanager=Alertmanager(url["alertmanager"]),
            jaeger=Jaeger(url["jaeger"]),
            victorialogs=VictoriaLogs(url["victorialogs"]),
        ),
    )
    try:
        for program in programs.values():
            program.environ = {**program.environ, **environ}
            program.start()
        with ThreadPoolExecutor() as threads:
            took = dict(zip(programs, threads.map(Program.wait_ready, programs.values()), strict=True))
    except BaseException:
        stack.close()
        raise
    return stack, took


def _programs(directory: Path, shipped: Path, ports: Mapping[str, int]) -> Iterator[Program]:
    """Yield the programs, each with arguments and variables of the compose files and with addresses of this stack."""
    at = {name: f"{HOST}:{port}" for name, port in ports.items()}

    def made(service: str, ready: str, *arguments: str, **environ: str) -> Program:
        return _of_compose(service, directory, shipped, ready, *arguments, **environ)

    yield prometheus(directory, shipped, ports)
    yield made("alertmanager", f"{at['alertmanager']}/-/ready", f"--web.listen-address={at['alertmanager']}")
    yield made(
        "jaeger",
        f"{at['jaeger_health']}/status",
        JAEGER_HTTP_ADDRESS=at["jaeger"],
        JAEGER_GRPC_ADDRESS=at["jaeger_grpc"],
        JAEGER_OTLP_ADDRESS=at["jaeger_otlp"],
        JAEGER_HEALTH_ADDRESS=at["jaeger_health"],
        JAEGER_DIRECTORY=str(directory / "jaeger"),
    )
    yield made("victoria-logs", f"{at['victorialogs']}/health", f"-httpListenAddr={at['victorialogs']}")
    yield made(
        "otelcol",
        at["collector_health"],
        PROMETHEUS_URL=f"http://{at['prometheus']}",
        TEMPO_URL=f"http://{at['jaeger_otlp']}",
        VICTORIALOGS_URL=f"http://{at['victorialogs']}",
        OTLP_GRPC_ADDRESS=at["collector_grpc"],
        OTLP_HTTP_ADDRESS=at["collector_http"],
        HEALTH_ADDRESS=at["collector_health"],
        ZPAGES_ADDRESS=at["collector_pages"],
        QUEUE_DIRECTORY=str(directory / "otelcol" / "queue"),
        # All of them: what is asserted of traces must not depend on chance.
        HEALTHY_TRACES_PERCENT="100",
    )


def prometheus(directory: Path, shipped: Path, ports: Mapping[str, int]) -> Program:
    """Return Prometheus, as the compose file starts it."""
    at = f"{HOST}:{ports['prometheus']}"
    return _of_compose("prometheus", directory, shipped, f"{at}/-/ready", f"--web.listen-address={at}")


def _of_compose(service: str, directory: Path, shipped: Path, ready: str, *arguments: str, **environ: str) -> Program:
    command = _command(service, {CONTAINER_FOLDER: shipped, f"/{service}": directory / service})
    return Program(
        name=service,
        # Services are called as their programs are.
        command=[str(built(service)), *command, *arguments],
        ready=f"http://{ready}",
        directory=directory / service,
        environ={**services(JAEGER)[service].get("environment", {}), **environ},
    )


def ship(directory: Path, ports: Mapping[str, int], webhook: str) -> Path:
    """Copy what is shipped: files lie to each other in containers, and here, as they do in the repository."""
    to = directory / "shipped"
    for folder in SHIPPED:
        shutil.copytree(ROOT / folder, to / folder)
    # These two read no variables: what they name of the others is replaced in the copy, and nothing else.
    for address, program in {"alertmanager:9093": "alertmanager", "localhost:9090": "prometheus"}.items():
        _replace(to / "collector-config/prometheus.yaml", address, f"{HOST}:{ports[program]}")
    secret = directory / "alert-webhook-url"
    secret.write_text(webhook, encoding="utf-8")
    _replace(to / "collector-config/alertmanager.yaml", WEBHOOK_FILE, str(secret))
    return to


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if old not in text:
        raise AssertionError(f"{file.name} does not name {old} any more")
    file.write_text(text.replace(old, new), encoding="utf-8")


def _command(service: str, places: Mapping[str, Path]) -> list[str]:
    """
    Return the arguments that the compose files give a program, with their variables filled in.

    Args:
        service: The service's name.
        places: Folders of the container, and what stands for them here.
    """
    return [_placed(argument, places) for argument in services(JAEGER)[service]["command"]]


def _placed(argument: str, places: Mapping[str, Path]) -> str:
    for place, here in places.items():
        # Only where a value begins: `/prometheus` is also the middle of other paths.
        argument = re.sub(rf"(?<==){re.escape(place)}(?=/|$)", str(here), argument)
    return argument
