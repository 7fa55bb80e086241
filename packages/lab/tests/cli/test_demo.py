"""The demo: its numbers are the same on every machine, and what it says of the three artefacts is true."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from http.client import BadStatusLine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from traceback import format_exception
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from rich import box
from rich.console import Console
from typer.testing import CliRunner

from otel_errcompact.config import runs_path
from otel_errcompact.errors import RawError
from otel_errcompact_lab.cli.app import app
from otel_errcompact_lab.cli.demo import session as demo_session
from otel_errcompact_lab.cli.demo import tools as demo_tools
from otel_errcompact_lab.cli.demo.agent import TASK, ToolCall
from otel_errcompact_lab.cli.demo.narrative import DemoConsole, excerpt, write_opening, write_step, write_summary
from otel_errcompact_lab.cli.demo.project import write_project
from otel_errcompact_lab.cli.demo.server import Addresses, servers
from otel_errcompact_lab.cli.demo.session import Session, Step, model_calls, play
from otel_errcompact_lab.cli.demo.telemetry import Signals, telemetry
from tests.extract.reading import extract

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEFAULT_TRAJECTORY = "errcompact-trajectory-demo.jsonl"

STEPS = [
    ("read_json", "failed"),
    ("edit_line", "ok"),
    ("read_json", "ok"),
    ("query", "failed"),
    ("columns", "ok"),
    ("query", "ok"),
    ("run_tests", "failed"),
    ("read_line", "ok"),
    ("edit_line", "ok"),
    ("run_tests", "ok"),
    ("shell", "failed"),
    ("shell", "ok"),
    ("publish", "failed"),
    ("publish", "failed"),
    ("publish", "failed"),
    ("publish", "failed"),
    ("publish", "failed"),
    ("publish", "refused"),
    ("publish", "failed"),
    ("publish", "failed"),
    ("publish", "failed"),
]


class Played(NamedTuple):
    session: Session
    signals: Signals
    trajectory: Path


def run_demo(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None, python: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the real command in `folder`, with its temporary folders inside `folder / "tmp"`."""
    (folder / "tmp").mkdir(exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    clean |= {"TMPDIR": str(folder / "tmp"), "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    command = [sys.executable, *(python or ("-m", "otel_errcompact_lab.cli.main")), "demo", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={**clean, **(environment or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    trajectory = tmp_path_factory.mktemp("demo") / "trajectory.jsonl"
    with telemetry(trajectory) as running:
        session = play(lambda _: None, running.tracer_provider)
        return Played(session, running.signals(), trajectory)


@pytest.fixture(scope="module")
def demo_output(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("demo_output")
    return folder, run_demo(folder)


def spans_of(trajectory: Path) -> Iterator[dict[str, Any]]:
    for line in trajectory.read_text(encoding="utf-8").splitlines():
        for resource in json.loads(line).get("resourceSpans", ()):
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def stacktraces(trajectory: Path) -> list[str]:
    return [
        attribute["value"]["stringValue"]
        for span in spans_of(trajectory)
        for event in span["events"]
        for attribute in event["attributes"]
        if attribute["key"] == "exception.stacktrace"
    ]


def total(played: Played, instrument: str, *attributes: str) -> Counter[tuple[str, ...]]:
    """Return the values of an instrument by some of its attributes."""
    sums: Counter[tuple[str, ...]] = Counter()
    for point in played.signals.points:
        if point.instrument == instrument:
            sums[tuple(point.attributes[name] for name in attributes)] += point.value
    return sums


class TestSession:
    """What the agent lived."""

    @pytest.mark.programs
    def test_its_steps_are_always_the_same(self, played: Played) -> None:
        """Twenty-one calls: twelve fail, one is refused, and eight succeed."""
        assert [(step.call.tool, step.outcome) for step in played.session.steps] == STEPS

    def test_its_classes_and_counts_are_always_the_same(self, played: Played) -> None:
        """Twelve failures are seven classes: four recovered from, two escalated, one still open."""
        report = played.session.report

        assert [(found.status, found.tool, found.count) for found in report.classes] == [
            ("RECOVERED", "read_json", 1),
            ("RECOVERED", "query", 1),
            ("RECOVERED", "run_tests", 1),
            ("RECOVERED", "shell", 1),
            ("ESCALATED", "publish", 3),
            ("ACTIVE", "publish", 2),
            ("ESCALATED", "publish", 3),
        ]
        assert (report.result, report.occurrences, report.handled, report.after_escalation) == ("halted", 12, 0, 0)

    def test_it_escalates_twice_and_halts(self, played: Played) -> None:
        """The first loop is answered with another way, the second one with a halt, which the next gate raises."""
        escalations = played.session.report.escalations

        assert [(a.escalation.threshold, a.escalation.count, a.action) for a in escalations] == [
            ("same", 3, "continue"),
            ("same", 3, "halt"),
        ]
        assert [step.number for step in played.session.steps if step.answered] == [15, 21]
        assert played.session.halted == "the mirror is broken too, I publish the report by hand"

    def test_each_repeat_is_told_before_it_escalates(self, played: Played) -> None:
        """From the second failure on the digest says that the call has failed before, and what to do."""
        assert [step.number for step in played.session.steps if " again (x" in step.read] == [14, 15, 17, 20, 21]
        assert [
            step.number for step in played.session.steps if "; escalates at 3: try something else)" in step.read
        ] == [14, 20]
        assert (
            "(x2, 2 in a row; 2 identical calls failed and no call has succeeded since" in played.session.steps[16].read
        )

    def test_a_call_that_cannot_work_is_refused(self, played: Played) -> None:
        """It has failed twice; the other loops are of calls that differ in their arguments."""
        refused = played.session.steps[17]

        assert [step.number for step in played.session.steps if step.outcome == "refused"] == [refused.number]
        assert refused.read.startswith(
            "NOT EXECUTED: this exact call has failed 2 times and no call has succeeded since. "
            'Change the arguments or the approach.\n"[read_only] at tool publish: HTTP 403: this account may not write'
        )
        assert refused.call.arguments == played.session.steps[16].call.arguments

    def test_the_agent_never_sees_a_raw_traceback(self, played: Played) -> None:
        """No line that it reads is a traceback's header or one of its frames."""
        read = [line for step in played.session.steps for line in (step.read + "\n" + step.recent_errors).splitlines()]

        assert [line for line in read if re.match(r'Traceback|\s*File "', line)] == []
        assert sum("Traceback (most recent call last)" in step.raw for step in played.session.steps) == 6

    @pytest.mark.parametrize(
        ("number", "fact", "acted", "argument"),
        [
            pytest.param(1, "line 3 column 3", 2, ("line", 2), id="missing comma"),
            pytest.param(4, "no such column: amount ", 6, ("sql", "SUM(amount_cents)"), id="wrong column"),
            pytest.param(7, "shop/stats.py:5)", 9, ("line", 5), id="division by zero"),
            pytest.param(11, "choose from ", 12, ("command", "--format csv"), id="wrong choice"),
            pytest.param(18, "NOT EXECUTED: ", 19, ("timeout", 80), id="refused"),
        ],
    )
    def test_the_digest_holds_the_fact_the_agent_acts_on(
        self, played: Played, number: int, fact: str, acted: int, argument: tuple[str, str | int]
    ) -> None:
        """What the agent does next stands in what it has read."""
        name, value = argument

        assert fact in played.session.steps[number - 1].read
        assert str(value) in str(played.session.steps[acted - 1].call.arguments[name])

    def test_the_agent_obeys_the_operator(self, played: Played) -> None:
        """The operator's answer reaches it in the block of recent errors, and it takes the address given there."""
        before, after = played.session.steps[14:16]

        assert f"take the mirror: {after.call.arguments['url']}\n" in before.recent_errors
        assert before.call.arguments["url"] != after.call.arguments["url"]

    def test_a_success_clears_the_block(self, played: Played) -> None:
        """Once an operation has succeeded again there is nothing to say of its failures."""
        blocks = [step.recent_errors != "" for step in played.session.steps[:12]]

        assert blocks == [True, True, False, True, True, False, True, True, True, False, True, False]


class TestArtefacts:
    """What became of the failures."""

    def test_the_trajectory_holds_each_raw_error_whole(self, played: Played) -> None:
        """One line for each failure, in order, with the text exactly as the tool gave it."""
        raw = [step.raw for step in played.session.steps if step.outcome == "failed"]

        assert stacktraces(played.trajectory) == raw

    def test_every_failure_is_counted_once(self, played: Played) -> None:
        """The counter has one occurrence for each failed call: first ones as new, others as repeats."""
        assert total(played, "errcompact.errors", "gen_ai.tool.name", "errcompact.outcome") == {
            ("read_json", "new"): 1,
            ("query", "new"): 1,
            ("run_tests", "new"): 1,
            ("shell", "new"): 1,
            ("publish", "new"): 3,
            ("publish", "repeat"): 5,
        }

    def test_recoveries_escalations_and_the_run_are_counted(self, played: Played) -> None:
        """Four classes were resolved, each answer to an escalation counts, and the run was halted."""
        assert total(played, "errcompact.resolutions", "gen_ai.tool.name") == {
            ("read_json",): 1,
            ("query",): 1,
            ("run_tests",): 1,
            ("shell",): 1,
        }
        assert total(played, "errcompact.escalations", "errcompact.threshold", "errcompact.action") == {
            ("same", "continue"): 1,
            ("same", "halt"): 1,
        }
        assert total(played, "errcompact.runs", "errcompact.result") == {("halted",): 1}

    def test_the_tokens_of_the_counter_and_the_report_agree(self, played: Played) -> None:
        """Two ways to the same number, and digests are fewer than both."""
        report = played.session.report

        assert report.raw_tokens > report.sent_tokens > report.digest_tokens
        assert total(played, "errcompact.context.tokens", "errcompact.form") == {
            ("raw",): report.raw_tokens,
            ("sent",): report.sent_tokens,
            ("digest",): report.digest_tokens,
        }


def test_a_prompt_is_the_conversation_so_far_and_the_block() -> None:
    """Each step pays for everything said before it, and for the block in front of it too."""
    # The task is 14 tokens; a step's thought and call are 1 + 6, its answer 5, the block 10.
    step = Step(
        number=1,
        call=ToolCall(tool="a", arguments={"b": 1}, thought="word"),
        outcome="failed",
        read="x" * 20,
        digest="x" * 20,
        raw="x" * 100,
        sent=15,
        key="k",
        recent_errors="x" * 40,
        answered=None,
    )
    assert len(TASK) == 56
    assert list(model_calls([step, step])) == [(14, 7), (14 + 12 + 10, 7)]


class TestCommand:
    """The real command."""

    def test_it_ends_well(self, demo_output: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
        """Exit code 0, and nothing on standard error."""
        _, done = demo_output

        assert (done.returncode, done.stderr) == (0, "")

    def test_it_leaves_nothing_but_the_trajectory(
        self, demo_output: tuple[Path, subprocess.CompletedProcess[str]]
    ) -> None:
        """The agent's workspace is gone; the file that is left is the one the account names."""
        folder, done = demo_output

        assert sorted(path.name for path in folder.iterdir()) == [
            DEFAULT_TRAJECTORY,
            runs_path(Path(DEFAULT_TRAJECTORY)).name,
            "tmp",
        ]
        assert list((folder / "tmp").iterdir()) == []
        assert str(folder / DEFAULT_TRAJECTORY) in done.stdout
        assert len(stacktraces(folder / DEFAULT_TRAJECTORY)) == 12

    def test_the_command_it_names_reads_the_trajectory(
        self, demo_output: tuple[Path, subprocess.CompletedProcess[str]]
    ) -> None:
        """`errcompact report` finds the same failures and classes in the file."""
        folder, _ = demo_output

        done = CliRunner().invoke(app, ["report", "--json", str(folder / DEFAULT_TRAJECTORY)])

        (report,) = json.loads(done.stdout)
        assert done.exit_code == 0
        assert (report["occurrences"], len(report["classes"])) == (12, 7)

    @pytest.mark.programs
    def test_it_needs_no_pytest(self, tmp_path: Path) -> None:
        """Where pytest is not installed, unittest fails and passes in the same places."""
        code = "import sys; sys.modules['pytest'] = None; from otel_errcompact_lab.cli.main import main; main()"

        done = run_demo(tmp_path, python=("-c", code))

        assert done.returncode == 0
        assert "FAILED (errors=4)" in stacktraces(tmp_path / DEFAULT_TRAJECTORY)[2]

    @pytest.mark.programs
    def test_a_trajectory_that_cannot_be_written_is_refused_at_once(self, tmp_path: Path) -> None:
        """One clear line instead of a session whose raw errors are kept nowhere."""
        done = run_demo(tmp_path, "--trajectory", "missing/t.jsonl")

        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"errcompact: --trajectory {tmp_path / 'missing/t.jsonl'}: No such file or directory; name another file\n"
        )

    @pytest.mark.programs
    def test_an_sdk_that_is_switched_off_is_refused(self, tmp_path: Path) -> None:
        """There would be no counters to show."""
        done = run_demo(tmp_path, environment={"OTEL_SDK_DISABLED": "true"})

        assert (done.returncode, done.stdout) == (2, "")
        assert "OTEL_SDK_DISABLED" in done.stderr

    @pytest.mark.programs
    def test_it_begins_a_file_of_its_own_anew_and_appends_to_one_that_was_named(self, in_tmp: Path) -> None:
        """The file of the demo's own name holds the last session; one that the user names keeps what it has."""
        for name in (DEFAULT_TRAJECTORY, "mine.jsonl"):
            (in_tmp / name).write_text("old\n")

        done = [CliRunner().invoke(app, ["demo", *arguments]) for arguments in ((), ("--trajectory", "mine.jsonl"))]

        assert [result.exit_code for result in done] == [0, 0]
        own, named = ((in_tmp / name).read_text().splitlines() for name in (DEFAULT_TRAJECTORY, "mine.jsonl"))
        assert (len(named), named[0], "old" in own) == (len(own) + 1, "old", False)
        assert sum("resourceSpans" in line for line in own) == 12
        assert f"12 raw errors, and what became of them, as {len(own)} OTLP/JSON lines" in done[1].stdout


class Collector(ThreadingHTTPServer):
    """An OTLP endpoint on the loopback address."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), CollectorHandler)
        self.bodies: dict[str, list[bytes]] = {"/v1/traces": [], "/v1/metrics": [], "/v1/logs": []}


class CollectorHandler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.bodies[self.path].append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as server:
        yield server


class Exported(NamedTuple):
    """
    What two sessions that went to an OTLP endpoint printed, and what arrived there.
    """

    done: subprocess.CompletedProcess[str]
    traces: list[ExportTraceServiceRequest]
    metrics: list[ExportMetricsServiceRequest]
    logs: list[ExportLogsServiceRequest]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Two sessions, played once: with an endpoint, plain where colours are forced, and with options that are bad."""
    with collecting() as collector:
        done = run_demo(
            tmp_path_factory.mktemp("exported"),
            *("--plain", "--repeat", "2"),
            environment={
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
                "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
                "OTEL_ERRCOMPACT_THRESHOLDS_SAME": "1",
                "FORCE_COLOR": "1",
            },
        )
    return Exported(
        done,
        [ExportTraceServiceRequest.FromString(body) for body in collector.bodies["/v1/traces"]],
        [ExportMetricsServiceRequest.FromString(body) for body in collector.bodies["/v1/metrics"]],
        [ExportLogsServiceRequest.FromString(body) for body in collector.bodies["/v1/logs"]],
    )


@pytest.mark.programs
def test_plain_output_is_ascii_without_escape_sequences(exported: Exported) -> None:
    """`--plain` draws and colours nothing, even where colours are forced."""
    assert exported.done.returncode == 0
    assert exported.done.stdout.isascii()
    assert "\x1b" not in exported.done.stdout


def test_a_traceback_through_the_demo_keeps_its_frame(tmp_path: Path) -> None:
    """The command line is a program like any other: what fails in it has a place, which is not the test that called."""
    with pytest.raises(FileNotFoundError) as caught:
        demo_session._load_tools(tmp_path / "no" / "folder")
    text = "".join(format_exception(caught.value))
    for raw in (RawError(text=text), RawError(text=text, exception=caught.value)):
        place = extract(raw).location
        assert (Path(place.file), place.function) == (Path(demo_session.__file__), "_load_tools")


@pytest.mark.programs
@pytest.mark.parametrize("columns", [80, 100, 200])
def test_the_story_fits_on_two_screens(tmp_path: Path, columns: int) -> None:
    """Every step with its outcome, the ladder, one failure in three forms, the bill, and where the files are."""
    done = run_demo(tmp_path, "--plain", environment={"COLUMNS": str(columns)})
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert len(lines) <= (104 if columns < 100 else 100)
    assert all(len(line) <= columns for line in lines if "trajectory-demo" not in line)
    assert done.stdout.isascii()
    steps = [re.match(r" ?([0-9]+) (\w+)\(.*\b(ok|failed|refused)$", line) for line in lines]
    assert [(step[2], step[3]) for step in steps if step] == STEPS
    assert [int(step[1]) for step in steps if step] == list(range(1, 22))
    headings = [line.rstrip("- ") for line in lines if line.endswith("-----") and not line.startswith(("+", "|"))]
    assert headings == [
        "errcompact demo",
        "The ladder: tell, refuse, ask, halt",
        "One failure, three artefacts: step 7, run_tests",
        "The cost of the failures",
        "The trajectory: every raw error, whole",
    ]
    assert "vs-sent" in done.stdout


@pytest.mark.programs
def test_the_command_at_the_end_works_as_it_is_printed(tmp_path: Path) -> None:
    """Also where the program is not on the path, as after `make demo`."""
    done = run_demo(tmp_path)
    command = done.stdout.splitlines()[-1]
    read = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (read.returncode, read.stderr) == (0, "")
    assert "[JSONDecodeError]" in read.stdout or "JSONDecodeError" in read.stdout


@pytest.mark.programs
def test_the_files_are_for_the_user_alone_and_of_the_size_that_is_said(tmp_path: Path) -> None:
    """Raw errors may hold secrets."""
    file = tmp_path / DEFAULT_TRAJECTORY
    file.touch(mode=0o644)
    done = run_demo(tmp_path)
    assert {path.stat().st_mode & 0o777 for path in (file, runs_path(file))} == {0o600}
    assert f"{file.stat().st_size:,} bytes:" in done.stdout


def test_options_in_the_environment_do_not_change_the_story(exported: Exported) -> None:
    """The demo runs at the default thresholds."""
    assert "session 2: halted, 12 failures in 7 classes, 2 escalations" in exported.done.stdout


def test_the_sessions_go_to_an_otlp_endpoint(exported: Exported) -> None:
    """Where an endpoint is configured it gets the sessions' spans, each failure with its class, and their metrics."""
    spans = [
        s for request in exported.traces for r in request.resource_spans for scope in r.scope_spans for s in scope.spans
    ]
    failed = [span for span in spans if any(event.name == "exception" for event in span.events)]
    names = {
        m.name
        for request in exported.metrics
        for r in request.resource_metrics
        for s in r.scope_metrics
        for m in s.metrics
    }
    assert "go to the OTLP endpoint" in exported.done.stdout
    assert Counter(span.name.split()[0] for span in spans) == {"execute_tool": 2 * 21, "invoke_agent": 2}
    assert len(failed) == 2 * 12
    assert all(any(a.key == "errcompact.class" for a in span.events[0].attributes) for span in failed)
    assert {"errcompact.errors", "errcompact.escalations", "errcompact.resolutions", "errcompact.runs"} <= names
    found = [
        entry
        for request in exported.logs
        for r in request.resource_logs
        for s in r.scope_logs
        for entry in s.log_records
    ]
    assert [record.event_name for record in found] == ["errcompact.escalation"] * 2 * 2
    assert {record.span_id for record in found} < {span.span_id for span in failed}


def tokens(metrics: Sequence[ExportMetricsServiceRequest]) -> dict[str, tuple[int, float]]:
    """Count and sum of the standard histogram by the type of its tokens, at the end."""
    return {
        attributes["gen_ai.token.type"]: (point.count, point.sum)
        for request in metrics
        for r in request.resource_metrics
        for s in r.scope_metrics
        for m in s.metrics
        if m.name == "gen_ai.client.token.usage"
        for point in m.histogram.data_points
        if (attributes := {a.key: a.value.string_value for a in point.attributes})
    }


BILL = f"""
from pathlib import Path
from otel_errcompact_lab.cli.demo.session import model_calls, play
from otel_errcompact_lab.cli.demo.telemetry import telemetry
with telemetry(Path("{DEFAULT_TRAJECTORY}").absolute()) as running:
    print(sum(prompt for prompt, _ in model_calls(play(lambda _: None, running.tracer_provider).steps)))
"""


@pytest.mark.programs
def test_the_whole_bill_goes_out_as_the_standard_histogram(
    exported: Exported, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One call of a model before each step: all prompts, and all answers."""
    (into, out) = (tokens(exported.metrics)[kind] for kind in ("input", "output"))
    # Agents read paths: that of this folder is as long.
    billed = int(run_demo(tmp_path_factory.mktemp("exported"), python=("-c", BILL)).stdout)
    assert exported.done.stdout.splitlines()[-1] == "session 2: halted, 12 failures in 7 classes, 2 escalations"
    assert (into[0], out[0]) == (42, 42)
    # Of two sessions, in which ports and temporary names differ.
    assert into[1] == pytest.approx(2 * billed, rel=0.02)
    assert 0 < out[1] < into[1]


@pytest.mark.programs
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(
    ("number", "said", "sessions"),
    [
        pytest.param(signal.SIGTERM, "The trajectory: every raw error", 1, id="SIGTERM after the first session"),
        pytest.param(signal.SIGINT, "session 2", 2, id="SIGINT after the second session"),
    ],
)
def test_a_demo_without_end_is_ended_by_a_signal(
    collector: Collector, tmp_path: Path, number: signal.Signals, said: str, sessions: int
) -> None:
    """At once and cleanly, with everything that was done until then exported."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "FORCE_COLOR"))},
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
    }
    command = [
        sys.executable,
        "-m",
        "otel_errcompact_lab.cli.main",
        "demo",
        "--plain",
        "--repeat",
        "0",
        "--pause",
        "0.1",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(said):
                break
        process.send_signal(number)
        rest, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    assert "Abort" not in rest
    traces = [ExportTraceServiceRequest.FromString(body) for body in collector.bodies["/v1/traces"]]
    spans = [s for request in traces for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert Counter(span.name.split()[0] for span in spans)["execute_tool"] >= sessions * 21
    assert collector.bodies["/v1/metrics"]


class TestNarrative:
    """How the account looks."""

    @pytest.mark.parametrize("width", [60, 80, 100, 120])
    def test_no_line_is_wider_than_the_terminal(self, played: Played, width: int) -> None:
        """At any sensible width nothing runs over the edge."""
        terminal = Console(file=io.StringIO(), width=width, color_system=None)
        console = DemoConsole(terminal=terminal, box=box.ROUNDED)
        write_opening(console)
        for step in played.session.steps:
            write_step(console, step)
        write_summary(console, played.session, played.signals, played.trajectory)

        assert max(map(len, terminal.file.getvalue().splitlines())) <= width

    def test_text_of_tools_is_data(self) -> None:
        """What a tool says changes no terminal's state, and is no markup."""
        terminal = Console(file=io.StringIO(), width=80, color_system=None)
        call = ToolCall(tool="t", arguments={"a": "[red]x[/red]"}, thought="[bold]y[/bold]")
        read = "\x1b]0;title\x07[link=http://x]z[/link]\u202e"
        step = Step(
            number=1,
            call=call,
            outcome="failed",
            read=read,
            digest=read,
            raw="",
            sent=0,
            key="",
            recent_errors="",
            answered=None,
        )

        write_step(DemoConsole(terminal=terminal, box=box.ROUNDED), step)

        assert [line.rstrip() for line in terminal.file.getvalue().splitlines()] == [
            ' 1 t(a="[red]x[/red]")                                                    failed',
            "     [link=http://x]z[/link]",
        ]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            pytest.param("a\nb\nc\nd\n", "a\nb\nc\nd", id="one line would be left out, so none is"),
            pytest.param("a\nb\nc\nd\ne", "a\nb\n... 2 more lines ...\ne", id="the cut is counted"),
            pytest.param("a" * 11, "a" * 7 + "...", id="a long line"),
        ],
    )
    def test_an_excerpt_shows_its_cuts(self, text: str, expected: str) -> None:
        """What is left out is said to be."""
        assert excerpt(text, first=2, last=1, width=10) == expected


class Accepting(BaseHTTPRequestHandler):
    """An upload service that is well."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def healthy_servers() -> Iterator[Addresses]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Accepting) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/reports"
        yield Addresses(upload=url, mirror=url)
        server.shutdown()
        thread.join()


class TestOtherEndings:
    """The script has no ending of its own: where the world is another one, so is the session."""

    @pytest.mark.programs
    def test_an_agent_that_publishes_is_done(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Against a service that is well the same agent ends its work, and everything it met is recovered from."""
        monkeypatch.setattr(demo_session, "servers", healthy_servers)
        terminal = Console(file=io.StringIO(), width=80, color_system=None)

        with telemetry(tmp_path / "t.jsonl") as running:
            session = play(lambda _: None, running.tracer_provider)
            write_summary(
                DemoConsole(terminal=terminal, box=box.ASCII), session, running.signals(), tmp_path / "t.jsonl"
            )

        assert [(step.call.tool, step.outcome) for step in session.steps] == [*STEPS[:12], ("publish", "ok")]
        assert (session.report.result, session.halted) == ("recovered", "")
        assert "RunHalted" not in terminal.file.getvalue()

    def test_a_session_is_bounded(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The harness ends a session that nothing else ends."""
        monkeypatch.setattr(demo_session, "MAX_STEPS", 2)

        with telemetry(tmp_path / "t.jsonl") as running:
            session = play(lambda _: None, running.tracer_provider)

        assert len(session.steps) == 2


class TestTools:
    """The tools, outside the workspace."""

    def test_files(self, tmp_path: Path) -> None:
        """A file is read as JSON, one of its lines is read, and one is appended to."""
        (tmp_path / "f.json").write_text('{"a":\n 1')
        tools = demo_tools.tools(tmp_path)

        with pytest.raises(json.JSONDecodeError):
            tools["read_json"]("f.json")
        assert tools["read_line"]("f.json", 2) == ("1", False, None)
        assert tools["edit_line"]("f.json", 2, "}") == ("f.json:2 is now: 1}", False, None)
        assert tools["read_json"]("f.json") == ('{"a": 1}', False, None)

    def test_the_database(self, tmp_path: Path) -> None:
        """A query gives rows, a wrong one raises, and the columns of a table can be asked for."""
        write_project(tmp_path, "http://127.0.0.1:9/")
        tools = demo_tools.tools(tmp_path)

        assert tools["columns"]("orders") == ("id, region, amount_cents", False, None)
        assert tools["query"]("SELECT COUNT(*) FROM orders") == ("[[4]]", False, None)
        with pytest.raises(sqlite3.OperationalError, match="no such column: amount"):
            tools["query"]("SELECT amount FROM orders")

    @pytest.mark.programs
    def test_commands(self, tmp_path: Path) -> None:
        """A command's output and exit code come back; a missing program raises."""
        shell = demo_tools.tools(tmp_path)["shell"]

        assert shell("python -c print(1)") == ("1\n", False, 0)
        assert shell("python -c exit(3)") == ("", True, 3)
        with pytest.raises(FileNotFoundError):
            shell("no-such-program-anywhere")

    def test_the_two_servers(self, tmp_path: Path) -> None:
        """One is always closed; the other one answers twice, with its own failure, and then breaks."""
        (tmp_path / "r.csv").write_text("1")
        publish = demo_tools.tools(tmp_path)["publish"]

        with servers() as addresses:
            closed = [publish("r.csv", addresses.upload, 20) for _ in range(2)]
            forbidden = [publish("r.csv", addresses.mirror, 20) for _ in range(2)]
            with pytest.raises(BadStatusLine, match="cannot start"):
                publish("r.csv", addresses.mirror, 20)

        assert [(answer.text[:30], answer.failed) for answer in closed] == [
            ("HTTP/1.1 410 Gone\nServer: Base", True)
        ] * 2
        assert closed[0].text != closed[1].text
        assert [(answer.text[:22], answer.failed) for answer in forbidden] == [("HTTP/1.1 403 Forbidden", True)] * 2

    def test_a_report_that_is_accepted(self, tmp_path: Path) -> None:
        """A success is an answer like any other."""
        (tmp_path / "r.csv").write_text("1")

        with healthy_servers() as addresses:
            answer = demo_tools.tools(tmp_path)["publish"]("r.csv", addresses.upload, 20)

        assert (answer.text[:20], answer.failed) == ("HTTP/1.1 201 Created", False)

    @pytest.mark.programs
    def test_without_pytest_the_tests_run_under_unittest(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The same four of six tests fail by the same cause."""
        monkeypatch.setattr(demo_tools, "find_spec", lambda _: None)
        write_project(tmp_path, "http://127.0.0.1:9/")

        answer = demo_tools.tools(tmp_path)["run_tests"]()

        assert (answer.failed, answer.exit_code) == (True, 1)
        assert answer.text.count("ZeroDivisionError: division by zero") == 4
        assert "Ran 6 tests" in answer.text
