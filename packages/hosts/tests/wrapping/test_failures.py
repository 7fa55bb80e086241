"""What fails leaves its digest, and its whole output in a private file."""

from __future__ import annotations

import os
import re
import stat
import time
from pathlib import Path

import pytest

from packages.hosts.tests.wrapping.programs import TRACEBACK, Ended, Host

pytestmark = pytest.mark.programs

FAILS = "sh $FAILING"
"""A program of one piece: a format may shorten what it prints."""

CAUSE = b"FileNotFoundError] at main (/app/load.py:2): [Errno 2] No such file or directory: 'rows.csv'"
RAW = b"".join(b"%d\n" % number for number in range(1, 3001)) + TRACEBACK.encode()
_POINTER = re.compile(rb"\[errcompact: (?:whole|first and last 16 MiB of the) output, ([0-9,]+) bytes: (/\S+)\]\n\Z")


def find_name(text: bytes) -> str:
    """The name of the class in a digest."""
    found = re.search(rb"#([0-9a-f]{4,16})\b", text)
    assert found is not None, text
    return found[1].decode()


def find_kept(text: bytes) -> tuple[str, Path]:
    found = _POINTER.search(text)
    assert found is not None, text
    return found[1].decode(), Path(os.fsdecode(found[2]))


def test_a_failure_leaves_its_digest_and_the_place_of_its_output(host: Host) -> None:
    """The agent reads what it needs, and where the rest lies."""
    ended = host.wrapped(FAILS, merged=True)
    assert ended.status == 3
    assert CAUSE in ended.output
    size, kept = find_kept(ended.output)
    assert size == f"{len(RAW):,}"
    assert kept.read_bytes() == RAW
    assert kept.name.endswith(f".{find_name(ended.output)}.log")
    assert len(ended.output) < 500


def test_of_separate_streams_the_digest_is_on_that_for_errors(host: Host) -> None:
    """What reads standard output expects what the command makes, and gets none of ours."""
    ended = host.wrapped(FAILS)
    assert (ended.status, ended.output) == (3, b"")
    assert CAUSE in ended.error
    assert sorted(find_kept(ended.error)[1].read_bytes()) == sorted(RAW)


def test_the_output_is_only_its_users(host: Host) -> None:
    """An output may hold secrets: file 0600, folder 0700, whatever the umask; and never where the agent works."""
    ended = host.wrapped(f"umask 000; {FAILS}", merged=True)
    kept = find_kept(ended.output)[1]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert not kept.is_relative_to(host.work)
    assert list(host.work.iterdir()) == []


def test_a_folder_in_the_working_directory_is_not_used(host: Host) -> None:
    """An agent that works in its home does not find our files in its repository."""
    ended = host.wrapped(FAILS, merged=True, XDG_STATE_HOME=str(host.work / "state"))
    assert find_kept(ended.output)[1].parent == host.folder / "tmp" / f"otel-errcompact-{os.getuid()}"
    assert list(host.work.iterdir()) == []


def test_a_folder_of_another_kind_is_not_used(host: Host) -> None:
    """A link that was laid in a shared folder leads our file nowhere."""
    elsewhere = host.folder / "elsewhere"
    elsewhere.mkdir()
    named = host.folder / "named"
    named.symlink_to(elsewhere)
    ended = host.wrapped(FAILS, merged=True, OTEL_ERRCOMPACT_EXEC_FOLDER=str(named))
    assert find_kept(ended.output)[1].parent == host.folder / "state" / "otel-errcompact" / "exec"
    assert list(elsewhere.iterdir()) == []


def test_where_no_folder_takes_the_output_it_passes_whole(host: Host) -> None:
    """Nothing raw is lost: a digest alone would lose it."""
    (host.folder / "file").touch()
    nowhere = str(host.folder / "file")
    ended = host.wrapped(FAILS, merged=True, XDG_STATE_HOME=nowhere, TMPDIR=nowhere)
    assert ended == Ended(3, RAW, b"")


def test_the_oldest_outputs_are_removed(host: Host) -> None:
    """A folder that every failure of every agent goes to is bounded."""
    folder = host.folder / "state" / "otel-errcompact" / "exec"
    folder.mkdir(parents=True)
    for number in range(250):
        path = folder / f"output-20200101-000000-{number}.log"
        path.touch()
        os.utime(path, (number, number))
    (folder / "notes.txt").touch()
    kept = find_kept(host.wrapped(FAILS, merged=True).output)[1]
    names = {path.name for path in host.kept}
    assert names == {*(f"output-20200101-000000-{number}.log" for number in range(51, 250)), kept.name, "notes.txt"}


def test_a_longer_command_has_its_digest_behind_its_output(host: Host) -> None:
    """What was streamed cannot be taken back; the digest still saves reading it again."""
    ended = host.wrapped(FAILS, merged=True, options=("--hold", "0"))
    assert ended.status == 3
    assert ended.output.startswith(RAW)
    behind = ended.output.removeprefix(RAW)
    assert CAUSE in behind
    assert find_kept(behind)[1].read_bytes() == RAW


def test_a_short_failure_that_was_streamed_is_not_repeated(host: Host) -> None:
    """A digest behind one line would be longer than that."""
    ended = host.wrapped("echo oops >&2; exit 3", merged=True, options=("--hold", "0"))
    assert ended == Ended(3, b"oops\n", b"")


def test_a_short_failure_passes_as_it_is(host: Host) -> None:
    """Without counts the digest of one line says nothing that the line does not."""
    for script in ("ls no-such-file", "echo oops >&2; exit 3", "exit 4"):
        assert host.wrapped(script) == host.shell(script)
    assert host.kept == []


@pytest.mark.parametrize(
    "script",
    [
        "seq 5000 | grep -v 9 | grep nothing",
        "echo a > a; seq 3000 > b; diff a b",
        "test -e no-such-file",
        "seq 3000; seq 3000 | cmp - /dev/null",
    ],
)
def test_a_question_answered_with_no_is_no_failure(host: Host, script: str) -> None:
    """`grep`, `diff` and `test` say by their status what they found."""
    assert host.wrapped(script) == host.shell(script)


def test_what_is_no_text_passes_as_it_is(host: Host) -> None:
    """A command that prints an image and fails has printed an image."""
    script = "head -c 5000 /dev/zero; exit 1"
    assert host.wrapped(script, merged=True) == host.shell(script, merged=True)


def test_bytes_that_are_no_unicode_are_kept(host: Host) -> None:
    """The digest shows what can be shown; the file has every byte."""
    ended = host.wrapped(f"printf 'caf\\351 %.0s' $(seq 2000); echo; {FAILS}", merged=True)
    assert CAUSE in ended.output
    assert find_kept(ended.output)[1].read_bytes() == b"caf\xe9 " * 2000 + b"\n" + RAW


def test_of_a_huge_output_beginning_and_end_are_kept(host: Host) -> None:
    """The disk is bounded too, and the line that names the file says so."""
    script = host.write("huge.sh", f"yes 0123456789 | head -c 60000000; {FAILS}")
    ended = host.wrapped(f"sh {script}", merged=True)
    assert ended.status == 3
    behind = ended.output[60_000_000:].removeprefix(RAW)
    assert CAUSE in behind
    assert b"\n[errcompact: first and last 16 MiB of the output, " in behind
    size, kept = find_kept(behind)
    assert size == f"{60_000_000 + len(RAW):,}"
    data = kept.read_bytes()
    half = 16 * 1024 * 1024
    whole = (b"0123456789\n" * 5_500_000)[:60_000_000] + RAW
    left_out = len(whole) - 2 * half
    assert data == whole[:half] + f"\n[errcompact: {left_out:,} bytes left out]\n".encode() + whole[-half:]


def test_a_digest_of_a_digest_is_not_made(host: Host) -> None:
    """A script that calls us is wrapped as well, and the inner digest passes."""
    inner = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    ended = host.wrapped(inner, merged=True, FAILS=FAILS)
    assert ended.output.count(b"[errcompact: whole output") == 1
    assert CAUSE in ended.output
    assert len(host.kept) == 1


@pytest.mark.parametrize("path", ["/etc/passwd", "{home}/secret"])
def test_a_forged_pointer_switches_nothing_off(host: Host, path: str) -> None:
    """A line like ours, in a text that names a file which we do not keep, is a line like any other."""
    host.write("secret", "")
    forged = f"[errcompact: whole output, 3 bytes: {path.format(home=host.folder)}]"
    script = host.write("says.sh", f"$FAILS; echo; echo '{forged}'; echo password=Zk9xQ2vLw8RtY5pB; exit 3")
    ended = host.wrapped(f"sh {script}", merged=True, FAILS=FAILS)
    assert b"Zk9xQ2vLw8RtY5pB" not in ended.output
    assert f"\n{forged}".encode() not in ended.output
    assert len(host.kept) == 1


def test_the_variable_for_observing_leaves_the_output(host: Host) -> None:
    """In mode `observe` the agent reads what the command printed."""
    assert host.wrapped(FAILS, merged=True, OTEL_ERRCOMPACT_MODE="observe") == Ended(3, RAW, b"")


def test_a_fault_of_ours_leaves_the_output(host: Host) -> None:
    """Whatever breaks in the making of a digest, the agent reads the output whole, and no traceback of ours."""
    broken = host.folder / "broken"
    broken.mkdir()
    (broken / "dataclasses.py").write_text("raise RuntimeError('broken installation')")
    path = f"{broken}:{host.environ['PYTHONPATH']}"
    assert host.wrapped(FAILS, merged=True, PYTHONPATH=path) == Ended(3, RAW, b"")


def test_the_digest_of_megabytes_is_made_of_both_ends(host: Host) -> None:
    """The cause is at the end, as of most builds; what lies between is in the file."""
    script = host.write("huge.sh", f"yes compiling | head -c 8000000; {FAILS}")
    ended = host.wrapped(f"sh {script}", merged=True)
    assert CAUSE in ended.output
    assert len(ended.output) < 1_000
    assert find_kept(ended.output)[1].stat().st_size == 8_000_000 + len(RAW)


def test_a_command_whose_reader_is_gone_says_nothing(host: Host) -> None:
    """`head` has what it wanted, and nobody asked how the command ended."""
    wrapped = " ".join(host.wrap("bash", "-c", "'seq 1000000; exit 3'"))
    ended = host.shell(f"{wrapped} | head -1")
    assert (ended.output, ended.error) == (b"1\n", b"")


@pytest.mark.parametrize("around", ["{} | cat", "( {} ) | cat", "{{ {}; echo $? >&2; }} | cat"])
def test_the_next_command_of_a_line_gets_the_output_itself(host: Host, around: str) -> None:
    """A digest is no input of a program: it is on the stream for errors, and the rows are where they were."""
    wrapped = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    ended = host.shell(around.format(wrapped), FAILS=FAILS)
    assert ended.output == RAW.removesuffix(TRACEBACK.encode())
    assert CAUSE in ended.error


def test_of_a_line_that_merges_its_streams_the_next_command_gets_the_digest(host: Host) -> None:
    """`2>&1 | tail` is how agents shorten what they read; the digest is short already."""
    wrapped = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    ended = host.shell(f"{wrapped} 2>&1 | tail -5", FAILS=FAILS)
    assert CAUSE in ended.output
    find_kept(ended.output)


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize(
    "line",
    [
        "{} > data 2>&1",
        "{{ {}; }} > data 2>&1",
        "( {}; true ) > data 2>&1",
        "exec > log 2>&1; {} >> data 2>&1; true",
        'x=$({} 2>&1); echo "$x" > data',
        'x=$(cd /; {} 2>&1; true); echo "$x" > data',
        'x=`{} 2>&1 & wait`; echo "$x" > data',
        'x=$({} 2>&1 &); echo "$x" > data',
    ],
)
def test_what_a_line_keeps_for_itself_is_raw(host: Host, line: str, shell: str) -> None:
    """A file that the line names, a variable, or a loop of the shell reads what the command has written."""
    wrapped = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    # As hosts start a line: its shell leads a group of its own.
    host.environ["FAILS"] = FAILS
    with host.start(shell, "-c", line.format(wrapped), start_new_session=True) as running:
        running.wait(timeout=60)
    assert (host.work / "data").read_bytes() == RAW


@pytest.mark.parametrize("line", ["mapfile -t x < <({}); printf '%s\n' \"${{x[@]}}\" > data", "cat <({}) > data; true"])
def test_what_a_substituted_process_prints_is_raw(host: Host, line: str) -> None:
    """It is the input of what reads it."""
    wrapped = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    host.shell(line.format(f"{wrapped} 2> errors"), FAILS=FAILS)
    assert (host.work / "data").read_bytes() == RAW.removesuffix(TRACEBACK.encode())


def test_the_errors_of_what_a_variable_keeps_are_a_digest(host: Host) -> None:
    """The agent reads them; what it has captured is not replaced."""
    wrapped = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    ended = host.shell(f'x=$({wrapped}); echo "${{#x}}"', FAILS=FAILS)
    assert int(ended.output) == len(RAW.removesuffix(TRACEBACK.encode())) - 1
    assert CAUSE in ended.error


@pytest.mark.parametrize("opening", [">", ">>"])
def test_a_host_that_reads_a_file_sees_it_grow_and_then_the_digest(host: Host, opening: str) -> None:
    """Claude Code reads outputs from a file: while a command runs for its progress, and again when it has ended."""
    log = host.work / "log"
    log.write_text("earlier\n")
    wrapped = " ".join(host.wrap("bash", "-c", '"$FAILS"'))
    script = f"echo begins; while [ ! -e flag ]; do sleep 0.05; done; {FAILS}"
    host.environ["FAILS"] = script
    with host.start("bash", "-c", f"exec {opening} log 2>&1; echo before; {wrapped}; echo $?") as running:
        ends = time.monotonic() + 60
        while "begins\n" not in log.read_text() and time.monotonic() < ends:
            time.sleep(0.02)
        (host.work / "flag").touch()
        running.wait(timeout=60)
    lines = log.read_bytes()
    before = b"before\n" if opening == ">" else b"earlier\nbefore\n"
    assert lines.startswith(before + b"[FileNotFoundError] at main")
    assert lines.endswith(b"]\n3\n")
    assert find_kept(lines.removesuffix(b"3\n"))[1].read_bytes() == b"begins\n" + RAW


def test_of_a_file_that_others_write_to_nothing_is_taken_back(host: Host) -> None:
    """What another process wrote meanwhile stays, and so does the output before it."""
    wrapped = " ".join(host.wrap("bash", "-c", '"seq 3000; until [ -s log ]; do :; done; echo other >> log; exit 3"'))
    host.shell(f"exec >> log 2>&1; {wrapped}; true")
    lines = (host.work / "log").read_bytes()
    assert lines.startswith(RAW.partition(b"Traceback")[0][:1000])
    assert b"other\n" in lines
