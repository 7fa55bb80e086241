"""The entry point: whatever goes wrong becomes one line, never a traceback."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from otel_errcompact_lab.cli import main as entry
from otel_errcompact_lab.cli.output import MAX_SAID, OneLineHandler, printable
from packages.lab.tests.cli.transcripts import REFUSED, conversation, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact


def started(*arguments: str, stdin: str = "", code: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    """Start the program in a process of its own; `code` runs before it."""
    program = f"{code}\nfrom otel_errcompact_lab.cli.main import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environ},
    )


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the entry point here, and gives the exit code with what was printed."""

    def run(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["errcompact", *arguments])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        root = logging.getLogger()
        before = list(root.handlers)
        with pytest.raises(SystemExit) as exited:
            entry.main()
        root.handlers = before
        printed = capsys.readouterr()
        return exited.value.code, printed.out, printed.err

    return run


@pytest.mark.programs
def test_the_console_script_is_the_entry_point() -> None:
    """`errcompact` and `python -m otel_errcompact_lab.cli.main` are the same program."""
    done = subprocess.run(
        [sys.executable, "-m", "otel_errcompact_lab.cli.main", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"errcompact {version('otel-errcompact')}\n"


@pytest.mark.programs
@pytest.mark.parametrize("command", ["key", "digest"])
def test_what_needs_no_telemetry_imports_none(command: str) -> None:
    """The start is quick: neither OpenTelemetry nor protobuf is loaded."""
    code = (
        "import atexit, json, sys\n"
        "heavy = ('opentelemetry', 'google')\n"
        "atexit.register(lambda: print(json.dumps([name for name in sys.modules if name.split('.')[0] in heavy])))"
    )
    done = started(command, stdin="KeyError: 'id'", code=code)
    row, modules = done.stdout.splitlines()
    assert json.loads(row)["key"]
    assert json.loads(modules) == []


@pytest.mark.parametrize("command", ["", "demo", "replay", "key", "digest", "report"])
def test_every_command_teaches_its_use(errcompact: Errcompact, command: str) -> None:
    """What it does, what it takes, and where it makes sense an example."""
    outcome = errcompact(*filter(None, [command]), "--help")
    assert outcome.code == 0
    assert "Usage: " in outcome.out
    if command not in {"", "demo"}:
        assert "Examples:\n    " in outcome.out
        assert f"errcompact {command} " in outcome.out.split("Examples:")[1]


def test_without_a_command_the_help_is_shown(errcompact: Errcompact) -> None:
    """That is wrong usage, but nobody needs to be told so."""
    outcome = errcompact()
    assert outcome.code == 2
    assert "Commands:" in outcome.out + outcome.err


def test_the_demo_is_mounted(errcompact: Errcompact, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its options are handed on."""
    import otel_errcompact_lab.cli.demo

    given: list[dict[str, object]] = []
    monkeypatch.setattr(otel_errcompact_lab.cli.demo, "demo", lambda **options: given.append(options))
    assert errcompact("demo", "--plain", "--trajectory", tmp_path / "t").code == 0
    assert given == [{"plain": True, "trajectory": tmp_path / "t", "repeat": 1, "pause_s": 0.0}]


@pytest.mark.programs
@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_cure_is_named(missing: str) -> None:
    """One line with the command that helps."""
    done = started("replay", "x.jsonl", code=f"import sys; sys.modules['{missing}'] = None")
    assert done.returncode == 1
    assert done.stderr == (
        "errcompact: the command line needs an optional dependency: pip install 'otel-errcompact[cli]'\n"
    )


def test_another_missing_module_is_a_fault(in_process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installing the extra would not help."""
    monkeypatch.setitem(sys.modules, "otel_errcompact_lab.cli.app", None)
    code, _, err = in_process("--help")
    assert code == 70
    assert err.startswith("errcompact: internal fault, please report it: ModuleNotFoundError: ")


def test_a_wrong_setting_is_wrong_usage(in_process, tmp_path: Path) -> None:
    """The message says what to do."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a", REFUSED))
    code, _, err = in_process("replay", str(file), "--trajectory", str(tmp_path))
    assert (code, err) == (2, f"errcompact: --trajectory {tmp_path}: Is a directory; name another file\n")


def test_a_fault_of_ours_is_one_line(in_process, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the place where it happened, and an exit code of its own."""

    def fail(*_: object) -> int:
        raise RuntimeError("boom\n\x1b[31m")

    monkeypatch.setattr("otel_errcompact_lab.cli.key.print_keys", fail)
    code, out, err = in_process("key")
    assert (code, out) == (70, "")
    assert err.startswith("errcompact: internal fault, please report it: RuntimeError: boom  [31m (in fail, ")
    assert err.count("\n") == 1


@pytest.mark.programs
def test_a_warning_is_one_line(tmp_path: Path) -> None:
    """A value in the environment that is not allowed is ignored, and named."""
    done = started("digest", stdin="KeyError: 1", OTEL_ERRCOMPACT_THRESHOLDS_SAME="zero")
    assert done.returncode == 0
    assert done.stderr.startswith("errcompact: OTEL_ERRCOMPACT_THRESHOLDS_SAME='zero' is ignored")
    assert done.stderr.count("\n") == 1


@pytest.mark.programs
def test_a_reader_may_close_the_pipe(tmp_path: Path) -> None:
    """As `head` does; that is no reason for a traceback."""
    file = tmp_path / "errors.jsonl"
    file.write_text('{"text": "KeyError: 1"}\n' * 5_000, encoding="utf-8")
    command = f'"{sys.executable}" -m otel_errcompact_lab.cli.main key --jsonl text "{file}" | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=300)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


@pytest.mark.programs
def test_escalations_are_a_result_and_no_message(tmp_path: Path) -> None:
    """Applications log them at ERROR; here they are in the summary."""
    file = write_lines(tmp_path / "a.jsonl", conversation("a", *[REFUSED] * 3))
    done = started("replay", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert "same at call 3" in done.stdout


def record(message: str, error: Exception | None = None) -> logging.LogRecord:
    return logging.LogRecord(
        "exporter", logging.ERROR, "", 0, message, (), (type(error), error, None) if error is not None else None
    )


def test_log_messages_are_said_once_without_their_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """An exporter says the same with every batch."""
    handler = OneLineHandler()
    for _ in range(2):
        handler.handle(record("cannot export", OSError("refused")))
    assert capsys.readouterr().err == "errcompact: cannot export: refused\n"


def test_log_messages_are_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody reads the thousandth."""
    handler = OneLineHandler()
    for number in range(MAX_SAID + 5):
        handler.handle(record(f"message {number}"))
    assert len(capsys.readouterr().err.splitlines()) == MAX_SAID


def test_messages_change_no_terminal() -> None:
    """File names are untrusted too."""
    assert printable("a\nb\x1b[31m\u202e\u2028ü") == "a b [31m  ü"
