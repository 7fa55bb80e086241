"""Help and its page: examples that run, commands and statuses that exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

import otel_errcompact
from otel_errcompact_lab.cli.app import app
from otel_errcompact_lab.cli.output import MEANINGS

PAGE = Path(__file__).parents[4] / "docs/reference/command-line.md"
SAMPLES = Path(__file__).parents[1] / "transcripts/samples"
COMMANDS_OF = typer.main.get_command(app).commands
COMMANDS = ["replay", "analyze", "key", "digest", "explain", "report", "raw", "stack export", "mcp wrap", "mcp unwrap"]


def help_of(command: str) -> str:
    """The help as it is printed."""
    return CliRunner().invoke(app, [*command.split(), "--help"], prog_name="errcompact").output


def examples_of(command: str) -> list[str]:
    """The lines below 'Examples:'."""
    _, _, examples = help_of(command).partition("Examples:\n")
    return [line.strip() for line in examples.partition("\n\n")[0].splitlines() if "errcompact" in line]


EXAMPLES = [
    example
    for command in COMMANDS
    for example in examples_of(command)
    if example.startswith(("errcompact", "pytest", "OTEL"))
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home and working folder with all files that the examples name."""
    home = tmp_path_factory.mktemp("home")
    run(home, "errcompact demo --plain --trajectory errors.jsonl")
    trajectories = home / ".local/state/otel-errcompact/trajectories"
    trajectories.mkdir(parents=True)
    for copy in (home / "this-week", home / "last-week", trajectories / "shop"):
        for end in (".jsonl", ".runs.jsonl"):
            shutil.copy(home / f"errors{end}", f"{copy}{end}")
    for folder in (".claude/projects", "runs", "results"):
        (home / folder).mkdir(parents=True)
        shutil.copy(SAMPLES / ("tau_bench.json" if folder == "results" else "claude_code.jsonl"), home / folder)
    shutil.copy(SAMPLES / "openhands.jsonl", home / "output.jsonl")
    found = json.loads(run(home, "errcompact analyze results/ --json").stdout)
    labels = [f"{recorded['run_id']},true" for recorded in found["runs"]]
    (home / "outcomes.csv").write_text("\n".join(["run,succeeded", *labels, ""]), encoding="utf-8")
    for name in ("build.log", "first.log", "second.log"):
        (home / name).write_text("make: *** [all] Error 2\n", encoding="utf-8")
    (home / "failures.jsonl").write_text('{"text": "KeyError: 1"}\n', encoding="utf-8")
    (home / "test_it.py").write_text("def test_it():\n    assert 1 == 2\n", encoding="utf-8")
    kept = home / ".local/state/otel-errcompact/exec"
    kept.mkdir(parents=True)
    (kept / "output-20261122-101502-4711.8809.log").write_text("KeyError: 1\n", encoding="utf-8")
    servers = '{"mcpServers": {"github": {"command": "github-server"}}}'
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('[mcp_servers.github]\ncommand = "github-server"\n', encoding="utf-8")
    (home / ".vscode").mkdir()
    for name in (".mcp.json", ".claude.json", ".vscode/mcp.json"):
        (home / name).write_text(servers, encoding="utf-8")
    return home


def run(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line as a shell runs it, with the programs of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    known = {"PATH": path, "HOME": str(home), "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    return subprocess.run(
        ["bash", "-c", line], cwd=home, env=known, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.programs
@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_of_the_help_runs(home: Path, example: str) -> None:
    """What is piped into jq is run up to there, since jq need not be installed."""
    if example.startswith("OTEL_EXPORTER_OTLP_ENDPOINT"):
        done = run(home, example)
        # No collector is there: the runs are played, and what was lost is said.
        assert (done.returncode, "could not be exported" in done.stderr) == (1, True)
        return
    done = run(home, example.partition(" | jq")[0])
    if "nothing was written; repeat the command with --yes" in done.stderr:
        assert (done.returncode, "--yes" in example) == (1, False)
        return
    assert done.returncode == 0, done.stderr
    assert done.stdout or "-o report.html" in example
    assert not [line for line in done.stderr.splitlines() if "Traceback" in line]


def test_every_command_has_examples() -> None:
    """But the demo, which needs none; those of `exec`, `serve` and `hooks` have tests of their own."""
    named = {example.split()[1] for example in EXAMPLES if example.startswith("errcompact ")}
    named |= {
        example.split()[1] for command in ("exec", "serve", "hooks install") for example in examples_of(command)[:1]
    }
    assert named | {"demo"} == {command.name for command in COMMANDS_OF.values()}


def test_the_page_names_every_command_of_the_program() -> None:
    """And no command that there is not."""
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"`errcompact ([a-z]+)", page)) == set(COMMANDS_OF)
    assert "`errcompact --version`" in page
    assert "`python -m otel_errcompact`" in page


def test_page_and_help_list_the_same_exit_statuses() -> None:
    """Each with the same words."""
    table = dict(re.findall(r"^\| ([0-9]+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert {int(status): meaning for status, meaning in table.items()} == MEANINGS
    told = " ".join(help_of("").partition("Exit statuses:")[2].split())
    assert all(f"{status} {meaning}" in told for status, meaning in MEANINGS.items())


@pytest.mark.programs
def test_the_version_is_that_of_the_package() -> None:
    """Both programs say it."""
    wanted = f"errcompact {otel_errcompact.__version__}"
    for program in ("errcompact", f"{sys.executable} -m otel_errcompact"):
        assert run(Path.cwd(), f"{program} --version").stdout.strip() == wanted
