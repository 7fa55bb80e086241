"""How formats are told apart, and how transcripts are found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact_lab.transcripts import FORMATS, RecordedRun, RecordedTrace, find, read
from otel_errcompact_lab.transcripts.file_values import read_values
from otel_errcompact_lab.transcripts.records import AIDER, SPECSTORY

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.records import TranscriptError

SAMPLES = Path(__file__).parent / "samples"
FORMAT_OF = {
    ".aider.chat.history.md": "aider",
    "anthropic.json": "chat",
    "autogen.json": "autogen",
    "autogen_agentchat.jsonl": "autogen",
    "chat.json": "chat",
    "chats.jsonl": "chat",
    "chat_messages.jsonl": "chat-messages",
    "claude_code.jsonl": "claude-code",
    "cline_chat.json": "chat",
    "cline_ui.json": "cline",
    "codex.jsonl": "codex",
    "codex_items.jsonl": "codex",
    "copilot_cli.jsonl": "copilot-cli",
    "gemini_cli.json": "gemini-cli",
    "gemini_cli.jsonl": "gemini-cli",
    "inspect_ai.json": "inspect-ai",
    "jaeger.json": "jaeger",
    "langchain.json": "langchain",
    "langsmith.jsonl": "langchain",
    "mini_swe_agent.traj.json": "mini-swe-agent",
    "opencode.json": "opencode",
    "openhands.jsonl": "openhands",
    "openhands_resolver.jsonl": "openhands",
    "otlp.jsonl": "otlp-json",
    "responses.json": "chat",
    "specstory.md": "specstory",
    "swe_agent_0.traj": "swe-agent",
    "swe_agent_1.traj": "swe-agent",
    "tau2.json": "tau2-bench",
    "tau_bench.json": "chat",
    "wire.jsonl": "kimi-cli",
}


def problems_of(path):
    """Read a file; return the runs and what was said without the path."""
    problems = []
    runs = list(read(path, on_problem=problems.append))
    return runs, [str(problem).removeprefix(str(path)) for problem in problems]


@pytest.mark.parametrize("name", sorted(FORMAT_OF))
def test_a_sample_has_one_format(name):
    """Of the values of each sample at least the first few show one format, and none shows two."""
    detected = [
        {format_.name for format_ in FORMATS if format_.detect(value)}
        for value, _ in read_values(SAMPLES / name, on_problem=pytest.fail)
    ]
    assert set.union(*detected) == {FORMAT_OF[name]}


def test_every_format_has_a_sample():
    """A row in the table of formats comes with a transcript."""
    assert {format_.name for format_ in FORMATS} == set(FORMAT_OF.values())
    assert {path.name for path in SAMPLES.iterdir()} == set(FORMAT_OF)


@pytest.mark.parametrize("name", sorted(FORMAT_OF))
def test_the_name_of_a_file_does_not_matter(tmp_path, name):
    """The format is told by content: a copy under another name reads the same."""
    copy = tmp_path / "copy"
    copy.write_bytes((SAMPLES / name).read_bytes())
    runs, problems = problems_of(copy)
    assert len(runs) == len(problems_of(SAMPLES / name)[0])
    assert problems == []


def test_other_json_is_no_transcript(tmp_path):
    """A named file of JSON that is no transcript gives one message, which lists the known formats."""
    path = tmp_path / "package.json"
    path.write_text('{\n "name": "shop"\n}\n')
    assert problems_of(path) == (
        [],
        [
            (
                ": is no transcript of a known format; known are: Claude Code sessions (.jsonl); Codex rollouts "
                "(.jsonl); Copilot CLI events (.jsonl); chat messages of OpenAI and Anthropic, and tau-bench "
                "results (.json, .jsonl); chat messages of one line each (.jsonl); Gemini CLI sessions (.json, "
                ".jsonl); OpenCode exports (.json); Kimi CLI events (wire.jsonl); Cline tasks (ui_messages.json, "
                "api_conversation_history.json); LangChain messages and LangSmith runs (.json, .jsonl); AutoGen "
                "and Magentic-One histories (.json, .jsonl); SWE-agent and SWE-smith trajectories (.traj); "
                "mini-swe-agent trajectories (.traj.json); tau2-bench results (.json); Inspect AI logs (.eval, "
                ".json); OpenHands evaluation output (output.jsonl); aider histories (.aider.chat.history.md); "
                "SpecStory histories (.specstory/history/*.md); OTLP/JSON traces, as the trajectory file (.jsonl); "
                "Jaeger JSON traces (.json)"
            ),
        ],
    )


def test_a_file_without_values_is_reported_once(tmp_path):
    """An empty file is empty, and not of an unknown format as well."""
    path = tmp_path / "run.jsonl"
    path.touch()
    assert problems_of(path) == ([], [": is empty; nothing was recorded"])


def test_the_format_shows_after_lines_of_no_format(tmp_path):
    """Lines before the first that shows the format are handed to its reader as well."""
    path = tmp_path / "traces.jsonl"
    path.write_text('{"resourceMetrics": []}\n' + (SAMPLES / "otlp.jsonl").read_text())
    runs, problems = problems_of(path)
    assert (len(runs), problems) == (2, [])


def test_runs_are_handed_on_as_they_are_read(tmp_path):
    """Of JSON lines with a run each, the first run is there before the second line is read."""
    line = (SAMPLES / "openhands.jsonl").read_bytes().splitlines(keepends=True)[0]
    path = tmp_path / "output.jsonl"
    path.write_bytes(line * 50)
    progress: list[int] = []
    runs = read(path, on_problem=pytest.fail, on_bytes=progress.append)
    next(runs)
    assert sum(progress) == len(line)
    assert len(list(runs)) == 49
    assert sum(progress) == path.stat().st_size


def test_a_list_of_runs_is_as_many_runs(tmp_path):
    """A document may hold the runs that a format has on lines of their own."""
    lines = (SAMPLES / "openhands.jsonl").read_text().splitlines()
    path = tmp_path / "output.json"
    path.write_text(f"[{', '.join(lines)}]")
    (listed, _), (alone, _) = problems_of(path), problems_of(SAMPLES / "openhands.jsonl")
    assert [(run.run_id, run.calls) for run in listed] == [(run.run_id, run.calls) for run in alone]


@pytest.mark.cost
def test_memory_is_that_of_one_run(tmp_path):
    """Of JSON lines with 24 MB in 240 runs, no more than a few runs are in memory."""
    line = json.dumps({"task_id": 1, "traj": [{"role": "user", "content": "x" * 100_000}]})
    path = tmp_path / "runs.json"
    path.write_text(f"{line}\n" * 240)
    tracemalloc.start()
    count = sum(1 for _ in read(path, on_problem=pytest.fail))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 240
    assert peak < 2**20


@pytest.mark.parametrize("name", sorted(name for name in FORMAT_OF if name.endswith(".jsonl")))
def test_a_copy_with_a_broken_line_loses_that_line_only(tmp_path, name):
    """A line cut off in the middle of JSON lines is reported with its number, and the rest is read."""
    lines = (SAMPLES / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / name
    path.write_bytes(lines[0] + lines[-1][: len(lines[-1]) // 2] + b"\n" + b"".join(lines[1:]))
    runs, problems = problems_of(path)
    assert len(runs) == len(problems_of(SAMPLES / name)[0])
    assert [problem.partition(" is not valid JSON")[0] for problem in problems] == [":2:"]


class TestFind:
    """What is found in folders."""

    def test_transcripts_in_folders_are_found_in_order(self, tmp_path):
        """Folders are walked; licences, notes, other JSON and hidden folders are skipped in silence."""
        chat = '[{"role": "user", "content": "x"}]'
        for name, content in {
            "b/run.json": chat,
            "b/a.TRAJ": chat,
            ".aider.chat.history.md": "\n# aider chat started at 2026-03-02 10:00:00\n",
            "a/LICENSE": "MIT",
            "a/SOURCES.md": "# Sources",
            "a/package.json": '{"name": "x"}',
            "a/log.jsonl": '{"level": "info"}\n',
            "a/notes.txt": chat,
            ".git/run.json": chat,
            "run.jsonl": chat,
        }.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        found = [str(path.relative_to(tmp_path)) for path in find([tmp_path], on_problem=pytest.fail)]
        assert found == [".aider.chat.history.md", "run.jsonl", "b/a.TRAJ", "b/run.json"]

    def test_a_named_file_is_taken_as_it_is(self, tmp_path):
        """A named file may have any suffix, hold anything, or be missing: reading it tells."""
        notes = tmp_path / "notes.md"
        notes.write_text("x")
        missing = tmp_path / "missing.jsonl"
        assert list(find([notes, missing], on_problem=pytest.fail)) == [notes, missing]

    def test_a_broken_transcript_in_a_folder_is_found(self, tmp_path):
        """What looks like a transcript and cannot be parsed is not skipped in silence."""
        path = tmp_path / "run.traj"
        path.write_text('{"trajectory": [')
        assert list(find([tmp_path])) == [path]

    def test_no_file_is_found_twice(self, tmp_path):
        """A file named beside its folder, or by a link, is read once."""
        path = tmp_path / "run.json"
        path.write_text('[{"role": "user"}]')
        (tmp_path / "same.json").symlink_to(path)
        assert list(find([tmp_path, path, tmp_path])) == [path]

    def test_a_folder_without_transcripts_is_a_problem(self, tmp_path):
        """A folder that was named and gives nothing is told of."""
        problems: list[TranscriptError] = []
        assert list(find([tmp_path], on_problem=problems.append)) == []
        assert [str(problem) for problem in problems] == [
            f"{tmp_path}: holds no transcript; name a file, or another folder",
        ]

    def test_of_a_folder_without_transcripts_the_kinds_of_files_are_told(self, tmp_path):
        """The most frequent first, whether they were looked into or not."""
        for name in ("a.json", "b.JSON", "c.py", "LICENSE", "d.1", "e.2", "f.3"):
            (tmp_path / name).write_text("{}")
        problems: list[TranscriptError] = []
        assert list(find([tmp_path], on_problem=problems.append)) == []
        assert problems[0].problem == (
            "holds no transcript among 7 files (2 .json, 1 without a suffix, 1 .py, 1 .1, 1 .2 and 1 more); "
            "name a file, or another folder"
        )

    def test_a_folder_without_transcripts_may_be_nobodys_business(self, tmp_path):
        """Nobody needs to listen."""
        assert list(find([tmp_path])) == []

    def test_a_folder_that_cannot_be_read_is_a_problem(self, tmp_path, monkeypatch):
        """It is told of, and the others are walked."""
        path = tmp_path / "run.json"
        path.write_text('[{"role": "user"}]')
        (tmp_path / "closed").mkdir()
        scandir = os.scandir

        def refuse(folder):
            if Path(folder).name == "closed":
                raise PermissionError(13, "Permission denied", str(folder))
            return scandir(folder)

        monkeypatch.setattr(os, "scandir", refuse)
        problems: list[TranscriptError] = []
        assert list(find([tmp_path], on_problem=problems.append)) == [path]
        assert [str(problem) for problem in problems] == [f"{tmp_path}/closed: cannot be read (Permission denied)"]
        assert list(find([tmp_path])) == [path]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def paths_in(value, way=()):
    """All ways to the values inside a JSON value."""
    yield way
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths_in(inner, (*way, key))


def replaced(value, way, new):
    """Return a copy of a JSON value with another value at one place."""
    if not way:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(value[way[0]], way[1:], new)
    return copy


@pytest.mark.parametrize("name", sorted(name for name in FORMAT_OF if not name.endswith(".md")))
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_no_malformed_field_raises(tmp_path_factory, name, data):
    """Law: whatever stands in place of any value, reading never raises; what is wrong is told with the file's name."""
    values = [value for value, _ in read_values(SAMPLES / name, on_problem=pytest.fail)]
    index = data.draw(st.integers(0, len(values) - 1))
    way = data.draw(st.sampled_from(list(paths_in(values[index]))))
    values[index] = replaced(values[index], way, data.draw(JSON_VALUES))
    path = tmp_path_factory.getbasetemp() / f"malformed-{name}"
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    problems: list[TranscriptError] = []
    for run in read(path, on_problem=problems.append):
        assert isinstance(run, (RecordedRun, RecordedTrace))
        if isinstance(run, RecordedRun):
            assert all(call.start_ns <= call.end_ns for call in run.calls)
            assert run.result_tokens <= run.context_tokens
    assert all(problem.path == str(path) for problem in problems)


@pytest.mark.parametrize("name", sorted(name for name in FORMAT_OF if name.endswith(".md")))
@given(data=st.data())
def test_no_line_of_a_text_raises(tmp_path_factory, name, data):
    """Law: whatever lines a text has, in whatever order, each chat is a run and no line is a problem."""
    own = (SAMPLES / name).read_text().splitlines()
    lines = data.draw(st.lists(st.sampled_from(own) | st.text(max_size=20), max_size=30))
    begins = next(line for line in own if line.startswith((AIDER, SPECSTORY)))
    path = tmp_path_factory.getbasetemp() / "malformed.md"
    path.write_text("\n".join([begins, *lines]), encoding="utf-8")
    runs, problems = problems_of(path)
    assert (len(runs) >= 1, problems) == (True, [])
    assert all(run.result_tokens <= run.context_tokens for run in runs)


@given(content=st.binary(max_size=200))
def test_no_content_raises(tmp_path_factory, content):
    """Law: any bytes are read without an exception, and a file that gives no run says why."""
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    runs, problems = problems_of(path)
    assert runs or problems


@pytest.mark.programs
def test_the_readers_need_no_opentelemetry():
    """Plain data only: the package imports with OpenTelemetry blocked."""
    code = (
        "import sys; sys.modules['opentelemetry'] = None; sys.modules['google.protobuf'] = None; "
        "import otel_errcompact_lab.transcripts as t; print(len(t.FORMATS))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "20\n", "")


def test_other_files_beside_transcripts_are_named(tmp_path):
    """Notes are none of them; a folder of nothing else is told as such."""
    (tmp_path / "run.json").write_text('[{"role": "user", "content": "hi"}]')
    (tmp_path / "package.json").write_text('{"name": "shop"}')
    (tmp_path / "notes.md").write_text("# notes")
    skipped = []
    found = list(find([tmp_path], on_skipped=lambda folder, files: skipped.append((folder, files))))
    assert found == [tmp_path / "run.json"]
    assert skipped == [(tmp_path, (tmp_path / "package.json",))]
    assert list(find([tmp_path])) == found


def test_of_a_session_of_kimi_cli_the_events_count(tmp_path):
    """The messages beside them are the same calls without their flags; alone they count."""
    for name in ("one/wire.jsonl", "one/context.jsonl", "two/context.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((SAMPLES / ("wire.jsonl" if "wire" in name else "chat_messages.jsonl")).read_bytes())
    found = [path.relative_to(tmp_path).as_posix() for path in find([tmp_path])]
    assert found == ["one/wire.jsonl", "two/context.jsonl"]


def test_of_a_task_of_cline_the_file_for_the_model_counts(tmp_path):
    """What the user has seen of it are the same calls; alone it counts."""
    for name in ("one/ui_messages.json", "one/api_conversation_history.json", "two/ui_messages.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((SAMPLES / ("cline_ui.json" if "ui" in path.name else "cline_chat.json")).read_bytes())
    assert [path.relative_to(tmp_path).as_posix() for path in find([tmp_path])] == [
        "one/api_conversation_history.json",
        "two/ui_messages.json",
    ]
