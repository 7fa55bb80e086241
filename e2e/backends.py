"""The HTTP interfaces of the back ends: what arrived there, and nothing else."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Json = Any
    """What an HTTP interface answers with."""

POLL_SECONDS: Final = 0.25
TIMEOUT: Final = 30


def eventually(check: Callable[[], Any], *, seconds: float, what: str) -> float:
    """
    Ask again until the answer is true, and return how long that took.

    Raises:
        AssertionError: It was not true in time.
    """
    started = time.monotonic()
    answer: object = None
    while time.monotonic() - started < seconds:
        answer = check()
        if answer:
            return time.monotonic() - started
        time.sleep(POLL_SECONDS)
    raise AssertionError(f"{what}: not within {seconds} s; the last answer was {answer!r}")


class _Backend:
    """
    Something that answers JSON.
    """

    def __init__(self, address: str) -> None:
        self.address: Final = address
        self._client = httpx.Client(base_url=address, timeout=TIMEOUT, trust_env=False)

    def get(self, path: str, **parameters: object) -> Json:
        """
        Ask, and return the JSON that was answered; None if there is no such thing.

        Raises:
            AssertionError: It answered with an error.
        """
        answer = self._client.get(path, params={name: _text(value) for name, value in parameters.items()})
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        assert answer.is_success, f"{answer.request.url}: {answer.status_code} {answer.text[:1000]}"
        return answer.json()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class Sample(NamedTuple):
    """
    One value of one series.
    """

    labels: Mapping[str, str]
    value: float


class Prometheus(_Backend):
    """
    Metrics and exemplars.
    """

    def query(self, expression: str, at: float | None = None) -> list[Sample]:
        """Return what an instant query answers."""
        when = {} if at is None else {"time": at}
        data = self.get("/api/v1/query", query=expression, **when)["data"]
        if data["resultType"] == "scalar":
            return [Sample({}, float(data["result"][1]))]
        return [Sample(each["metric"], float(each["value"][1])) for each in data["result"]]

    def query_range(self, expression: str, start: float, end: float, step: float = 15) -> Json:
        """Return what a range query answers: series with their values."""
        answer = self.get("/api/v1/query_range", query=expression, start=start, end=end, step=step)
        return answer["data"]["result"]

    def total(self, expression: str) -> float:
        """Return the sum of all values that an instant query answers."""
        return sum(sample.value for sample in self.query(expression))

    def exemplars(self, expression: str, seconds: float = 3_600) -> list[Mapping[str, str]]:
        """Return the labels of the exemplars of the last while."""
        now = time.time()
        data = self.get("/api/v1/query_exemplars", query=expression, start=now - seconds, end=now + 60)["data"]
        return [exemplar["labels"] for series in data for exemplar in series["exemplars"]]

    def texts(self) -> Iterator[str]:
        """Return every text that it keeps: names and values of all labels, and exemplars."""
        for name in self.get("/api/v1/labels")["data"]:
            yield name
            yield from self.get(f"/api/v1/label/{name}/values")["data"]
        for labels in self.exemplars('{__name__=~".+"}'):
            yield from labels.values()

    def alerts(self) -> Json:
        """Return the alerts that are pending or firing."""
        return self.get("/api/v1/alerts")["data"]["alerts"]


class Span(NamedTuple):
    """
    One span of a trace.
    """

    name: str
    service: str
    attributes: Mapping[str, object]
    events: Sequence[tuple[str, Mapping[str, object]]]
    status: str


class Tempo(_Backend):
    """
    Traces.
    """

    def trace(self, trace_id: str) -> list[Span]:
        """Return the spans of a trace; none if it is not there, or not yet."""
        now = int(time.time())
        answer = self.get(f"/api/v2/traces/{trace_id}", start=now - 7_200, end=now + 60)
        found = (answer or {}).get("trace") or {}
        return [
            Span(
                name=span["name"],
                service=str(_attributes(resource.get("resource", {})).get("service.name", "")),
                attributes=_attributes(span),
                events=tuple((event["name"], _attributes(event)) for event in span.get("events", ())),
                status=json.dumps(span.get("status", {})),
            )
            for resource in found.get("resourceSpans", ())
            for scope in resource.get("scopeSpans", ())
            for span in scope.get("spans", ())
        ]

    def search(self, query: str, seconds: float = 3_600, limit: int = 1_000) -> list[str]:
        """Return the ids of the traces that a TraceQL query finds in the last while."""
        now = int(time.time())
        answer = self.get("/api/search", q=query, start=int(now - seconds), end=now + 60, limit=limit)
        return [found["traceID"].rjust(32, "0") for found in answer["traces"]]


class Record(NamedTuple):
    """
    One log record.
    """

    labels: Mapping[str, str]
    """Index labels and structured metadata."""

    text: str


class Loki(_Backend):
    """
    Log records.
    """

    def query(self, expression: str, seconds: float = 3_600, limit: int = 1_000) -> list[Record]:
        """Return the records that a LogQL query finds in the last while."""
        now = time.time_ns()
        start = now - int(seconds * 1e9)
        answer = self.get("/loki/api/v1/query_range", query=expression, start=start, end=now + 10**9, limit=limit)
        return [Record(stream["stream"], value[1]) for stream in answer["data"]["result"] for value in stream["values"]]


class Alertmanager(_Backend):
    """
    Alerts that are to be told.
    """

    def alerts(self) -> Json:
        """Return the alerts it knows."""
        return self.get("/api/v2/alerts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backends:
    """
    All of them.
    """

    prometheus: Prometheus
    alertmanager: Alertmanager
    tempo: Tempo
    loki: Loki | None
    """None where Loki is not built."""

    def close(self) -> None:
        """Close the connections."""
        for backend in (self.prometheus, self.alertmanager, self.tempo, self.loki):
            if backend is not None:
                backend.close()


def _attributes(of: Json) -> dict[str, object]:
    """Return OTLP/JSON attributes as a dictionary."""
    return {each["key"]: next(iter(each["value"].values()), None) for each in of.get("attributes", ())}


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
