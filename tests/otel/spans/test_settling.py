"""What becomes of a failure: one table, and for each of its rows what spans and log records have to be."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.trace import Status, StatusCode

from otel_errcompact import run
from otel_errcompact.otel.logs.processor import ErrorCompactionLogRecordProcessor
from otel_errcompact.otel.spans import settling, tracker
from otel_errcompact.otel.spans.settling import TABLE, Situation, find_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.trace import Span

TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": "c"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c"}
PROMISED = "execute_tool later"
"""A name that promises a tool call, for a span whose attributes make none of it."""


@dataclass
class Scene:
    """
    An application with spans, log records and runs, and the rows by which its failures are settled.
    """

    rig: Any
    rows: list[str] = field(default_factory=list)

    @contextmanager
    def span(self, name: str = "GET", attributes: dict[str, str] | None = None) -> Iterator[Span]:
        """A span of an instrumentation."""
        with self.rig.tracer().start_as_current_span(name, attributes=attributes) as span:
            yield span

    @contextmanager
    def tool(self, **attributes: str) -> Iterator[Span]:
        """A tool call that an instrumentation has made a span of."""
        with self.span("execute_tool db", {**TOOL, **attributes}) as span:
            yield span

    def fail(self, name: str = "GET", attributes: dict[str, str] | None = None) -> None:
        """A span that fails, and the exception goes on."""
        with self.span(name, attributes):
            raise KeyError("a")

    @contextmanager
    def failed_call(self) -> Iterator[None]:
        """A failed call by a boundary of this library, inside an instrumented one of the same tool."""
        with run("c", ledger=self.rig.ledger, tracer_provider=self.rig.provider) as opened, self.tool():
            with self.span(), opened.tool("db", gated=False):
                raise KeyError("a")
            yield

    def log(self, severity: SeverityNumber = SeverityNumber.ERROR) -> None:
        """A log record of the same exception."""
        loggers = LoggerProvider(shutdown_on_exit=False)
        processor = ErrorCompactionLogRecordProcessor(self.rig.ledger, tracker=self.rig.processor.tracker)
        loggers.add_log_record_processor(processor)
        attributes = {"exception.type": "KeyError", "exception.message": "'a'"}
        loggers.get_logger("app").emit(severity_number=severity, attributes=attributes, body="it failed")

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many failures were counted, how many handled, and how many records were recognised as known."""
        return len(self.rig.told.observed), len(self.rig.told.handled), self.rig.processor.duplicates


@pytest.fixture
def scene(rig, monkeypatch: pytest.MonkeyPatch) -> Scene:
    made = Scene(rig)

    def decide(situation: Situation) -> settling.Outcome:
        made.rows.append(find_row(situation).name)
        return settling.decide(situation)

    monkeypatch.setattr(tracker, "decide", decide)
    return made


SCENES: dict[str, tuple[Callable[[Scene], object], tuple[int, int, int]]] = {}


def plays(row: str, *, counted: int = 0, handled: int = 0, known: int = 0) -> Callable[..., None]:
    """Say what an application does for a row, and what comes of it."""

    def add(play: Callable[[Scene], object]) -> None:
        SCENES[row] = play, (counted, handled, known)

    return add


@plays("healthy span")
def _(scene: Scene) -> None:
    with scene.tool(), scene.span() as span:
        span.add_event("exception", {"exception.type": "CancelledError"})


@plays("span of ours")
def _(scene: Scene) -> None:
    scene.fail(attributes={"errcompact.class": "0123456789abcdef"})


@plays("span of a known failure", counted=1, known=1)
def _(scene: Scene) -> None:
    with scene.span("around"):
        scene.fail()


@plays("span inside a boundary", handled=1)
def _(scene: Scene) -> None:
    with scene.tool(), suppress(KeyError):
        scene.fail()


@plays("span outside", counted=1)
def _(scene: Scene) -> None:
    scene.fail()


@plays("failed call of ours", counted=1)
def _(scene: Scene) -> None:
    with scene.failed_call():
        pass


@plays("call of ours")
def _(scene: Scene) -> None:
    with scene.tool(**{"errcompact.outcome": "refused"}):
        pass


@plays("boundary of a counted failure", counted=1, known=2)
def _(scene: Scene) -> None:
    with scene.span("execute_tool db", TOOL), scene.span("invoke_agent a", {"gen_ai.operation.name": "invoke_agent"}):
        scene.fail("execute_tool web", TOOL)


@plays("boundary around a failed call of ours", counted=1, known=1)
def _(scene: Scene) -> None:
    with scene.failed_call():
        raise ValueError("the tool answers with the digest")


@plays("boundary inside a boundary", handled=1)
def _(scene: Scene) -> None:
    with scene.tool(), suppress(KeyError):
        scene.fail("execute_tool web", TOOL)


@plays("failed boundary", counted=1)
def _(scene: Scene) -> None:
    scene.fail("execute_tool db", TOOL)


@plays("declined call")
def _(scene: Scene) -> None:
    with scene.tool() as span:
        span.set_status(Status(StatusCode.ERROR, "CancelledError: "))
        span.set_attribute("error.type", "CancelledError")


@plays("steered call")
def _(scene: Scene) -> None:
    with scene.rig.tracer().start_as_current_span("execute_tool db", attributes=TOOL, record_exception=False) as span:
        span.set_status(Status(StatusCode.OK))
        raise GeneratorExit


@plays("call with a digest as its result", counted=1)
def _(scene: Scene) -> None:
    with scene.failed_call():
        pass


@plays("answer of a model")
def _(scene: Scene) -> None:
    with scene.span("chat gpt", CHAT):
        pass


@plays("call that succeeded")
def _(scene: Scene) -> None:
    with scene.tool():
        pass


@plays("record of a known failure", counted=1, known=1)
def _(scene: Scene) -> None:
    with scene.span("around"):
        with suppress(KeyError):
            scene.fail()
        scene.log()


@plays("record inside a boundary", handled=1)
def _(scene: Scene) -> None:
    with scene.tool():
        scene.log()


@plays("incidental record")
def _(scene: Scene) -> None:
    scene.log(SeverityNumber.WARN)


@plays("record in a call of ours")
def _(scene: Scene) -> None:
    with (
        run("c", ledger=scene.rig.ledger) as opened,
        opened.tool("db", gated=False),
    ):
        scene.log()


@plays("record outside", counted=1)
def _(scene: Scene) -> None:
    scene.log()


@plays("mention in a call of ours")
def _(scene: Scene) -> None:
    with scene.span(attributes={"errcompact.class": "0123456789abcdef"}) as span:
        span.record_exception(KeyError("a"))


@plays("mention inside a boundary", handled=1)
def _(scene: Scene) -> None:
    with scene.tool(), scene.span() as span:
        span.record_exception(KeyError("a"))


@plays("mention outside", handled=1)
def _(scene: Scene) -> None:
    with scene.span() as span:
        span.record_exception(KeyError("a"))


@plays("pending inside two boundaries", handled=1)
def _(scene: Scene) -> None:
    with scene.tool(), scene.span(PROMISED) as span:
        with suppress(KeyError):
            scene.fail()
        span.set_attribute("gen_ai.operation.name", "plan")


@plays("pending incidental record", handled=1)
def _(scene: Scene) -> None:
    with scene.span(PROMISED) as span:
        scene.log(SeverityNumber.WARN)
        span.set_attribute("gen_ai.operation.name", "plan")


@plays("pending in a void boundary", counted=1)
def _(scene: Scene) -> None:
    with scene.span(PROMISED) as span:
        with suppress(KeyError):
            scene.fail()
        span.set_attribute("gen_ai.operation.name", "plan")


@plays("pending part of the boundary's failure", counted=1, known=1)
def _(scene: Scene) -> None:
    with scene.tool():
        scene.fail()


@plays("pending and left behind", handled=1)
def _(scene: Scene) -> None:
    with scene.tool(), suppress(KeyError):
        scene.fail()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_row(scene: Scene, row: settling.Row) -> None:
    """Each row decides where the application is as the row says, and what comes of it is counted once."""
    play, counts = SCENES[row.name]
    with suppress(KeyError, ValueError, GeneratorExit):
        play(scene)
    assert row.name in scene.rows
    assert scene.counts == counts


def test_every_situation_is_decided() -> None:
    """A subject's last row asks for nothing, each row asks for facts there are, and none stands twice."""
    facts = set(Situation._fields) - {"subject"}
    last = {row.subject: row for row in TABLE}
    assert all(row.when == {} for row in last.values())
    assert all(set(row.when) <= facts for row in TABLE)
    assert len({row.name for row in TABLE}) == len(TABLE) == len(SCENES)
