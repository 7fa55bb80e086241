"""Agents and commands as processes of their own, which export by OTLP like anybody's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from e2e.recipes import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from e2e.stack import Stack

ENVIRONMENT: Final = "e2e"
"""The `deployment.environment.name` of all of them."""

COMMAND_SECONDS: Final = 90

Protocol = Literal["grpc", "http/protobuf"]


class Receiver(typing.Protocol):
    """
    What an agent sends to: the collector of the stack, or one of a test's own.
    """

    @property
    def collector_grpc(self) -> str:
        """The address for gRPC."""
        ...

    @property
    def collector_http(self) -> str:
        """The address for HTTP."""
        ...


def environ(stack: Receiver, service: str, protocol: Protocol) -> dict[str, str]:
    """Return what a process must find in its environment to send to the collector."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "OTEL_EXPORTER_OTLP_ENDPOINT": stack.collector_grpc if protocol == "grpc" else stack.collector_http,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_SERVICE_NAME": service,
        "OTEL_RESOURCE_ATTRIBUTES": f"deployment.environment.name={ENVIRONMENT}",
        "OTEL_ERRCOMPACT_TRAJECTORY_ENABLED": "false",
    }


def run_errcompact(
    stack: Stack, service: str, protocol: Protocol, *arguments: str, directory: Path, namespace: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `errcompact` with these arguments, of a service with this namespace, and return what it printed."""
    own = environ(stack, service, protocol)
    if namespace:
        own["OTEL_RESOURCE_ATTRIBUTES"] += f",service.namespace={namespace}"
    return subprocess.run(
        [sys.executable, "-m", "otel_errcompact_lab.cli.main", *arguments],
        cwd=directory,
        # Wide enough that no table wraps.
        env={**own, "COLUMNS": "240"},
        capture_output=True,
        text=True,
        check=True,
        timeout=COMMAND_SECONDS,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """
    What an agent has done.
    """

    began: float
    ended: float
    answer: Any


class Agent:
    """
    A running `e2e.agent`.

    Args:
        stack: Where it sends to.
        service: Its `service.name`.
        protocol: How it sends.
        directory: Where it runs; what it says on standard error stands in a file there.
        variables: What else stands in its environment.
    """

    def __init__(self, stack: Receiver, service: str, protocol: Protocol, directory: Path, **variables: str) -> None:
        self.service: Final = service
        self._errors: Final = directory / f"{service}.err"
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "e2e.agent"],
                cwd=directory,
                env={**environ(stack, service, protocol), **variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def tell(self, deed: str, **arguments: object) -> None:
        """Let it do something, without waiting."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": deed, **arguments}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Done:
        """Wait for the answer to the oldest thing it was told."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"{self.service} has ended:\n{self._errors.read_text(encoding='utf-8')[-4000:]}"
        return Done(**json.loads(line))

    def do(self, deed: str, **arguments: object) -> Done:
        """Let it do something, and return what came of it."""
        self.tell(deed, **arguments)
        return self.answer()

    def points(self) -> list[Mapping[str, Any]]:
        """Hand everything over, and return what the library itself has counted."""
        self.do("flush")
        points: list[Mapping[str, Any]] = self.do("points").answer
        return points

    def close(self) -> None:
        """Let it end as an application does, which hands over the rest."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise


def table(printed: str, first_column: str) -> list[dict[str, str]]:
    """Return the rows of a printed table, which is found by the name of its first column."""
    rows: list[list[str]] = []
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if rows and not line.startswith("|"):
            break
        if line.startswith("|-") or not (rows or cells[0] == first_column):
            continue
        if rows and not cells[0]:
            # The row before goes on.
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    header, *body = rows
    return [dict(zip(header, row, strict=True)) for row in body]
