"""What the programs of the stack say when they start, with the shipped configuration and nothing to do."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING, Final

import httpx
import pytest
import yaml

from e2e.build import BuildError, go_is_missing, program
from e2e.outside import Outside
from e2e.stack import Stack, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

QUIET_SECONDS: Final = 25
"""Longer than an idle worker of Tempo waits for a job by default, before it logs an error: 15 s."""

COMPLAINT: Final = re.compile(
    r"\blevel=(warn|error|fatal|dpanic|panic)\b|\t(warn|error|fatal|dpanic|panic)\t", re.IGNORECASE
)

KNOWN: Final = {
    # The generator is off on purpose: metrics come from the agents, counted before any sampling.
    "tempo": ["metrics-generator is not configured.", "unowned file entry ignored during wal replay"],
    # /debug/tracez would show the collector's own spans, which it does not record; the other pages work.
    "otelcol": ["zPages span processor registration is not available"],
}
"""Complaints without a cure here. Tempo's second one is about a folder that it has just made itself."""


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """The proxy of the stack."""
    made = Outside()
    yield made
    made.close()


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory, outside: Outside) -> Iterator[Stack]:
    """The stack, a while after its start."""
    missing = go_is_missing()
    if missing and not os.environ.get("CI"):
        pytest.skip(missing)
    try:
        running, _ = start(tmp_path_factory.mktemp("idle"), **outside.environ)
    except BuildError as error:
        pytest.fail(f"{error}; `make e2e` builds first")
    time.sleep(QUIET_SECONDS)
    yield running
    running.close()


def complaints(log: str) -> Sequence[str]:
    """The lines of a log that warn of something or say that something failed."""
    return [line for line in log.splitlines() if COMPLAINT.search(line)]


@pytest.mark.parametrize(
    "line",
    [
        'level=error ts=2026-11-23T09:23:36Z caller=backendworker.go:529 msg="error calling scheduler"',
        'time=2026-11-23T09:23:42Z level=WARN source=main.go:1249 msg="Received an OS signal"',
        "2026-11-23T09:24:39.059Z\twarn\tzpagesextension.go:69\tregistration is not available\t{}",
    ],
)
def test_a_complaint_is_recognised(line: str) -> None:
    """In the forms of all the programs."""
    assert complaints(f"level=info msg=warned\n{line}\n") == [line]


def test_no_program_complains_when_it_starts(idle: Stack) -> None:
    """What cannot be cured is known, and is said once."""
    said = {name: complaints(program.log.read_text(encoding="utf-8")) for name, program in idle.programs.items()}
    unknown = [
        line for name, lines in said.items() for line in lines if not any(text in line for text in KNOWN.get(name, ()))
    ]
    assert unknown == []
    assert {name: len(lines) for name, lines in said.items() if lines} == {
        name: len(texts) for name, texts in KNOWN.items()
    }


@pytest.mark.usefixtures("idle")
def test_no_program_asks_another_machine(outside: Outside) -> None:
    """Neither when it starts nor when it has nothing to do."""
    assert outside.asked == ()


@pytest.mark.usefixtures("idle")
def test_a_request_to_another_machine_is_seen() -> None:
    """The HTTP client of these programs uses the proxy."""
    other = Outside()
    command = [program("promtool"), "query", "instant", "https://stats.example.org", "up"]
    environ = {"PATH": os.defpath, **other.environ}
    done = subprocess.run(command, env=environ, capture_output=True, check=False, timeout=60)
    other.close()
    assert done.returncode != 0
    assert set(other.asked) == {"stats.example.org:443"}


def test_tempo_and_loki_report_to_nobody(idle: Stack) -> None:
    """By their own account of the configuration that they run with."""
    asked = {"tempo": (f"{idle.tempo}/status/config", "usage_report")}
    if idle.loki:
        asked["loki"] = (f"{idle.loki}/config", "analytics")
    for address, section in asked.values():
        answer = httpx.get(address, timeout=30, trust_env=False)
        # Tempo puts a line with the version in front of it.
        text = answer.raise_for_status().text
        running = yaml.safe_load(re.split(r"^---$", text, flags=re.MULTILINE)[-1])
        assert running[section]["reporting_enabled"] is False
