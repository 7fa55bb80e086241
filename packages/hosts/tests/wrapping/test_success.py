"""What succeeds is as without us: every byte, every stream, every status."""

from __future__ import annotations

import os
import pty
import random
import re
import subprocess
import time
from pathlib import Path

import pytest

from packages.hosts.tests.wrapping.programs import Host

pytestmark = pytest.mark.programs

_PIECES = (
    "echo out",
    "echo err >&2",
    "printf 'no end'",
    "printf 'err no end' >&2",
    "printf '\\000\\001\\377\\n'",
    "for i in 1 2 3; do echo o$i; echo e$i >&2; done",
    "cat",
    "cat <<'END'\nheld 'back' \"here\" $x\nEND",
    "cd /usr; pwd; cd - > /dev/null",
    "echo a b | tr a-z A-Z | cat -A",
    'x=$(echo sub; exit 3); echo "$x $?"',
    "f() { echo \"$@\"; }; f 1 '2  3'",
    "seq 2000",
    "head -c 70000 /dev/zero | tr '\\0' x",
    "[ -t 1 ] && echo tty || echo none",
    '( exit 4 ) || echo "was $?"',
    "sleep 0.01",
    "echo caf\u00e9 \u2603",
)
_ENDINGS = ("exit 0", "true", ":", "exec true", "! false")


@pytest.mark.parametrize("seed", range(25))
def test_a_script_that_succeeds_passes_byte_for_byte(host: Host, seed: int) -> None:
    """Whatever a script prints, on whichever stream, and whatever it reads."""
    choose = random.Random(seed)
    script = "\n".join([*choose.choices(_PIECES, k=choose.randint(1, 6)), choose.choice(_ENDINGS)])
    given = choose.randbytes(choose.choice((0, 10, 5_000)))
    assert host.wrapped(script, given=given) == host.shell(script, given=given)
    # Of one pipe for both streams, which hosts often have, also their order.
    assert host.wrapped(script, given=given, merged=True) == host.shell(script, given=given, merged=True)
    assert host.kept == []


def test_ten_megabytes_pass_byte_for_byte(host: Host) -> None:
    """More than memory holds goes through a file, which is then removed."""
    script = "head -c 10000000 /dev/urandom > data; cat data; head -c 300000 data >&2"
    ended = host.wrapped(script)
    data = (host.work / "data").read_bytes()
    assert (ended.status, ended.output == data, ended.error == data[:300_000]) == (0, True, True)
    assert host.kept == []


def test_more_than_is_held_back_passes_byte_for_byte(host: Host) -> None:
    """40 MB are streamed from the moment that they are too many to hold."""
    ended = host.wrapped("yes 0123456789 | head -c 40000000; echo end >&2")
    assert (ended.status, ended.error) == (0, b"end\n")
    assert ended.output == (b"0123456789\n" * 4_000_000)[:40_000_000]


def test_the_environment_is_the_same(host: Host) -> None:
    """The interpreter's own settings, such as its locale, do not reach the command."""
    bare = {"PATH": host.environ["PATH"], "PYTHONPATH": host.environ["PYTHONPATH"]}
    for environ in (bare, {**bare, "LC_CTYPE": "C.UTF-8"}, {**bare, "LC_ALL": "C"}):
        outputs = [
            subprocess.run(command, env=environ, capture_output=True, check=True).stdout.split(b"\n")
            for command in (["env"], host.wrap("env"))
        ]
        assert sorted(outputs[0]) == sorted(outputs[1])


def test_descriptors_and_signals_are_the_same(host: Host) -> None:
    """The command has no descriptor of ours, and no signal is ignored that was not."""
    script = "ls /proc/self/fd | wc -l; grep -E '^Sig(Ign|Blk)' /proc/self/status; ulimit -a; umask"
    # 32 and 33 are the C library's own, which leaves one or both ignored in what it spawns.
    own = re.compile(rb"(SigIgn:\t[0-9a-f]{7})[01][08]")
    assert own.sub(rb"\g<1>00", host.wrapped(script).output) == own.sub(rb"\g<1>00", host.shell(script).output)


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"])
def test_a_closed_stream_stays_closed(host: Host, closed: str) -> None:
    """Nothing of ours takes the number of a closed descriptor."""
    inner = "for n in 0 1 2; do [ -e /proc/self/fd/$n ] && echo open $n >> seen || echo closed $n >> seen; done; exit 5"
    seen = host.work / "seen"
    assert host.shell(f"bash -c '{inner}' {closed}").status == 5
    expected = seen.read_text()
    seen.unlink()
    wrapped = " ".join(host.wrap("bash", "-c", f"'{inner}'"))
    assert host.shell(f"{wrapped} {closed}").status == 5
    assert seen.read_text() == expected


def test_output_that_nobody_reads_stays_unread(host: Host) -> None:
    """A command whose streams are thrown away is run in our place."""
    wrapped = " ".join(host.wrap("sh", "-c", "'ls -l /proc/self/fd/1'"))
    assert host.shell(f"{wrapped} > /dev/null 2>&1").status == 0


def test_a_terminal_stays_one(host: Host) -> None:
    """Before a terminal the command has that itself: colours, its width, and what a human types."""
    script = '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && read -r line && echo "read $line"; exit 7'
    command = host.wrap("bash", "-c", script)
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - another program takes over
        os.chdir(host.work)
        os.execvpe(command[0], command, host.environ)
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
    os.write(terminal, b"typed\n")
    read = b""
    while True:
        try:
            data = os.read(terminal, 1024)
        except OSError:  # how Linux says that the other end is closed
            break
        if not data:
            break
        read += data
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    os.close(terminal)
    assert b"33 99\r\n" in read
    assert b"read typed\r\n" in read


def test_one_stream_that_is_a_terminal_is_enough(host: Host) -> None:
    """`command | less` shows its errors to a human, at once and whole."""
    leader, follower = pty.openpty()
    made = subprocess.run(
        host.wrap("bash", "-c", "[ -t 2 ] && echo yes; seq 5000; exit 3"),
        cwd=host.work,
        env=host.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=follower,
        check=False,
    )
    os.close(leader)
    os.close(follower)
    assert made.returncode == 3
    assert made.stdout == b"yes\n" + b"".join(b"%d\n" % number for number in range(1, 5001))


def test_a_success_that_looks_like_a_failure_passes(host: Host) -> None:
    """Status 0 is a success, whatever was printed: nothing is judged, and nothing kept."""
    script = (
        "seq 3000; printf 'Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 1\n'; echo '2 failed'"
    )
    assert host.wrapped(script) == host.shell(script)
    assert host.kept == []


def test_a_stream_in_a_file_of_its_own_gets_all_of_it(host: Host) -> None:
    """Whatever is behind `> file` reads what the command wrote, also of one that fails."""
    wrapped = " ".join(host.wrap("bash", "-c", "'seq 3; echo oops >&2; exit 2'"))
    ended = host.shell(f"{wrapped} > made.txt")
    assert (host.work / "made.txt").read_text() == "1\n2\n3\n"
    assert ended.status == 2
    assert b"oops" in ended.error


def test_a_command_that_takes_longer_is_streamed(host: Host) -> None:
    """A human sees the progress of a build, and an agent that of a server in the background."""
    script = "echo first; echo other >&2; read -r line; echo $line; read -r line; echo $line"
    running = host.start(
        *host.wrap("bash", "-c", script, options=("--hold", "0.1")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout.readline() == b"first\n"
    assert running.stderr.readline() == b"other\n"
    for line in (b"second\n", b"third\n"):
        running.stdin.write(line)
        running.stdin.flush()
        assert running.stdout.readline() == line
    running.communicate()
    assert running.returncode == 0


def test_nothing_is_held_where_that_is_asked_for(host: Host) -> None:
    """A program that answers requests on its streams is not kept waiting."""
    running = host.start(
        *host.wrap("cat"),
        env={**host.environ, "OTEL_ERRCOMPACT_EXEC_HOLD_SECONDS": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    running.stdin.write(b"request\n")
    running.stdin.flush()
    assert running.stdout.readline() == b"request\n"
    running.communicate()


def test_a_reader_that_ends_ends_the_command(host: Host) -> None:
    """`yes | head -1` does not write for ever into what we hold."""
    wrapped = " ".join(host.wrap("yes", options=("--hold", "60")))
    ended = host.shell(f"{wrapped} | head -1; echo ${{PIPESTATUS[@]}}")
    assert ended.output == b"y\n141 0\n"


def test_switched_off_the_command_is_run_in_our_place(host: Host) -> None:
    """The off switch of the library is one for this too."""
    ended = host.wrapped("seq 2000; ps -o comm= -p $PPID; exit 3", OTEL_ERRCOMPACT_ENABLED="false")
    assert ended == host.shell("seq 2000; ps -o comm= -p $PPID; exit 3")


def test_a_background_process_does_not_hold_us(host: Host) -> None:
    """The command has ended when it has, whatever it leaves behind with its streams."""
    (host.work / "flag").touch()
    script = "(while [ -e flag ]; do sleep 0.05; done; echo late) & echo early"
    with host.start(*host.wrap("bash", "-c", script), stdout=subprocess.PIPE) as running:
        assert running.wait(timeout=60) == 0
        assert running.stdout.readline() == b"early\n"
        # What it prints later arrives as it would without us, instead of ending it by SIGPIPE.
        (host.work / "flag").unlink()
        assert running.stdout.read() == b"late\n"


def test_a_background_process_whose_reader_is_gone_is_ended(host: Host) -> None:
    """As it would be without us: nothing reads for it."""
    script = "(while echo again 2>/dev/null; do sleep 0.05; done; echo gone > gone) & echo early"
    running = host.start(*host.wrap("bash", "-c", f"trap '' PIPE; {script}"), stdout=subprocess.PIPE)
    assert running.wait(timeout=60) == 0
    running.stdout.close()
    ends = time.monotonic() + 60
    while not (host.work / "gone").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    assert (host.work / "gone").read_text() == "gone\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("script", ["echo made", "yes | head -c 300000"])
def test_what_a_full_disk_does_not_take_is_no_success(host: Host, script: str) -> None:
    """The command has handed it to us, and cannot know: its host has to be told."""
    wrapped = " ".join(host.wrap("bash", "-c", f"'{script}'"))
    ended = host.shell(f"{wrapped} > /dev/full")
    assert (ended.status, ended.error) == (1, b"errcompact exec: write error: No space left on device\n")


def test_of_a_full_disk_the_status_of_a_failure_stays(host: Host) -> None:
    """It says more than that its output is lost."""
    wrapped = " ".join(host.wrap("bash", "-c", "'echo made; exit 7'"))
    assert host.shell(f"{wrapped} > /dev/full").status == 7


@pytest.mark.parametrize("how", ["> made 2> /dev/null", "> made 2> errors", "2> /dev/null | cat > made"])
def test_what_a_user_keeps_of_a_failure_is_what_it_wrote(host: Host, how: str) -> None:
    """Wherever its errors go, a file of rows or a command that reads rows is not given a digest."""
    wrapped = " ".join(host.wrap("bash", "-c", "'seq 2000; echo \"Error: no rows left\" >&2; exit 3'"))
    host.shell(f"{wrapped} {how}")
    assert (host.work / "made").read_bytes() == b"".join(b"%d\n" % number for number in range(1, 2001))


@pytest.mark.parametrize("seconds", ["3000000", "1e300", "inf"])
def test_output_may_be_held_back_for_ever(host: Host, seconds: str) -> None:
    """No clock of the system takes so long a time."""
    for options, changes in ((("--hold", seconds), {}), ((), {"OTEL_ERRCOMPACT_EXEC_HOLD_SECONDS": seconds})):
        ended = host.wrapped("sleep 0.1; echo done", options=options, **changes)
        assert (ended.status, ended.output, ended.error) == (0, b"done\n", b"")


@pytest.mark.parametrize("environ", [{}, {"OTEL_ERRCOMPACT_ENABLED": "false"}])
def test_a_script_without_an_interpreter_is_read_by_the_shell(host: Host, environ: dict[str, str]) -> None:
    """As shells have it, and `env`, `nohup`, `timeout`."""
    script = host.work / "script"
    script.write_text('echo "$0 got $1"\n')
    script.chmod(0o755)
    named = host.run(*host.wrap("./script", "a b"), **environ)
    assert (named.status, named.output, named.error) == (0, b"./script got a b\n", b"")
    path = f"{host.work}:{host.environ['PATH']}"
    found = host.run(*host.wrap("script", "a b"), PATH=path, **environ)
    assert (found.status, found.output) == (0, f"{script} got a b\n".encode())


def test_a_program_of_another_machine_is_no_script(host: Host) -> None:
    """No shell reads its bytes."""
    binary = host.work / "binary"
    binary.write_bytes(b"\x7fELF\0\0\0\0 echo ran")
    binary.chmod(0o755)
    ended = host.run(*host.wrap("./binary"))
    assert (ended.status, ended.output) == (126, b"")
    assert ended.error == b"errcompact exec: ./binary: Exec format error\n"
