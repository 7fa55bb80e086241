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
MICROSECONDS: Final = 1_000_000
"""In a second; Jaeger's times are whole numbers of them."""


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
        answer = self._asked(path, parameters)
        return None if answer.status_code == httpx.codes.NOT_FOUND else answer.json()

    def lines(self, path: str, **parameters: object) -> Sequence[str]:
        """
        Ask, and return the lines that were answered.

        Raises:
            AssertionError: It answered with an error.
        """
        # Not splitlines(): a text within a line of JSON may hold a line separator of Unicode.
        return self._asked(path, parameters).text.rstrip("\n").split("\n")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _asked(self, path: str, parameters: Mapping[str, object]) -> httpx.Response:
        answer = self._client.get(path, params={name: _text(value) for name, value in parameters.items()})
        known = answer.is_success or answer.status_code == httpx.codes.NOT_FOUND
        assert known, f"{answer.request.url}: {answer.status_code} {answer.text[:1000]}"
        return answer


class Sample(NamedTuple):
    """
    One value of one series.
    """

    labels: Mapping[str, str]
    value: float


class Cost(NamedTuple):
    """
    What Prometheus did to answer a query; the samples depend on no machine.
    """

    samples: int
    """Each as often as a step of the query looks at it."""

    decoded: int
    """Each once."""

    peak_samples: int
    seconds: float
    series: int
    bytes: int


class Prometheus(_Backend):
    """
    Metrics and exemplars.
    """

    def cost(self, expression: str, *, seconds: float = TIMEOUT, **times: object) -> Cost | None:
        """Return what it costs to answer, at one time or over a range; None if it is not answered in time."""
        path = "/api/v1/query_range" if "step" in times else "/api/v1/query"
        asked = {"query": expression, "stats": "all", "timeout": f"{seconds}s", **times}
        answer = self._client.post(
            path, data={name: _text(value) for name, value in asked.items()}, timeout=4 * seconds
        )
        assert answer.status_code != httpx.codes.BAD_REQUEST, f"{expression}: {answer.text[:1000]}"
        if not answer.is_success:
            return None
        data = answer.json()["data"]
        samples, took = data["stats"]["samples"], data["stats"]["timings"]
        return Cost(
            samples=samples["totalQueryableSamples"],
            decoded=samples["samplesRead"],
            peak_samples=samples["peakSamples"],
            seconds=took["execTotalTime"],
            series=len(data["result"]),
            bytes=len(answer.content),
        )

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


class Jaeger(_Backend):
    """
    Traces.
    """

    def trace(self, trace_id: str) -> list[Span]:
        """Return the spans of a trace; none if it is not there, or not yet."""
        # As they came: what Jaeger shows people by default has times corrected and spans merged.
        answer = self.get(f"/api/v3/traces/{trace_id}", raw_traces="true") or {}
        return [
            Span(
                name=span["name"],
                service=str(_attributes(resource.get("resource", {})).get("service.name", "")),
                attributes=_attributes(span),
                events=tuple((event["name"], _attributes(event)) for event in span.get("events", ())),
                status=json.dumps(span.get("status", {})),
            )
            for resource in answer.get("result", {}).get("resourceSpans", ())
            for scope in resource.get("scopeSpans", ())
            for span in scope.get("spans", ())
        ]

    def search(self, service: str, seconds: float = 3_600, limit: int = 1_000, **tags: str) -> list[str]:
        """Return the ids of the traces in which a span of a service, or an event on it, has these attributes."""
        now = int(time.time() * MICROSECONDS)
        asked = {"start": now - int(seconds * MICROSECONDS), "end": now + 60 * MICROSECONDS, "limit": limit}
        answer = self.get("/api/traces", service=service, tags=json.dumps(tags), **asked)
        return [found["traceID"].rjust(32, "0") for found in answer["data"] or ()]


class VictoriaLogs(_Backend):
    """
    Log records.
    """

    def query(self, expression: str) -> list[Mapping[str, str]]:
        """Return the fields of the records that a LogsQL query finds in the last hour; the text of one is `_msg`."""
        lines = self.lines("/select/logsql/query", query=f"_time:1h {expression}")
        return [json.loads(line) for line in lines if line]


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
    jaeger: Jaeger
    victorialogs: VictoriaLogs

    def close(self) -> None:
        """Close the connections."""
        for backend in (self.prometheus, self.alertmanager, self.jaeger, self.victorialogs):
            backend.close()


def _attributes(of: Json) -> dict[str, object]:
    """Return OTLP/JSON attributes as a dictionary."""
    return {each["key"]: next(iter(each["value"].values()), None) for each in of.get("attributes", ())}


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)
