"""What Prometheus remembers of classes when it was away: for hours, and after it was killed."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from dashboards.metrics import CLASS, CONTEXT_TOKENS, ERRORS, FORM, OUTCOME, SERVICE, STATE, TOOL
from e2e.backends import Prometheus, eventually
from e2e.build import program
from e2e.programs import Program, free_ports
from e2e.questions import written
from e2e.test_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOUR: Final = 3600
MEMORIES: Final = ("first_seen", "failing_since")
STATES: Final = {"known": "steady", "new": "new", "back": "back again", "late": "new"}


class Agent:
    """
    A process with three classes, as Prometheus reads it.
    """

    tool = "search"
    failures = 5

    def __init__(self) -> None:
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write("".join(agent.lines()).encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def lines(self) -> Iterator[str]:
        """Each class has failed as often, in one tool."""
        yield f"{CONTEXT_TOKENS}{written({SERVICE: 'shop', FORM: 'raw'})} 0\n"
        for key in STATES:
            yield f"{ERRORS}{written({SERVICE: 'shop', CLASS: key, OUTCOME: 'new', TOOL: self.tool})} {self.failures}\n"


@pytest.fixture
def agent() -> Iterator[Agent]:
    """A process that lives for the test."""
    made = Agent()
    yield made
    made.server.shutdown()
    made.server.server_close()


def before(now: int) -> Iterator[str]:
    """What was recorded each minute for two days, until three hours ago."""
    begin = now - 48 * HOUR
    # OpenMetrics has no blank between labels.
    known, back = (written({SERVICE: "shop", CLASS: key}).replace(", ", ",") for key in ("known", "back"))
    agent = written({SERVICE: "shop", "component": "agent"}).replace(", ", ",")
    for series, value in (
        (f"errcompact:kept:class:first_seen{known}", lambda _: begin),
        (f"errcompact:kept:class:last_seen{known}", lambda at: at),
        (f"errcompact:kept:class:failing_since{known}", lambda _: begin),
        (f"errcompact:kept:class:first_seen{back}", lambda _: begin),
        (f"errcompact:kept:class:last_seen{back}", lambda at: min(at, now - 14 * HOUR)),
        (f"errcompact:kept:class:failing_since{back}", lambda _: begin),
        (f"errcompact:kept:service:first_seen{written({SERVICE: 'shop'})}", lambda _: begin),
        (f"errcompact:service:reporting{agent}", lambda _: 1),
    ):
        yield from (f"{series} {value(at)} {at}" for at in range(begin, now - 3 * HOUR, 60))
    # A class that came just before Prometheus was away once more, between two of the steps that reach back two days.
    came = (now - 900) // 1_800 * 1_800 + 60
    late = written({SERVICE: "shop", CLASS: "late"}).replace(", ", ",")
    for series in ("first_seen", "last_seen", "failing_since"):
        yield from (f"errcompact:class:{series}{late} {came} {at}" for at in range(came, came + 420, 60))
    yield "# EOF\n"


@pytest.fixture
def prometheus(tmp_path: Path, agent: Agent) -> Iterator[Program]:
    """A Prometheus that was away for three hours, with the generated rules evaluated each second."""
    history = tmp_path / "history.txt"
    history.write_text("\n".join(before(int(time.time()))), encoding="utf-8")
    make = [program("promtool"), "tsdb", "create-blocks-from", "openmetrics", "--quiet", history, tmp_path / "data"]
    subprocess.run(make, check=True, capture_output=True)
    rules = re.sub(r"interval: \d+s", "interval: 1s", RULES.read_text(encoding="utf-8"))
    (tmp_path / "rules.yaml").write_text(rules, encoding="utf-8")
    target = f"127.0.0.1:{agent.server.server_port}"
    job = {"job_name": "agent", "static_configs": [{"targets": [target]}]}
    settings = {"global": {"scrape_interval": "1s"}, "rule_files": ["rules.yaml"], "scrape_configs": [job]}
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    address = f"127.0.0.1:{free_ports(1)[0]}"
    made = Program(
        name="prometheus",
        command=[
            str(program("prometheus")),
            f"--config.file={tmp_path / 'prometheus.yaml'}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address={address}",
        ],
        ready=f"http://{address}/-/ready",
        directory=tmp_path / "prometheus",
        environ={},
    )
    made.restart()
    yield made
    made.kill()


def remembered(asked: Prometheus) -> dict[tuple[str, str], float]:
    """When each class was first seen, and since when it fails."""
    return {
        (series, sample.labels[CLASS]): sample.value
        for series in MEMORIES
        for sample in asked.query(f"errcompact:class:{series}")
    }


def states(asked: Prometheus, since: float) -> dict[str, str]:
    """The states recorded since a time."""
    samples = asked.query(f"timestamp(errcompact:class:state) > {since}")
    return {sample.labels[CLASS]: sample.labels[STATE] for sample in samples}


def test_prometheus_remembers_what_it_has_seen(prometheus: Program, agent: Agent) -> None:
    """Neither three hours away nor a kill makes a class new, and no rule fails on a text that has changed."""
    asked = Prometheus(prometheus.ready.removesuffix("/-/ready"))
    started = time.time()
    eventually(lambda: states(asked, started) == STATES, seconds=30, what="states after three hours")
    memory = remembered(asked)
    assert started - memory["first_seen", "known"] > 47 * HOUR
    assert memory["first_seen", "back"] == memory["failing_since", "known"] == memory["first_seen", "known"]
    assert started - memory["first_seen", "late"] > 800
    assert min(memory["failing_since", "back"], memory["first_seen", "new"]) > started - 60

    prometheus.kill()
    agent.tool, agent.failures = "fetch", 50
    prometheus.restart()
    started = time.time()
    text = f'errcompact:class:info{{{TOOL}="{agent.tool}"}}'
    eventually(lambda: len(asked.query(text)) == len(STATES), seconds=30, what="new texts")
    eventually(lambda: states(asked, started + 3) == STATES, seconds=30, what="states after a kill")
    assert remembered(asked) == memory
    groups = asked.get("/api/v1/rules")["data"]["groups"]
    assert [rule["lastError"] for group in groups for rule in group["rules"] if rule["health"] == "err"] == []
    assert {sample.labels[CLASS] for sample in asked.query('ALERTS{alertname="AgentErrorRecurring"}')} == set(STATES)
    asked.close()
