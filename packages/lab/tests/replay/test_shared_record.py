"""A run in a shared store is one run in the report: what is read back is what the run reported."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import otel_errcompact
from otel_errcompact import Continue, Halt, Options
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.boundary.scope import RunScope
from otel_errcompact.config import TrajectoryOptions, runs_path
from otel_errcompact.engine.events import Arrived
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.exceptions import RunHalted
from otel_errcompact.history.stores.address import open_backend
from otel_errcompact_lab.replay import open_pipeline
from otel_errcompact_lab.transcripts import read_files
from packages.lab.tests.replay.test_record import TEXTS, answers, fails, limits, live, lose, same_as, step, works

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.escalator.actions import Handler
    from otel_errcompact.escalator.thresholds import Thresholds
    from otel_errcompact_lab.replay import ReplayedRun

ROOT = Path(__file__).parents[2]


def read_back(*paths: Path) -> list[ReplayedRun]:
    """What `errcompact report` makes of files; one in which nothing has failed is a file of runs alone."""
    problems: list[Exception] = []
    played: list[ReplayedRun] = []
    files = [path if path.exists() else runs_path(path) for path in dict.fromkeys(paths)]
    with open_pipeline(Options(trajectory=TrajectoryOptions(enabled=False))) as pipeline:
        for _, records in read_files(filter(Path.exists, files), on_problem=problems.append):
            played += [run for record in records for run in pipeline.play(record)]
            played += pipeline.finish()
    assert problems == []
    return played


class Process:
    """What one process has of its own: a ledger, a name, and a trajectory that it may share."""

    def __init__(self, address: str, path: Path, clock_ns: Callable[[], int], number: int = 0, **options: Any) -> None:
        self.path = path
        self.clock_ns = clock_ns
        self.name = f"machine-{number}/1/1"
        self.backend = open_backend(address)
        self.ledger = Ledger(Options(**options), backend=self.backend)
        self.file = TrajectoryFile(TrajectoryOptions(path=path), clock_ns=clock_ns)
        self.ledger.listeners.add(self.file)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Whatever is done meanwhile, this process does."""
        with patch("otel_errcompact.engine.state.THIS_PROCESS", SimpleNamespace(name=self.name)):
            yield

    def run(self, run_id: str = "run-1", **settings: Any) -> otel_errcompact.Run:
        scope = RunScope(run_id, agent="shop", ledger=self.ledger, clock_ns=self.clock_ns, **settings)
        return otel_errcompact.Run(scope)

    def open(self, run_id: str = "run-1", **settings: Any) -> otel_errcompact.Run:
        run = self.run(run_id, **settings)
        with self.working():
            run.port.open()
        return run

    def close(self, run: otel_errcompact.Run) -> None:
        with self.working():
            run.port.close()

    def fails(self, run: otel_errcompact.Run, text: str = TEXTS[0], tool: str = "db", **arguments: object) -> None:
        with self.working():
            fails(run, text, tool, **arguments)

    def works(self, run: otel_errcompact.Run, tool: str = "db", **arguments: object) -> None:
        with self.working():
            works(run, tool, **arguments)


@pytest.fixture
def join(address: str, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start a further process of a machine of its own; its trajectory is the one of all, if it has no name."""
    clock = itertools.count(1_700_000_000_000_000_000, 1_000_000_000)
    numbers = itertools.count()
    with ExitStack() as stack:

        def start(name: str = "trajectory", *, to: str = "", **options: Any) -> Process:
            path = tmp_path / f"{name}.jsonl"
            process = Process(to or address, path, lambda: next(clock), next(numbers), **options)
            if process.backend is not None:
                stack.callback(process.backend.close)
            return process

        yield start


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The attributes of each line about a run, with the name of its event."""
    found: list[dict[str, Any]] = []
    for line in runs_path(path).read_text("utf-8").splitlines():
        for record in json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
            values = {each["key"]: next(iter(each["value"].values()), None) for each in record["attributes"]}
            found.append({"event": record["eventName"].removeprefix("errcompact.run."), **values})
    return found


def test_each_failure_has_its_own_number(join: Callable[..., Process]) -> None:
    """Its counts name ledger and number of its raw error, so that it is one failure when it is read."""
    process = join()
    run = process.open()
    for number in range(5):
        process.fails(run, query=number)
    process.close(run)
    errors = [line for line in lines_of(process.path) if line["event"] == "error"]
    ledger = lines_of(process.path)[0]["errcompact.ledger.id"]
    assert [line["errcompact.record"] for line in errors] == [f"{ledger}-{number}" for number in (1, 2, 3, 4, 5)]
    (played,) = read_back(process.path)
    assert same_as(run, played)
    assert (played.failures, played.lacks, played.result) == (5, "", "unresolved")
    assert [answered.action for answered in played.report.escalations] == ["unhandled"]


def test_a_secret_in_what_a_call_is_about(join: Callable[..., Process]) -> None:
    """A success resolves the failure of its operation in the record too, whose secret no store keeps."""
    process = join()
    run = process.open()
    command = "curl https://ann:hunter2hunter2@shop.example/prices"
    process.fails(run, TEXTS[3], "bash", command=command)
    process.works(run, "bash", command=command)
    process.close(run)
    (played,) = read_back(process.path)
    assert same_as(run, played)
    assert [found.status for found in played.report.classes] == ["RECOVERED"]


def test_opened_again_and_again(join: Callable[..., Process]) -> None:
    """A process that leaves and joins a run, as a service does for each request, has lines of one run."""
    first, second = join(), join()
    kept = first.open()
    for number in range(4):
        run = second.open()
        second.fails(run, query=number)
        second.close(run)
    first.close(kept)
    (played,) = read_back(first.path)
    assert same_as(kept, played)
    assert (played.failures, played.lacks) == (4, "")


def test_ended_and_opened_again(join: Callable[..., Process]) -> None:
    """A conversation that is opened after its end is another run of the same id."""
    process, runs = join(), []
    for number in range(2):
        run = process.open()
        process.fails(run, query=number)
        process.close(run)
        runs.append(run)
    assert all(map(same_as, runs, read_back(process.path)))


@pytest.mark.parametrize("names", [("all", "all", "all"), ("a", "b", "c")])
def test_one_fails_one_recovers_one_answers(join: Callable[..., Process], names: tuple[str, ...]) -> None:
    """Whoever has written which line, and into which file, the run is one."""
    failing, working, ending = map(join, names)
    one, two, three = failing.open(on_escalation=lambda _: Continue("use b")), working.open(), ending.open()
    for number in range(3):
        failing.fails(one, query=number)
    failing.fails(one, TEXTS[1], "bash", command="pytest a.py")
    working.works(two, "bash", command="pytest a.py")
    for process, run in ((failing, one), (working, two), (ending, three)):
        process.close(run)
    (played,) = read_back(*(process.path for process in (failing, working, ending)))
    assert same_as(three, played)
    assert (played.failures, played.lacks) == (4, "")
    assert {found.status for found in played.report.classes} == {"ESCALATED", "RECOVERED"}
    assert [answered.message for answered in played.report.escalations] == ["use b"]


def test_a_handler_that_comes_later(join: Callable[..., Process]) -> None:
    """A run that gets a handler from another process asks from then on, in the record as in the run."""
    first, second = join("a"), join("b")
    one = first.open()
    first.fails(one, query=1)
    two = second.open(on_escalation=lambda _: Halt("no"))
    first.fails(one, query=2)
    first.fails(one, query=3)
    with second.working(), pytest.raises(RunHalted):
        two.check()
    first.close(one)
    second.close(two)
    (played,) = read_back(first.path, second.path)
    assert same_as(two, played)
    assert [answered.action for answered in played.report.escalations] == ["halt"]


def test_the_file_of_another_process_is_not_there(join: Callable[..., Process]) -> None:
    """The end of the run tells how much of it the other one has."""
    first, second = join("a"), join("b")
    one, two = first.open(), second.open()
    for number in range(2):
        first.fails(one, query=number)
    second.fails(two, TEXTS[1], "bash", command="pytest a.py")
    first.close(one)
    second.close(two)
    (of_first,), (of_second,) = read_back(first.path), read_back(second.path)
    (of_both,) = read_back(second.path, first.path)
    assert (of_first.failures, of_first.lacks) == (2, "no end was recorded")
    assert (of_second.failures, of_second.lacks) == (1, "1 of 3 failures are in the file")
    assert (of_both.failures, of_both.lacks) == (3, "")
    assert same_as(two, of_both)


def test_three_files_of_which_one_is_not_there(join: Callable[..., Process]) -> None:
    """Of several files the number is that of all of them."""
    processes = [join(name) for name in "abc"]
    runs = [process.open() for process in processes]
    for number, (process, run) in enumerate(zip(processes, runs, strict=True)):
        process.fails(run, query=number)
    for process, run in zip(processes, runs, strict=True):
        process.close(run)
    (played,) = read_back(processes[2].path, processes[0].path)
    assert (played.failures, played.lacks) == (2, "2 of 3 failures are in these files")


def test_only_the_successes_are_not_there(join: Callable[..., Process]) -> None:
    """A class that is open in what is left, and was resolved, is not told as the whole account."""
    failing, working = join("a"), join("b")
    one, two = failing.open(), working.open()
    failing.fails(one)
    failing.fails(one, TEXTS[1], "bash", command="pytest a.py")
    working.works(two)
    working.close(two)
    failing.close(one)
    (alone,), (both,) = read_back(failing.path), read_back(failing.path, working.path)
    assert alone.lacks == "lines are missing"
    assert both.lacks == ""
    assert same_as(one, both)


def test_other_runs_of_one_id_stay_apart(join: Callable[..., Process], tmp_path: Path) -> None:
    """Two stores have two runs, whatever they are called, and a process without a store has another."""
    processes = [join(), join(to=f"sqlite:///{tmp_path}/other.db"), join(to="memory")]
    runs = [process.open() for process in processes]
    for number, (process, run) in enumerate(zip(processes, runs, strict=True), start=1):
        for query in range(number):
            process.fails(run, query=query)
    for process, run in zip(processes, runs, strict=True):
        process.close(run)
    assert sorted(played.failures for played in read_back(processes[0].path)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("lost", "lacks"),
    [
        (2, "3 of 4 failures are in the file"),
        (4, "no begin was recorded and 2 of 4 failures are in the file"),
    ],
)
def test_first_lines_are_lost(join: Callable[..., Process], lost: int, lacks: str) -> None:
    """What rotation has dropped is said; what is left of all processes is one run."""
    first, second = join(), join()
    one, two = first.open(), second.open()
    for number in range(2):
        first.fails(one, query=number)
        second.fails(two, query=number)
    first.close(one)
    second.close(two)
    lose(first.path, lost // 2)
    lose(runs_path(first.path), lost)
    (played,) = read_back(first.path)
    assert played.lacks == lacks


def test_killed_before_it_has_counted(join: Callable[..., Process]) -> None:
    """A raw error that its process could not count is one of the run that the others have gone on with."""
    first, second = join(), join()
    one = first.open()
    first.fails(one)
    second.file.write_raw(Arrived(run_id="run-1", raw=RawError(text=TEXTS[0], tool="db", time_ns=second.clock_ns())))
    (open_,) = read_back(first.path)
    assert (open_.failures, open_.lacks) == (2, "no end was recorded")
    first.close(one)
    (ended,) = read_back(first.path)
    assert (ended.failures, ended.lacks) == (2, "1 more failure is in the file than was counted")


def test_a_store_that_has_another_run_of_the_id(join: Callable[..., Process], address: str) -> None:
    """What is counted once a run was made anew there is told of that run."""
    process = join()
    run = process.open()
    process.fails(run)
    assert process.backend is not None
    process.backend.begin("run-1", 0)
    process.backend.remove("run-1")
    other = join("other")
    opened = other.open()
    other.fails(opened, query=1)
    process.fails(run, query=2)
    process.close(run)
    other.close(opened)
    told = {played.failures: played.lacks for played in read_back(process.path, other.path)}
    assert told == {1: "no end was recorded", 2: ""}


def tell(address: str, paths: list[Path], script: list[tuple[int, Any]], replies: list[Any], given: Thresholds) -> Any:
    """Let processes take steps in one run, and return the report that the last of them has."""
    clock = itertools.count(1_700_000_000_000_000_000, 1_000_000_000)
    replied = iter(replies)
    handler: Handler | None = (lambda _: next(replied, Continue())) if replies else None
    processes = [Process(address, path, lambda: next(clock), number) for number, path in enumerate(paths)]
    runs = [process.open(on_escalation=handler, thresholds=given) for process in processes]
    for by, taken in script:
        process, run = processes[by % len(processes)], runs[by % len(processes)]
        with process.working():
            try:
                live(run, process, taken)  # type: ignore[arg-type]
            except RunHalted:
                run.resume("a human has looked")
    for process, run in zip(processes, runs, strict=True):
        process.close(run)
    for process in processes:
        if process.backend is not None:
            process.backend.close()
    return runs[-1]


@given(
    script=st.lists(st.tuples(st.integers(0, 2), step), max_size=25),
    replies=answers,
    given_=limits,
    processes=st.integers(1, 3),
    has_own=st.booleans(),
)
def test_the_record_of_a_shared_run_equals_the_run(
    script: Any, replies: Any, given_: Thresholds, processes: int, has_own: bool
) -> None:
    """Whatever happens, in whichever process and file: the report read back is the run's, field by field."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number if has_own else 'all'}.jsonl" for number in range(processes)]
        run = tell(f"sqlite:///{folder}/runs.db", paths, script, replies, given_)
        report = run.report()
        if not (report.occurrences or report.handled):
            assert not list(Path(folder).glob("*.jsonl"))
            return
        (played,) = read_back(*paths)
        assert same_as(run, played)
        assert played.lacks == ""


SESSION: list[tuple[int, Any]] = [
    (0, ("fail", "pytest tests/a.py", TEXTS[1])),
    (1, ("fail", "git push", TEXTS[0])),
    (2, ("fail", "git push", TEXTS[0])),
    (1, ("work", "pytest tests/a.py", "")),
    (2, ("fail", "cat notes.txt", TEXTS[2])),
    (0, ("fail", "cat notes.txt", TEXTS[2])),
    (1, ("insist", "cat notes.txt", TEXTS[2])),
    (2, ("handled", "", "")),
]


def test_the_same_session_in_each_store(address: str, tmp_path: Path) -> None:
    """In memory, in a file, on a server, in one process or three: the report is the same."""
    told = []
    for number, (store, names) in enumerate((("memory", "a"), (address, "a"), (address + "#", "abc"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        paths = [folder / f"{name}.jsonl" for name in names]
        where = store.removesuffix("#")
        tell(where, paths, SESSION, [Continue("look elsewhere")], otel_errcompact.Thresholds())
        (played,) = read_back(*paths)
        assert played.lacks == ""
        report = played.report
        classes = [(found.status, found.cause, found.count, found.streak) for found in report.classes]
        asked = [(each.action, each.message, each.escalation.count) for each in report.escalations]
        told.append((report.result, report.occurrences, report.handled, report.raw_tokens, classes, asked))
    assert (
        told
        == [
            (
                "unresolved",
                6,
                1,
                told[0][3],
                [
                    ("RECOVERED", "assert 1 == 2", 1, 0),
                    ("ACTIVE", "no such host found at 10.0.0.1:5432", 2, 0),
                    ("ESCALATED", "'id'", 3, 0),
                ],
                [("continue", "look elsewhere", 3)],
            )
        ]
        * 3
    )


WORKERS = """
import multiprocessing, os, sys
import otel_errcompact

def work(number):
    otel_errcompact.install()
    with otel_errcompact.run(agent="shop", run_id="order-7") as run:
        for turn in range(3):
            run.begin_turn()
            with run.tool("load", arguments={"worker": number, "turn": turn}):
                raise KeyError("sku")
        with run.tool("load", arguments={"worker": number, "turn": 0}) as call:
            call.result = "ok"
    return number

if __name__ == "__main__":
    otel_errcompact.install()
    with otel_errcompact.run(agent="shop", run_id="order-7") as run:
        with multiprocessing.get_context(sys.argv[1]).Pool(4) as workers:
            workers.map(work, range(4), chunksize=1)
    print(run.report().model_dump_json())
"""


@pytest.mark.programs
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_four_worker_processes(tmp_path: Path, method: str) -> None:
    """Real processes that share a store and a file, forked or started: one run, as its last process reports it."""
    (tmp_path / "workers.py").write_text(WORKERS, "utf-8")
    variables = {
        "OTEL_ERRCOMPACT_STORE": f"sqlite:///{tmp_path}/runs.db",
        "OTEL_ERRCOMPACT_TRAJECTORY_PATH": "errcompact-trajectory.jsonl",
        "PYTHONPATH": str(ROOT),
    }
    ran = subprocess.run(
        [sys.executable, "workers.py", method],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    reported = json.loads(ran.stdout.splitlines()[-1])
    (played,) = read_back(tmp_path / "errcompact-trajectory.jsonl")
    assert (played.failures, played.lacks) == (12, "")
    assert played.report.model_dump(mode="json") == reported


def test_the_page_of_several_files(join: Callable[..., Process]) -> None:
    """It has the run once, as the text has it, beside what else stands in the files."""
    first, second = join("a"), join("b")
    one, two, alone = first.open(), second.open(), second.open("other")
    for number in range(2):
        first.fails(one, query=number)
    second.fails(two, query=2)
    second.fails(alone)
    for process, run in ((first, one), (second, two), (second, alone)):
        process.close(run)
    page = pytest.importorskip("otel_errcompact_lab.html_report", reason="needs the extra 'cli'", exc_type=ImportError)
    collector = page.Collector()
    assert page.play(read_files([first.path, second.path], on_problem=pytest.fail), collector) == 0
    totals = collector.page().totals
    assert (totals.files, totals.runs, totals.failures) == (2, 2, 4)


def test_many_ended_runs_do_not_tear_an_open_one(
    join: Callable[..., Process], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that is larger than what is kept, runs that have ended go first; of several files the first read."""
    process, written = join(), join("written")
    runs = {"open": process.open("open")}
    process.fails(runs["open"])
    for number in range(6):
        run = runs[f"ended-{number}"] = process.open(f"ended-{number}")
        process.fails(run, query=number)
        process.close(run)
    process.fails(runs["open"], query=1)
    process.close(runs["open"])
    other = written.open("of another file")
    written.fails(other)
    written.close(other)
    monkeypatch.setattr("otel_errcompact_lab.transcripts.run_lives.MAX_LINES", 16)
    for paths in ((process.path,), (process.path, written.path)):
        played = read_back(*paths)
        assert sorted(each.run_id for each in played) == sorted([*runs, *(["of another file"] * (len(paths) - 1))])
        assert all(each.lacks == "" for each in played)
        assert next(each for each in played if each.run_id == "open").failures == 2
