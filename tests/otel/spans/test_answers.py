"""A server's answer that is a failure, told by a client's span and by the exception that is raised because of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from opentelemetry.trace import SpanKind, StatusCode


class AnswerError(Exception):
    """As HTTP clients raise it: the answer hangs on it."""

    def __init__(self, message: str, **attributes: object) -> None:
        super().__init__(message)
        self.__dict__ |= attributes


class HostileError(Exception):
    @property
    def response(self) -> object:
        raise RuntimeError("no")


def ask(tracer, status: int = 500, name: str = "http.response.status_code") -> None:
    """A request whose answer is a failure; nothing is raised by the client itself."""
    span = tracer.start_span("GET", kind=SpanKind.CLIENT, attributes={name: status, "error.type": str(status)})
    span.set_status(StatusCode.ERROR)
    span.end()


@pytest.mark.parametrize(
    ("error", "occurrences"),
    [
        pytest.param(AnswerError("no", response=SimpleNamespace(status_code=500)), 1, id="requests, httpx"),
        pytest.param(AnswerError("no", code=500), 1, id="urllib"),
        pytest.param(AnswerError("no", status=500), 1, id="aiohttp"),
        pytest.param(LookupError("the stock answered 500"), 1, id="said in the message"),
        pytest.param(AnswerError("no", code=404), 2, id="another status"),
        pytest.param(LookupError("order a-500 is unknown"), 2, id="another number"),
        pytest.param(LookupError("no stock"), 2, id="nothing in common"),
        pytest.param(HostileError("no"), 2, id="an attribute that raises"),
    ],
)
@pytest.mark.parametrize("name", ["http.response.status_code", "http.status_code"])
def test_raised_because_of_it(rig, tracer, error, occurrences, name):
    """The exception that leaves the span around is the same failure, if it is of the same status."""
    with pytest.raises(type(error)), tracer.start_as_current_span("order"):
        ask(tracer, name=name)
        raise error
    assert len(rig.told.observed) == occurrences


def test_a_retry(rig, tracer):
    """Each request that failed is an occurrence, and what is raised in the end is none more."""
    with pytest.raises(AnswerError), tracer.start_as_current_span("order"):
        ask(tracer)
        ask(tracer)
        raise AnswerError("no", code=500)
    assert len(rig.told.observed) == 2


@pytest.mark.parametrize(("kind", "occurrences"), [(SpanKind.SERVER, 1), (SpanKind.INTERNAL, 2)])
def test_a_server_s_span(rig, tracer, kind, occurrences):
    """A server's bare status says that something inside has failed: that is known. No other span's does."""
    with tracer.start_as_current_span("POST /order", kind=kind) as span:
        with pytest.raises(LookupError), tracer.start_as_current_span("select"):
            raise LookupError("no stock")
        span.set_attribute("http.response.status_code", 500)
        span.set_status(StatusCode.ERROR)
    assert len(rig.told.observed) == occurrences
