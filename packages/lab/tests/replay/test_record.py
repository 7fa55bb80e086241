"""The record equals the run: what is read back from a trajectory file is what the run reported."""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_errcompact
from otel_errcompact import Continue, Halt, Options, Pause, Thresholds
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.boundary.scope import RunScope
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.events import Arrived
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.exceptions import RunHalted
from otel_errcompact_lab.replay import open_pipeline
from otel_errcompact_lab.transcripts import RecordedCall, RecordedLife, RecordedRun, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_errcompact.escalator.actions import Handler
    from otel_errcompact_lab.replay import ReplayedRun

TRACEBACK = """\
Traceback (most recent call last):
  File "app.py", line 3, in load
    raise KeyError("id")
KeyError: 'id'
"""
TEXTS = (
    "ConnectionError: no such host found at 10.0.0.1:5432",
    "FAILED tests/test_a.py::test_one - AssertionError: assert 1 == 2\n1 failed, 3 passed in 0.12s",
    TRACEBACK,
    "bash: pytset: command not found",
    "",
)
COMMANDS = ("pytest tests/a.py", "pytest tests/b.py", "pytest", "git push", "cat notes.txt")


def read_back(path: Path) -> list[ReplayedRun]:
    """What `errcompact report` makes of a file."""
    problems: list[Exception] = []
    with open_pipeline(Options(trajectory=TrajectoryOptions(enabled=False))) as pipeline:
        played = [run for record in read(path, on_problem=problems.append) for run in pipeline.play(record)]
        played += pipeline.finish()
    assert problems == []
    return played


def lose(path: Path, number: int) -> None:
    """Drop the first lines of a file."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[number:]))


class Recorded:
    """A ledger whose failures are kept in a file."""

    def __init__(self, path: Path, work_timer: Callable[[], int] = lambda: 0, **options: Any) -> None:
        self.path = path
        clock = itertools.count(1_700_000_000_000_000_000, 1_000_000_000)
        self.clock_ns = lambda: next(clock)
        self.ledger = Ledger(Options(**options), work_timer=work_timer)
        self.file = TrajectoryFile(TrajectoryOptions(path=path), clock_ns=self.clock_ns)
        self.ledger.listeners.add(self.file)

    def run(self, run_id: str = "run-1", **settings: Any) -> otel_errcompact.Run:
        scope = RunScope(run_id, agent="shop", ledger=self.ledger, clock_ns=self.clock_ns, **settings)
        return otel_errcompact.Run(scope)


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path / "trajectory.jsonl")


def same_as(run: otel_errcompact.Run, played: ReplayedRun) -> bool:
    """Whether both are equal in every field that is reported."""
    assert played.report.model_dump(mode="json") == run.report().model_dump(mode="json")
    return True


def fails(run: otel_errcompact.Run, text: str = TEXTS[0], tool: str = "db", **arguments: object) -> None:
    with run.tool(tool, arguments=arguments) as call:
        call.fail(text)


def works(run: otel_errcompact.Run, tool: str = "db", **arguments: object) -> None:
    with run.tool(tool, arguments=arguments) as call:
        call.result = "ok"


class TestOneRun:
    def test_recovered_classes_and_an_escalation(self, recorded: Recorded) -> None:
        """Three classes recovered and one escalated: read back, they are what they were."""
        with recorded.run() as run:
            for tool, text in zip("abc", TEXTS, strict=False):
                fails(run, text, tool)
                works(run, tool)
            for number in range(5):
                fails(run, TEXTS[3], "d", query=number)
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert [found.status for found in played.report.classes] == ["RECOVERED"] * 3 + ["ESCALATED"]
        assert (played.result, played.lacks) == ("unresolved", "")

    def test_classes_that_there_was_no_time_to_find(self, tmp_path: Path) -> None:
        """What was not read while it failed is read from the file: its texts are of one class again."""
        recorded = Recorded(tmp_path / "trajectory.jsonl", work_timer=itertools.count(0, 1 << 60).__next__)
        with recorded.run() as run:
            for port in (54321, 54322, 54323):
                fails(run, f"ConnectionError: no such host found at 10.0.0.1:{port}")
        (played,) = read_back(recorded.path)
        assert [found.cause for found in run.report().classes] == [
            "no such host found at 10.0.0.1:54321",
            "ConnectionError: no such host found at 10.0.0.1:54322",
            "ConnectionError: no such host found at 10.0.0.1:54323",
        ]
        (found,) = played.report.classes
        assert (found.count, found.type) == (3, "ConnectionError")

    def test_nothing_fails(self, recorded: Recorded) -> None:
        """A run in which nothing fails writes nothing."""
        with recorded.run() as run:
            works(run)
            run.resume("carry on")
        assert not recorded.path.exists()

    @pytest.mark.parametrize("answer", [Continue("use the other table"), Halt("enough"), Pause("wait")])
    def test_answers(self, recorded: Recorded, answer: Any) -> None:
        """An escalation has the answer it had, with its words."""
        with recorded.run(on_escalation=lambda _: answer) as run:
            for number in range(5):
                try:
                    fails(run, query=number)
                except RunHalted:
                    break
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert played.report.escalations[0].message

    def test_resumed(self, recorded: Recorded) -> None:
        """A run that a human lets go on counts afresh from there, also where no escalation stood."""
        with recorded.run() as run:
            fails(run, query=1)
            fails(run, query=2)
            run.resume("go on")
            fails(run, query=3)
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert [found.streak for found in played.report.classes] == [1]

    def test_refusals(self, recorded: Recorded) -> None:
        """Refused calls count towards the loop, which halts the run."""
        with recorded.run() as run, pytest.raises(RunHalted):
            for _ in range(10):
                with run.tool("edit", arguments={"path": "a.py", "old": "x"}) as call:
                    if not call.refused:
                        call.fail("FileNotFoundError: [Errno 2] No such file or directory: 'a.py'")
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert played.result == "halted"

    def test_failed(self, recorded: Recorded) -> None:
        """An exception that leaves the run has failed it."""
        with pytest.raises(ZeroDivisionError), recorded.run() as run:
            1 / 0  # noqa: B018
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert played.result == "failed"

    def test_taken_back(self, recorded: Recorded) -> None:
        """A resolution that was none is taken back."""
        with recorded.run() as run:
            fails(run, TEXTS[1], "bash", command="pytest a.py")
            works(run, "bash", command="pytest")
            fails(run, TEXTS[1], "bash", command="pytest a.py")
        (played,) = read_back(recorded.path)
        assert same_as(run, played)

    @pytest.mark.parametrize("mode", ["observe", "advise", "enforce"])
    def test_modes(self, recorded: Recorded, mode: Any) -> None:
        """In each mode, and with thresholds of its own."""
        with recorded.run(mode=mode, thresholds=Thresholds(same=2, halts=frozenset({"same"}))) as run:
            for number in range(4):
                try:
                    fails(run, query=number)
                except RunHalted:
                    break
        (played,) = read_back(recorded.path)
        assert same_as(run, played)

    @pytest.mark.parametrize("raised", [ValueError("a\nb"), KeyError("k"), OSError(2, "none", "f.txt"), Exception()])
    def test_exceptions(self, recorded: Recorded, raised: Exception) -> None:
        """A live exception has the key, cause and place that it had, whatever its text alone would give."""
        with recorded.run() as run:
            for _ in range(2):
                with run.tool("load"):
                    raise raised.with_traceback(None) from RuntimeError("inner")
        (played,) = read_back(recorded.path)
        assert same_as(run, played)

    def test_older_files_do_not_say_what_was_sent(self, recorded: Recorded) -> None:
        """The raw error stands for it there; a current file has the message of the exception."""
        with recorded.run() as run, run.tool("db") as call:
            call.fail(KeyError("total"))
        (played,) = read_back(recorded.path)
        assert 0 < played.report.sent_tokens < played.report.raw_tokens
        lines = recorded.file.runs_path
        lines.write_text(lines.read_text("utf-8").replace("errcompact.tokens.sent", "errcompact.tokens.other"), "utf-8")
        (played,) = read_back(recorded.path)
        assert played.report.sent_tokens == played.report.raw_tokens

    def test_older_files_say_ledger_and_number_apart(self, recorded: Recorded) -> None:
        """They are read as current ones are."""
        with recorded.run() as run:
            for number in range(2):
                fails(run, query=number)
        for file in (recorded.path, recorded.file.runs_path):
            text, replaced = re.subn(
                r'("errcompact\.)record(","value":{"stringValue":"\w+)-(\d)"',
                r'\1ledger.id\2"}},{"key":\1record","value":{"intValue":"\3"',
                file.read_text("utf-8"),
            )
            assert replaced == 2
            file.write_text(text, "utf-8")
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert (played.failures, played.lacks) == (2, "")

    def test_handled(self, recorded: Recorded) -> None:
        """Handled failures are counted as such, and are no classes."""
        with recorded.run() as run:
            recorded.ledger.handled("run-1", run_raw(recorded))
            works(run)
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert (played.handled, played.failures, played.result) == (1, 0, "clean")

    def test_without_output(self, recorded: Recorded) -> None:
        """A command that printed nothing has the key that its exit status gives it."""
        with recorded.run() as run:
            with run.tool("bash", arguments={"command": "make"}) as call:
                call.fail("", exit_code=3)
            with run.tool("bash", arguments={"command": "make all"}) as call:
                call.exit_code = 3
                call.result = ""
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert len(played.report.classes) == 1


def run_raw(recorded: Recorded) -> RawError:
    return RawError(text=TEXTS[0], tool="db", time_ns=recorded.clock_ns())


class TestLost:
    def test_killed(self, recorded: Recorded) -> None:
        """A process that was killed leaves the run as it stood."""
        run = recorded.run()
        run.port.open()
        fails(run)
        fails(run, query=1)
        works(run, "other")
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert (played.result, played.lacks) == ("unresolved", "no end was recorded")

    def test_killed_while_it_waits(self, recorded: Recorded) -> None:
        """An escalation that nobody has answered is not answered by reading it."""
        run = recorded.run(on_escalation=lambda _: Pause("wait"))
        run.port.open()
        for number in range(3):
            fails(run, query=number)
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert played.result == "halted"

    def test_killed_after_the_raw_error(self, recorded: Recorded) -> None:
        """A raw error of which nothing else was written counts all the same."""
        with recorded.run() as run:
            fails(run)
            before = recorded.file.runs_path.read_bytes()
            fails(run, query=1)
        recorded.file.runs_path.write_bytes(before)
        (played,) = read_back(recorded.path)
        assert (played.failures, played.report.classes[0].count) == (2, 2)
        assert played.lacks == "no end was recorded"

    def test_lines_are_lost(self, recorded: Recorded) -> None:
        """The end tells how many failures there were."""
        with recorded.run() as run:
            for number in range(4):
                fails(run, query=number)
        lose(recorded.path, 2)
        lose(recorded.file.runs_path, 3)
        (played,) = read_back(recorded.path)
        assert played.result == run.report().result
        assert played.lacks == "no begin was recorded and 2 of 4 failures are in the file"

    def test_any_line_may_be_lost(self, recorded: Recorded) -> None:
        """Whichever line is missing, the rest is read."""
        with recorded.run(on_escalation=lambda _: Continue("on")) as run:
            for number in range(4):
                fails(run, query=number)
            works(run)
        for path in (recorded.path, recorded.file.runs_path):
            lines = path.read_bytes().splitlines(keepends=True)
            for place in range(len(lines)):
                path.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))
                assert read_back(recorded.path)
            path.write_bytes(b"".join(lines))

    def test_forgotten(self, recorded: Recorded) -> None:
        """A run that memory has lost begins once more, and is told as two."""
        recorded.ledger.observe("run-1", run_raw(recorded))
        recorded.ledger.store.discard("run-1")
        with recorded.run() as run:
            fails(run)
        first, second = read_back(recorded.path)
        assert same_as(run, second)
        assert (first.lacks, second.lacks) == ("no end was recorded", "")

    def test_raw_errors_alone(self, recorded: Recorded) -> None:
        """A file of an earlier release has raw errors and nothing else, and is read as before."""
        recorded.file.write_raw(Arrived(run_id="run-1", raw=run_raw(recorded)))
        assert not any(isinstance(record, RecordedLife) for record in read(recorded.path, on_problem=print))
        (played,) = read_back(recorded.path)
        assert played.failures == 1


class TestSeveral:
    @pytest.mark.usefixtures("untraced")
    def test_threads(self, tmp_path: Path) -> None:
        """Lines of threads are in another order than what was counted; read back, that does not matter."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            for seed in range(10):
                recorded = Recorded(tmp_path / f"{seed}.jsonl")
                with recorded.run(thresholds=Thresholds(loop_halt=1_000)) as run, ThreadPoolExecutor(6) as pool:
                    list(pool.map(_at_random, [run] * 6, range(seed, seed + 6)))
                (played,) = read_back(recorded.path)
                assert same_as(run, played)
        finally:
            sys.setswitchinterval(interval)

    def test_interleaved(self, recorded: Recorded) -> None:
        """Runs side by side are told apart."""
        with recorded.run("a") as one, recorded.run("b") as two:
            for number in range(3):
                fails(one, query=number)
                fails(two, query=number)
            works(one)
        played = {each.run_id: each for each in read_back(recorded.path)}
        assert same_as(one, played["a"])
        assert same_as(two, played["b"])

    def test_processes(self, tmp_path: Path) -> None:
        """Two processes that share a file and a run id are two runs."""
        one, two = (Recorded(tmp_path / "trajectory.jsonl") for _ in range(2))
        with one.run() as first, two.run() as second:
            fails(first)
            fails(second)
            works(second)
        played = read_back(one.path)
        assert [each.result for each in played] == ["recovered", "unresolved"]

    def test_one_after_the_other(self, recorded: Recorded) -> None:
        """A conversation that is opened again is another run of the same id."""
        runs = []
        for _ in range(2):
            with recorded.run() as run:
                fails(run)
            runs.append(run)
        assert all(map(same_as, runs, read_back(recorded.path)))

    def test_rotated(self, tmp_path: Path) -> None:
        """The files that were rotated away are read first, and no run is torn by it."""
        recorded = Recorded(tmp_path / "trajectory.jsonl")
        recorded.file = TrajectoryFile(TrajectoryOptions(path=recorded.path, max_bytes=65_536, backups=3))
        recorded.ledger = Ledger()
        recorded.ledger.listeners.add(recorded.file)
        with recorded.run() as run:
            for number in range(3):
                fails(run, TEXTS[0] + "x" * 30_000, query=number)
            works(run)
        assert len(list(tmp_path.iterdir())) > 1
        (played,) = read_back(recorded.path)
        assert same_as(run, played)


def _at_random(run: otel_errcompact.Run, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        with run.tool("bash", arguments={"command": chance.choice(COMMANDS)}) as call:
            if not call.refused:
                _outcome(call, chance.choice(("fail", "fail", "work")), chance.choice(TEXTS))


step = st.one_of(
    st.tuples(st.just("fail"), st.sampled_from(COMMANDS), st.sampled_from(TEXTS)),
    st.tuples(st.just("raise"), st.sampled_from(COMMANDS), st.sampled_from(("a", "b"))),
    st.tuples(st.just("work"), st.sampled_from(COMMANDS), st.just("")),
    st.tuples(st.just("exit"), st.sampled_from(COMMANDS), st.sampled_from(("0", "1", "127"))),
    st.tuples(st.just("turn"), st.just(""), st.just("")),
    st.tuples(st.just("resume"), st.just(""), st.sampled_from(("", "go on"))),
    st.tuples(st.just("handled"), st.just(""), st.just("")),
    st.tuples(st.just("insist"), st.sampled_from(COMMANDS), st.sampled_from(TEXTS)),
)
steps = st.lists(step, max_size=25)
answers = st.lists(st.sampled_from((Continue("try b"), Continue(), Pause("wait"), Halt("no"))), max_size=4)
limits = st.builds(
    Thresholds,
    same=st.integers(1, 4),
    rejected=st.integers(1, 4),
    loop=st.integers(2, 4),
    loop_halt=st.integers(3, 6),
    refuse=st.integers(1, 3),
    consecutive=st.integers(2, 6),
    total=st.integers(3, 10),
    halts=st.frozensets(st.sampled_from(("same", "rejected", "consecutive", "total")), max_size=2),
)


def live(run: otel_errcompact.Run, recorded: Recorded, step: tuple[str, str, str]) -> None:
    """One step of a run."""
    what, command, said = step
    if what == "turn":
        run.begin_turn()
    elif what == "resume":
        run.resume(said)
    elif what == "handled":
        recorded.ledger.handled(run.run_id, run_raw(recorded))
    else:
        with run.tool("bash", arguments={"command": command}) as call:
            if what == "insist" or not call.refused:
                _outcome(call, what, said)


def _outcome(call: Any, what: str, said: str) -> None:
    if what == "raise":
        raise ValueError(f"cannot parse {said}")
    if what in {"fail", "insist"}:
        call.fail(said, exit_code=None if said else 2)
    elif what == "exit":
        call.exit_code, call.result = int(said), ""
    else:
        call.result = "ok"


@given(steps=steps, answers=answers, limits=limits, mode=st.sampled_from(("observe", "advise", "enforce")))
def test_the_record_equals_the_run(steps: Any, answers: Any, limits: Thresholds, mode: Any) -> None:
    """Whatever happens in a run, its report read back is its report, field by field."""
    given_ = iter(answers)
    handler: Handler | None = (lambda _: next(given_, Continue())) if answers else None
    with tempfile.TemporaryDirectory() as folder:
        recorded = Recorded(Path(folder) / "trajectory.jsonl")
        with recorded.run(on_escalation=handler, thresholds=limits, mode=mode) as run:
            for step in steps:
                try:
                    live(run, recorded, step)
                except RunHalted:
                    run.resume("a human has looked")
        report = run.report()
        if not (report.occurrences or report.handled):
            assert not recorded.path.exists()
            return
        (played,) = read_back(recorded.path)
        assert same_as(run, played)
        assert played.lacks == ""


class TestOneValue:
    """What telemetry says of one failure agrees."""

    def test_error_type(self) -> None:
        """`error.type` of a span is that of the metric, so that from a panel one gets to the spans."""
        exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(exporter))
        meters = MeterProvider([reader], shutdown_on_exit=False)
        ledger = Ledger(Options(trajectory=TrajectoryOptions(enabled=False)))
        installed = otel_errcompact.install(tracer_provider=tracers, meter_provider=meters, ledger=ledger)
        with otel_errcompact.run("r", ledger=ledger, tracer_provider=tracers) as run:
            fails(run, TEXTS[1])
            with run.tool("load"):
                raise RuntimeError("wrapped") from KeyError("id")
            with run.tool("bash") as call:
                call.fail("", exit_code=2)
        data = json.loads(reader.get_metrics_data().to_json())
        installed.uninstall()
        metrics = [metric for scope in data["resource_metrics"][0]["scope_metrics"] for metric in scope["metrics"]]
        (errors,) = [metric for metric in metrics if metric["name"] == "errcompact.errors"]
        counted = {point["attributes"]["error.type"] for point in errors["data"]["data_points"]}
        spans = [span for span in exporter.get_finished_spans() if span.events]
        assert {span.attributes["error.type"] for span in spans} == counted
        for event in (event for span in spans for event in span.events):
            assert event.attributes.get("exception.type") or event.attributes.get("exception.message")

    def test_no_output(self, recorded: Recorded) -> None:
        """A failure without output is one class, live, in a trajectory, in a trace and in a transcript."""
        with recorded.run() as run, run.tool("bash", arguments={"command": "make"}) as call:
            call.fail("", exit_code=3)
        (live,) = run.report().classes
        recorded.path.write_text(
            "".join(line for line in recorded.path.read_text().splitlines(True) if "resourceSpans" in line)
        )
        (as_trace,) = read_back(recorded.path)
        times = {"start_ns": 1, "end_ns": 2, "line": 1}
        made = RecordedCall(tool="bash", result="", arguments='{"command": "make"}', exit_code=3, **times)
        with open_pipeline(Options(trajectory=TrajectoryOptions(enabled=False))) as pipeline:
            record = RecordedRun(run_id="r", agent="a", source="f", calls=(made,), context_tokens=0, result_tokens=0)
            (as_transcript,) = pipeline.play(record)
        assert as_trace.class_keys == as_transcript.class_keys == (live.key,)
