"""The whole stack on loopback addresses of its own, with the configuration files and the arguments that are shipped."""

from __future__ import annotations

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from e2e.backends import Alertmanager, Backends, Loki, Prometheus, Tempo
from e2e.build import program, wanted
from e2e.programs import Program, free_ports
from e2e.recipes import LOKI, ROOT
from e2e.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HOST: Final = "127.0.0.1"
SHIPPED: Final = ("collector-config", "dashboards/generated")
CONTAINER_FOLDER: Final = "/etc/errcompact"
"""Where the containers see what is shipped."""

WEBHOOK_FILE: Final = "/run/secrets/alert-webhook-url"
"""Where Alertmanager's container sees the address to notify."""

VARIABLE: Final = re.compile(r"\$\{(\w+)(?::?-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """
    The running programs, and where each can be reached.
    """

    prometheus: str
    alertmanager: str
    tempo: str
    loki: str
    """Empty where Loki is not built."""

    collector_grpc: str
    collector_http: str
    collector_health: str
    webhook: Webhook
    programs: Mapping[str, Program]
    """By the names of their services in the compose file."""

    backends: Backends
    directory: Path
    """Where all of them keep what they keep."""

    def data_of(self, service: str) -> Path:
        """Return where a program keeps what it keeps."""
        return self.programs[service].directory

    def close(self) -> None:
        """Stop everything."""
        self.backends.close()
        # The senders before the receivers: the other way round each would wait for the next.
        for service in ("otelcol", "prometheus", "alertmanager", "tempo", "loki"):
            if service in self.programs:
                self.programs[service].kill()
        self.webhook.close()


def start(directory: Path) -> tuple[Stack, Mapping[str, float]]:
    """
    Start everything at once, and wait until it can be used.

    Args:
        directory: What the programs keep, their logs, and copies of the two files that know no variables.

    Returns:
        The stack, and how long each program took to be ready.
    """
    with_loki = wanted(LOKI)
    webhook = Webhook()
    shipped = _shipped(directory / "shipped")
    names = (
        "prometheus alertmanager tempo tempo_grpc tempo_otlp_grpc tempo_otlp_http loki loki_grpc "
        "collector_grpc collector_http health zpages"
    ).split()
    port = dict(zip(names, free_ports(len(names)), strict=True))
    address = {name: f"{HOST}:{number}" for name, number in port.items()}
    url = {name: f"http://{where}" for name, where in address.items()}

    # These two read no variables: what they name of the others is replaced in a copy, and nothing else.
    _replace(shipped / "collector-config/prometheus.yaml", "alertmanager:9093", address["alertmanager"])
    secret = directory / "alert-webhook-url"
    secret.write_text(webhook.address, encoding="utf-8")
    _replace(shipped / "collector-config/alertmanager.yaml", WEBHOOK_FILE, str(secret))

    programs: dict[str, Program] = {}

    def add(service: str, executable: str, ready: str, arguments: Sequence[str] = (), **environ: str) -> None:
        folder = directory / service
        shipped_arguments = _command(service, {CONTAINER_FOLDER: str(shipped), f"/{service}": str(folder)})
        programs[service] = Program(
            name=service,
            command=[str(program(executable)), *shipped_arguments, *arguments],
            ready=ready,
            directory=folder,
            environ=environ,
        )

    add(
        "prometheus",
        "prometheus",
        f"{url['prometheus']}/-/ready",
        [f"--web.listen-address={address['prometheus']}"],
    )
    add(
        "alertmanager",
        "alertmanager",
        f"{url['alertmanager']}/-/ready",
        [f"--web.listen-address={address['alertmanager']}"],
    )
    add(
        "tempo",
        "tempo",
        f"{url['tempo']}/ready",
        TEMPO_LISTEN_ADDRESS=HOST,
        TEMPO_HTTP_PORT=str(port["tempo"]),
        TEMPO_GRPC_PORT=str(port["tempo_grpc"]),
        TEMPO_OTLP_GRPC_ADDRESS=address["tempo_otlp_grpc"],
        TEMPO_OTLP_HTTP_ADDRESS=address["tempo_otlp_http"],
        TEMPO_DIRECTORY=str(directory / "tempo"),
    )
    if with_loki:
        add(
            "loki",
            "loki",
            f"{url['loki']}/ready",
            LOKI_LISTEN_ADDRESS=HOST,
            LOKI_HTTP_PORT=str(port["loki"]),
            LOKI_GRPC_PORT=str(port["loki_grpc"]),
            LOKI_DIRECTORY=str(directory / "loki"),
        )
    add(
        "otelcol",
        "otelcol",
        url["health"],
        PROMETHEUS_URL=url["prometheus"],
        TEMPO_URL=url["tempo_otlp_http"],
        LOKI_URL=url["loki"],
        OTLP_GRPC_ADDRESS=address["collector_grpc"],
        OTLP_HTTP_ADDRESS=address["collector_http"],
        HEALTH_ADDRESS=address["health"],
        ZPAGES_ADDRESS=address["zpages"],
        QUEUE_DIRECTORY=str(directory / "otelcol" / "queue"),
        # All of them: what is asserted of traces must not depend on chance.
        HEALTHY_TRACES_PERCENT="100",
    )
    stack = Stack(
        prometheus=url["prometheus"],
        alertmanager=url["alertmanager"],
        tempo=url["tempo"],
        loki=url["loki"] if with_loki else "",
        collector_grpc=url["collector_grpc"],
        collector_http=url["collector_http"],
        collector_health=url["health"],
        webhook=webhook,
        programs=programs,
        backends=Backends(
            prometheus=Prometheus(url["prometheus"]),
            alertmanager=Alertmanager(url["alertmanager"]),
            tempo=Tempo(url["tempo"]),
            loki=Loki(url["loki"]) if with_loki else None,
        ),
        directory=directory,
    )
    try:
        for each in programs.values():
            each.start()
        with ThreadPoolExecutor() as threads:
            took = dict(zip(programs, threads.map(Program.wait_ready, programs.values()), strict=True))
    except BaseException:
        stack.close()
        raise
    return stack, took


def _shipped(to: Path) -> Path:
    """Copy what is shipped: files lie to each other in containers, and here, as they do in the repository."""
    for folder in SHIPPED:
        shutil.copytree(ROOT / folder, to / folder)
    return to


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if old not in text:
        raise AssertionError(f"{file.name} does not name {old} any more")
    file.write_text(text.replace(old, new), encoding="utf-8")


def _command(service: str, places: Mapping[str, str]) -> list[str]:
    """
    Return the arguments that the compose file gives a program, with its variables filled in.

    Args:
        service: The service's name.
        places: Folders of the container, and what stands for them here.
    """
    shipped = yaml.safe_load((ROOT / "docker-compose.yml").read_bytes())["services"][service]["command"]
    variables = _variables()
    arguments = []
    for argument in shipped:
        text = VARIABLE.sub(lambda found: variables.get(found[1], found[2] or ""), argument)
        for place, here in places.items():
            # Only where a value begins: `/prometheus` is also the end of other paths.
            text = re.sub(rf"(?<==){re.escape(place)}(?=/|$)", here, text)
        arguments.append(text)
    return arguments


def _variables() -> dict[str, str]:
    """The variables of `.env`, as Docker Compose reads them; those of the process do not count here."""
    lines = (ROOT / ".env").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name: value for name, value in pairs}
