"""Many error classes that all fail, in a real Prometheus with the shipped rules: a day of history, and what goes on."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import yaml

from dashboards import metrics
from dashboards.metrics import CLASS
from e2e import stack
from e2e.backends import Prometheus, eventually
from e2e.programs import free_ports
from e2e.remote_write import Series, write
from otel_errcompact.otel import semconv
from tests.stack.boards import GENERATED
from tests.stack.metrics import known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from e2e.programs import Program

SCRAPE_S: Final = 10
"""Seconds between two samples, as processes export."""

FRESH_S: Final = 4_200
"""For how long the history has a sample every `SCRAPE_S`: what the alerts look back to, and a little more."""

STEP_S: Final = 300
"""Seconds between two older samples."""

DEPLOYED_S: Final = 4_500
"""
How long ago the second version began, and with it every second class: what the alerts look back to is full of samples.

The rules have recorded nothing of it before they run, so that its classes are new to them none the less.
"""

RATE: Final = 0.04
"""Failures per second of each counter: 12 in the five minutes of the alerts."""

ESCALATING: Final = 11
"""One of so many classes escalates, in each service."""

ANSWERED_S: Final = 600
"""Seconds after which rules that have made nothing make nothing."""

MESSAGE: Final = (
    "POST https://orders.internal.example/v2/carts/<id>/items/{0}: 422 the field 'quantity.{0}' must be an integer "
    "between 1 and 99, but '<str>' was given; the cart is left as it was (request <uuid>, attempt <n> of 5, <duration>)"
)

_OF_SERVICE: Final = (
    *((metrics.RUNS, {"errcompact_result": result}) for result in ("clean", "recovered", "failed")),
    *((metrics.CONTEXT_TOKENS, {"errcompact_form": form}) for form in ("raw", "sent", "digest")),
    *((metrics.TOKEN_USAGE_SUM, {"gen_ai_token_type": kind}) for kind in ("input", "output")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """
    Services with their classes, in two versions; every second class is new in the second one.

    Each metric has the labels that it leaves the instruments with, and the owner of its service.
    """

    classes: int
    services: int = 10
    now: float
    history_s: float = 86_400.0

    def series(self) -> Iterator[Series]:
        """Yield what the processes report."""
        for version in (0, 1):
            begin = self.now - (DEPLOYED_S if version else self.history_s)
            for service in range(self.services):
                place = _place(service, version)
                yield Series(labels=_labels(metrics.TARGET_INFO, place), begin=begin)
                for metric, changed in _OF_SERVICE:
                    yield Series(labels=_labels(metric, place | changed), begin=begin, rate=1)
            for number in range(0, self.classes, 1 if version else 2):
                place = _place(number % self.services, version) | _class(number)
                for metric, changed in _counted(number):
                    yield Series(labels=_labels(metric, place | changed), begin=begin, rate=RATE)
                yield Series(labels=_labels(metrics.CLASS_INFO, place), begin=begin)
                run = place | {metrics.RUN_ID: f"run {number}"}
                yield Series(labels=_labels(metrics.RUN_STREAK, run), begin=begin, base=2 + number % 5)

    def is_new(self, labels: Mapping[str, str]) -> bool:
        """Return whether a series is of a class, or of a version, that had not been seen before the last version."""
        return labels.get(CLASS) in self._new_keys or labels.get(metrics.SERVICE_VERSION) == _version(1)

    @property
    def _new_keys(self) -> frozenset[str]:
        return _keys(range(1, self.classes, 2))


@cache
def _keys(numbers: range) -> frozenset[str]:
    return frozenset(_class(number)[CLASS] for number in numbers)


def _counted(number: int) -> Iterator[tuple[str, dict[str, str]]]:
    outcomes = ["new", "repeat"]
    if number % ESCALATING == 0:
        outcomes += ["after_escalation"]
        action = ("continue", "unhandled")[number // ESCALATING % 2]
        yield metrics.ESCALATIONS, {metrics.ACTION: action, metrics.THRESHOLD: "same"}
    for outcome in outcomes:
        yield metrics.ERRORS, {metrics.OUTCOME: outcome}
    yield metrics.RESOLUTIONS, {metrics.RESOLUTION: "resolved"}


def _version(number: int) -> str:
    return f"1.{4 + number}.0"


def _place(service: int, version: int) -> dict[str, str]:
    name = f"shop-{service}"
    return {
        "job": f"sales/{name}",
        "instance": _hash(f"{name} {version}", 16),
        metrics.SERVICE: name,
        metrics.NAMESPACE: "sales",
        metrics.SERVICE_VERSION: _version(version),
        metrics.ENVIRONMENT: "production",
        metrics.AGENT: f"agent-{service}",
    }


def _class(number: int) -> dict[str, str]:
    return {
        CLASS: _hash(str(number), 6),
        metrics.ERROR_TYPE: f"orders.errors.Refused{number % 40}Error",
        metrics.TOOL: f"tool_{number % 30}",
        metrics.TEMPLATE: MESSAGE.format(number),
        metrics.LOCATION: f"orders/carts/items_{number % 97}.py:{number % 700}",
        metrics.CERTAINTY: "declared",
        metrics.label(
            semconv.HINT
        ): f"Send a whole number in quantity.{number}; ask the catalogue for the largest one.",
    }


def _hash(text: str, size: int) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()


def _labels(metric: str, values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    kept = _known()[metric] | {metrics.NAMESPACE}
    # Sorted, as Prometheus demands of what is written to it.
    return (("__name__", metric), *sorted((name, value) for name, value in values.items() if name in kept))


@cache
def _known() -> Mapping[str, frozenset[str]]:
    return known()


class Group(NamedTuple):
    """
    A group of rules.
    """

    name: str
    key: str
    """What Prometheus' own metrics call it."""

    interval_s: float
    rules: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """
    A running Prometheus whose rules evaluate a fleet.
    """

    program: Program
    prometheus: Prometheus
    processes: Processes

    def groups(self) -> list[Group]:
        """Return the groups of rules, without the alerts that fire."""
        found = self.prometheus.get("/api/v1/rules", exclude_alerts="true")["data"]["groups"]
        return [
            Group(each["name"], f"{each['file']};{each['name']}", each["interval"], each["rules"]) for each in found
        ]

    def own(self, metric: str) -> dict[str, float]:
        """Return a metric of Prometheus itself, by the group of rules."""
        found: dict[str, float] = {}
        for line in self.prometheus.lines("/metrics"):
            if line.startswith(f"{metric}{{"):
                labels, _, value = line.removeprefix(metric).rpartition(" ")
                found[labels.removeprefix('{rule_group="').removesuffix('"}')] = float(value)
        return found

    def samples(self, group: Group) -> int:
        """Return how many samples one evaluation of a group reads, without what the texts of its alerts ask."""
        costs = [self.prometheus.cost(rule["query"], seconds=ANSWERED_S) for rule in group.rules]
        return sum(cost.samples for cost in costs if cost is not None)

    def firing(self) -> dict[str, int]:
        """Return how many alerts fire, by their name."""
        found = self.prometheus.query('count by (alertname) (ALERTS{alertstate="firing"})')
        return {each.labels["alertname"]: int(each.value) for each in found}

    def settle(self, seconds: float) -> None:
        """Wait until no alert waits to fire; so long at most."""
        with suppress(AssertionError):
            eventually(self._all_fire, seconds=seconds, what="all alerts to fire")

    def _all_fire(self) -> bool:
        return bool(self.firing()) and not self.prometheus.query('ALERTS{alertstate="pending"}')


@contextmanager
def loaded(directory: Path, classes: int, *, history_s: float = 86_400.0) -> Iterator[Loaded]:
    """
    Run Prometheus as it is shipped, with a history and with processes that it scrapes as if they pushed.

    What rules have recorded of the past is not known before they run: so they run once with little history, and what
    they record then is taken for what they had recorded all the time.
    """
    first_fleet = Fleet(classes=classes, now=time.time(), history_s=600)
    with running(directory / "first", first_fleet, hurried=True) as first:
        recorded = _recorded(first)
    fleet = Fleet(classes=classes, now=time.time(), history_s=history_s)
    past = [replace(each, begin=fleet.now - history_s) for each in recorded if not fleet.is_new(dict(each.labels))]
    with running(directory / "second", fleet, past) as second:
        yield second


@contextmanager
def running(
    directory: Path, fleet: Fleet, recorded: Sequence[Series] = (), *, hurried: bool = False
) -> Iterator[Loaded]:
    """
    Run Prometheus with what a fleet and the rules have reported and recorded, and with the fleet's processes.

    Args:
        directory: Gets its files.
        fleet: What the processes report.
        recorded: What rules have recorded before.
        hurried: Whether the groups of rules that are evaluated seldom take their turns at once.
    """
    reported = list(fleet.series())
    with Processes(reported) as processes:
        ports = dict(zip(stack.PORTS, free_ports(len(stack.PORTS)), strict=True))
        shipped = stack.ship(directory, ports, "http://127.0.0.1:1")
        if hurried:
            _hurry(shipped / "dashboards" / "generated" / "rules.yaml")
        config = shipped / "collector-config" / "prometheus.yaml"
        rules = config.read_text(encoding="utf-8")
        made = stack.prometheus(directory, shipped, ports)
        prometheus = Prometheus(f"http://{stack.HOST}:{ports['prometheus']}")
        command = made.command
        try:
            # Without rules and scrapes until the history is there, or it would be too old to be taken.
            silent = {
                key: value for key, value in yaml.safe_load(rules).items() if key in {"global", "otlp", "storage"}
            }
            config.write_text(yaml.safe_dump(silent), encoding="utf-8")
            made.command = [*command, "--web.enable-remote-write-receiver"]
            made.restart()
            _write_history(prometheus.address, fleet, [*reported, *recorded])
            made.stop()
            config.write_text(yaml.safe_dump(_scraping(yaml.safe_load(rules), processes.port)), encoding="utf-8")
            made.command = command
            made.start()
            made.wait_ready(ANSWERED_S)
            yield Loaded(program=made, prometheus=prometheus, processes=processes)
        finally:
            prometheus.close()
            made.kill()


def _write_history(address: str, fleet: Fleet, series: Sequence[Series]) -> None:
    begin, fresh, now = (int(fleet.now - s) for s in (fleet.history_s, min(FRESH_S, fleet.history_s), 0))
    by_pause: dict[int, list[Series]] = defaultdict(list)
    for each in series:
        by_pause[SELDOM.get(each.labels[0][1], 0)].append(each)
    # Piece by piece: what is older than the newest sample by half an hour is not taken.
    for at in range(begin, now, PIECE_S):
        for pause, them in by_pause.items():
            step = pause or (STEP_S if at < fresh else SCRAPE_S)
            write(address, them, range(at + (begin - at) % step, min(at + PIECE_S, now), step))


def _scraping(config: dict[str, object], port: int) -> dict[str, object]:
    own = {"targets": [f"{stack.HOST}:{port}"]}
    job = {"job_name": "fleet", "honor_labels": True, "scrape_interval": f"{SCRAPE_S}s", "static_configs": [own]}
    scraped = config["scrape_configs"]
    assert isinstance(scraped, list)
    return {**config, "scrape_configs": [*scraped, job]}


def _recorded(running: Loaded) -> list[Series]:
    """Return what the rules record, once every group has had its second turn."""
    eventually(lambda: turns(running) >= 2, seconds=ANSWERED_S, what="two turns of all rules")
    found = running.prometheus.query('{__name__=~"errcompact:.+"}')
    return [Series(labels=tuple(sorted(each.labels.items())), begin=0, base=each.value) for each in found]


def turns(running: Loaded) -> float:
    """Return how often every group of rules that has a turn each minute has been evaluated at least."""
    done = running.own("prometheus_rule_evaluations_total")
    often = [group for group in running.groups() if group.interval_s <= OFTEN_S]
    return min(done.get(group.key, 0) / len(group.rules) for group in often)


def _hurry(rules: Path) -> None:
    content = yaml.safe_load(rules.read_text(encoding="utf-8"))
    for group in content["groups"]:
        if int(group["interval"].removesuffix("s")) > OFTEN_S:
            group["interval"] = f"{SCRAPE_S}s"
    rules.write_text(yaml.safe_dump(content), encoding="utf-8")


def _seldom() -> Iterator[tuple[str, int]]:
    for group in yaml.safe_load((GENERATED / "rules.yaml").read_text(encoding="utf-8"))["groups"]:
        pause = int(group["interval"].removesuffix("s"))
        if pause > OFTEN_S:
            yield from ((rule["record"], pause) for rule in group["rules"])


PIECE_S: Final = 900
OFTEN_S: Final = 60
SELDOM: Final = dict(_seldom())
"""What rules record less than once a minute, with the seconds from one time to the next."""


class Processes:
    """
    What the processes report, as text to be scraped.
    """

    def __init__(self, series: Iterable[Series]) -> None:
        self._lines: list[tuple[str, Series]] = []
        self.add(*series)
        lines = self._lines

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                now = time.time()
                body = "".join([f"{line}{each.value(now)}\n" for line, each in lines]).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((stack.HOST, 0), Handler)
        self.port: Final[int] = self._server.server_address[1]

    def add(self, *series: Series) -> None:
        """Report more from now on."""
        self._lines += [(f"{each.labels[0][1]}{_braced(each.labels[1:])} ", each) for each in series]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _braced(labels: Iterable[tuple[str, str]]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"
