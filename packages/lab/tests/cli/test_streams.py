"""Standard streams and unreadable files: one clear line, and the documented exit status."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

FULL = Path("/dev/full")
COMMAND = f'"{sys.executable}" -m otel_errcompact'


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The real command, with the redirections of a shell."""
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "error.txt").write_text("KeyError: 1", encoding="utf-8")
    (tmp_path / "dangling").symlink_to("nowhere")
    return tmp_path


@pytest.mark.skipif(not FULL.exists(), reason="this system has no full disk to offer")
@pytest.mark.parametrize("arguments", ["key error.txt", "digest error.txt", "--help", "--version"])
def test_a_full_disk_is_one_line(folder: Path, arguments: str) -> None:
    """Output that is lost is never a success."""
    done = shell(f"{COMMAND} {arguments} > /dev/full", folder)
    assert (done.returncode, done.stderr) == (
        74,
        (
            "errcompact: standard output: cannot be written (No space left on device); "
            "send it to a file on a disk with room\n"
        ),
    )


@pytest.mark.parametrize("command", ["demo --plain", "replay t.jsonl"])
def test_a_trajectory_that_a_disk_cannot_hold_is_never_a_success(recorded: Path, command: str) -> None:
    """The limit of the shell stands for a small disk: it takes the first lines, and no more."""
    # The limit would also hold for what a measurement of coverage writes, and end the process with that.
    unmeasured = "unset COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG"
    done = shell(f"{unmeasured}; ulimit -f 20; {COMMAND} {command} --trajectory small.jsonl", recorded)
    (recorded / "small.jsonl").unlink()
    assert done.returncode == 74
    assert re.fullmatch(
        r"errcompact: --trajectory \S*small\.jsonl: \d+ lines could not be written; name a file on a disk with room",
        done.stderr.splitlines()[-1],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("report error.txt -o /dev/full", "--output /dev/full: is no regular file; name another one"),
        ("report error.txt -o .", "--output .: is no regular file; name another one"),
        ("report error.txt -o -", "--output -: a page goes to a file; name one, as report.html"),
        ("replay error.txt --trajectory /dev/full", "--trajectory /dev/full: is no regular file; name another file"),
        ("replay error.txt --trajectory .", "--trajectory .: Is a directory; name another file"),
        ("stack export error.txt", "error.txt: File exists; export to another folder"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_at_once(folder: Path, arguments: str, message: str) -> None:
    """Before anything is read: nothing is lost."""
    done = shell(f"{COMMAND} {arguments}", folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"errcompact: {message}\n")


@pytest.mark.parametrize("command", ["key", "digest"])
def test_a_folder_in_place_of_a_file_is_one_line(folder: Path, command: str) -> None:
    """The line names it."""
    done = shell(f"{COMMAND} {command} .", folder)
    assert (done.returncode, done.stderr) == (
        1,
        "errcompact: .: cannot be read (Is a directory); check the path and its permissions\n",
    )


def test_a_closed_standard_output_is_one_line(folder: Path) -> None:
    """As a service manager may start a program."""
    done = shell(f"{COMMAND} key error.txt >&-", folder)
    assert (done.returncode, done.stderr) == (
        74,
        "errcompact: standard output: cannot be written (it is closed); send it to a file on a disk with room\n",
    )


def test_a_closed_standard_error_costs_no_output(folder: Path) -> None:
    """The result is written all the same."""
    done = shell(f"{COMMAND} key error.txt 2>&-", folder)
    assert (done.returncode, done.stdout.count('"KeyError"')) == (0, 1)


@pytest.mark.parametrize("arguments", ["key", "digest", "report -", "replay -", "analyze -"])
def test_a_closed_standard_input_is_one_line(folder: Path, arguments: str) -> None:
    """The line names the cure."""
    done = shell(f"{COMMAND} {arguments} <&-", folder)
    assert (done.returncode, done.stderr) == (
        1,
        "errcompact: standard input: is closed; name a file, or pipe text into this command\n",
    )


@pytest.mark.parametrize("command", ["key", "digest", "report", "replay", "analyze"])
def test_a_dangling_link_is_named_with_its_target(folder: Path, command: str) -> None:
    """The link is there, so that 'no such file' alone would puzzle."""
    done = shell(f"{COMMAND} {command} dangling", folder)
    assert (done.returncode, done.stderr) == (
        1,
        "errcompact: dangling: is a link to a missing file (nowhere); name another file\n",
    )


def test_a_pipe_without_a_writer_is_refused(folder: Path) -> None:
    """Opening it would wait without an end."""
    os.mkfifo(folder / "pipe")
    done = shell(f"{COMMAND} key pipe", folder)
    assert (done.returncode, done.stderr) == (
        1,
        "errcompact: pipe: is a named pipe, which may have no writer; read it as standard input: - < pipe\n",
    )


def test_binary_input_is_no_raw_error(folder: Path) -> None:
    """Its bytes would make a class that means nothing."""
    (folder / "core").write_bytes(b"\x7fELF\0\0")
    done = shell(f"{COMMAND} key core", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "errcompact: core: is binary or UTF-16, and is skipped; a raw error is expected as UTF-8 text\n"
    )


def test_a_reader_that_has_gone_is_no_fault(folder: Path) -> None:
    """The status is the one that shells show for it."""
    (folder / "many").write_text('{"text": "KeyError: 1"}\n' * 5_000, encoding="utf-8")
    done = shell(f"{COMMAND} key --jsonl text many | head -n 1; exit ${{PIPESTATUS[0]}}", folder)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (141, "", 1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both files of a trajectory."""
    folder = tmp_path_factory.mktemp("recorded")
    shell(f"{COMMAND} demo --plain --trajectory t.jsonl", folder)
    return folder


def test_both_files_through_a_pipe_give_the_report_of_the_file(recorded: Path) -> None:
    """Readers open it by name, and read its beginning twice."""
    piped = shell(f"cat t.jsonl t.runs.jsonl | {COMMAND} report -", recorded)
    named = shell(f"{COMMAND} report t.jsonl", recorded)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout == named.stdout
    assert ": halted\n" in named.stdout


def test_raw_errors_from_a_pipe_claim_nothing_of_the_run(recorded: Path) -> None:
    """The pipe does not carry the file beside it, which knows the end of the run."""
    piped = shell(f"cat t.jsonl | {COMMAND} report -", recorded)
    assert piped.returncode == 0
    assert piped.stderr == (
        "errcompact: standard input: a pipe carries no second file; name the trajectory file instead, "
        "or pipe both: cat NAME.jsonl NAME.runs.jsonl\n"
    )
    head, _, lacks, _, numbers, *_ = piped.stdout.splitlines()
    assert head.endswith(": unknown")
    assert lacks == "Of this run only raw errors are recorded: recoveries, escalations and digests are unknown."
    assert re.fullmatch(r"12 failures in 7 classes\. Raw errors \d{4} tokens\.", numbers)
    assert piped.stdout.count("| UNKNOWN |") == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nonsense", "No such command 'nonsense'; see 'errcompact --help'"),
        ("key --bad", "key: No such option: --bad; see 'errcompact key --help'"),
        ("replay", "replay: Missing argument 'PATH'; see 'errcompact replay --help'"),
    ],
)
def test_wrong_usage_is_one_line(folder: Path, arguments: str, message: str) -> None:
    """With the help that shows the right one."""
    done = shell(f"{COMMAND} {arguments}", folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"errcompact: {message}\n")


@pytest.mark.parametrize("arguments", ["", "stack"])
def test_without_a_command_the_help_keeps_its_lines(folder: Path, arguments: str) -> None:
    """Help on one line is unreadable."""
    done = shell(f"{COMMAND} {arguments}", folder)
    assert done.returncode == 2
    assert "\nCommands:\n  " in done.stdout + done.stderr


def test_an_interrupt_ends_without_a_word(folder: Path) -> None:
    """Ctrl-C is a wish, not a fault."""
    with subprocess.Popen(
        [sys.executable, "-m", "otel_errcompact", "key", "--jsonl", "text"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        # A shell has its background jobs ignore interrupts, and they would inherit that from these tests.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - it takes no lock
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"text": "KeyError: 1"}\n')
        process.stdin.flush()
        # The answer shows that the program is at work, and waits for more.
        assert b'"KeyError"' in process.stdout.readline()
        # One that comes in the instant before the program waits for input is seen by Python only with the next.
        for _ in range(6):
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
                break
        assert (process.returncode, process.stderr.read().strip()) == (130, b"")
