"""The program that stands before the shell commands of Claude Code."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from otel_errcompact_hosts.wrapping import shell_prefix
from otel_errcompact_hosts.wrapping.launcher import make_launcher, write_launcher
from packages.hosts.tests.wrapping.programs import Ended, Host
from packages.hosts.tests.wrapping.test_failures import CAUSE, FAILS, RAW, find_kept
from packages.hosts.tests.wrapping.test_service import listening


def write_script(command: str, shell: str = "bash") -> str:
    """What Claude Code 2.1.330 hands over for a command."""
    return (
        f"source snapshots/snapshot-{shell}-1795749385120-97co5k.sh 2>/dev/null || true && "
        "{ \\builtin shopt -u extglob || \\builtin setopt NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true && "
        f'eval {shlex.quote(command)} < /dev/null && pwd -P >| "$ENDED_IN"'
    )


@pytest.fixture
def prefix(host: Host) -> str:
    path = write_launcher(host.folder / "programs")
    snapshots = host.work / "snapshots"
    snapshots.mkdir()
    (snapshots / "snapshot-bash-1795749385120-97co5k.sh").write_text(
        "shopt -s expand_aliases\nalias greet='echo hello'\nshout() { echo \"$@\" | tr a-z A-Z; }\n"
    )
    return str(path)


COMMANDS = (
    "echo out; echo err >&2; printf 'no end'",
    "greet world; shout it; echo 'it'\"'\"'s' \"$HOME\" $(echo sub)",
    "cat <<'END'\nof 'three' \"lines\"\n$x\nEND",
    "for i in 1 2; do echo $i; done | cat -n",
    'read -r line; echo "[$line] $?"',
    "mkdir -p sub && cd sub && x=1 && echo $x",
    "(exit 3); echo $?",
    "[ -t 1 ] && echo tty || echo none",
    "head -c 100000 /dev/urandom > random; cat random",
    "! grep -q nothing /dev/null",
)


@pytest.mark.programs
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_succeeds_passes_byte_for_byte(host: Host, prefix: str, command: str) -> None:
    """Aliases and functions of the snapshot, heredocs, pipes and substitutions mean what they meant."""
    script = write_script(command)
    shell = ["bash", "-c", script]
    expected = host.run(*shell, merged=True)
    if command.startswith("head"):
        expected = Ended(0, (host.work / "random").read_bytes(), b"")
        script = script.replace("> random;", "> /dev/null;")
    kept = (host.work / "ended-in").read_bytes()
    (host.work / "ended-in").unlink()
    assert host.run(prefix, script, merged=True) == expected
    assert (host.work / "ended-in").read_bytes() == kept
    assert expected.status == 0


@pytest.mark.programs
def test_the_directory_stays_in_force(host: Host, prefix: str) -> None:
    """The host reads in which directory a command has ended, also behind us."""
    host.run(prefix, write_script("mkdir -p sub && cd sub"))
    assert (host.work / "ended-in").read_text() == f"{host.work / 'sub'}\n"


@pytest.mark.programs
@pytest.mark.parametrize("status", [1, 2, 77, 127, 255])
def test_the_exit_status_is_the_commands(host: Host, prefix: str, status: int) -> None:
    """The host shows it, and the model reads it."""
    script = write_script(f"echo text; exit {status}")
    assert host.run(prefix, script, merged=True).status == host.run("bash", "-c", script).status == status


@pytest.mark.programs
def test_a_failure_leaves_its_digest_in_the_file_that_the_host_reads(host: Host, prefix: str) -> None:
    """Both streams of a command of Claude Code are one file."""
    output = host.folder / "task.output"
    with output.open("wb") as file:
        running = host.start(prefix, write_script(FAILS), stdout=file, stderr=file)
        assert running.wait(timeout=60) == 3
    read = output.read_bytes()
    assert CAUSE in read
    assert find_kept(read)[1].read_bytes() == RAW


def run_into_file(host: Host, *command: str, **changes: str) -> tuple[int, bytes]:
    """How a command ends whose streams are one empty file, as those of Claude Code, and what it leaves there."""
    output = host.folder / "task.output"
    with output.open("wb") as file:
        how = {"stdout": file, "stderr": file, "env": {**host.environ, **changes}}
        return host.start(*command, **how).wait(timeout=60), output.read_bytes()


SHOWS_ALL = (
    "python3 -c 'import os; "
    'print(sorted(item for item in os.environ.items() if item[0] not in ("_", "SHLVL"))); '
    'print({n: os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")[:-1]}); '
    'print(os.readlink("/proc/self/fd/0"), os.getcwd())\''
)


@pytest.mark.programs
@pytest.mark.parametrize("command", [*COMMANDS[:-2], SHOWS_ALL])
def test_a_success_in_the_file_of_its_host_starts_nothing_of_ours(host: Host, command: str) -> None:
    """The same bytes, environment and descriptors, and no interpreter."""
    (host.work / "snapshots").mkdir()
    (host.work / "snapshots" / "snapshot-bash-1795749385120-97co5k.sh").write_text(
        "shopt -s expand_aliases\nalias greet='echo hello'\nshout() { echo \"$@\" | tr a-z A-Z; }\n"
    )
    python = host.write("python", "#!/bin/sh\necho started; exit 1\n")
    python.chmod(0o755)
    program = host.write("program", make_launcher(python=str(python)))
    program.chmod(0o755)
    script = write_script(command)
    assert run_into_file(host, str(program), script) == run_into_file(host, "bash", "-c", script)


@pytest.mark.programs
@pytest.mark.parametrize("ending", ["exit 1", "exit 255", "kill -9 $$", "kill -SEGV $$"])
def test_a_failure_in_the_file_of_its_host_keeps_bytes_and_status(host: Host, prefix: str, ending: str) -> None:
    """No shell of ours says how the command was ended; a signal is the status that shells make of it."""
    script = write_script(f"printf 'no \\377 end'; {ending}")
    status, output = run_into_file(host, "bash", "-c", script)
    assert run_into_file(host, prefix, script) == (status if status >= 0 else 128 - status, output)


@pytest.mark.programs
def test_what_was_in_the_file_before_is_not_taken_back(host: Host, prefix: str) -> None:
    """A host of another version may write a line of its own first."""
    output = host.folder / "task.output"
    output.write_bytes(b"first\n")
    with output.open("ab") as file:
        assert host.start(prefix, write_script(FAILS), stdout=file, stderr=file).wait(timeout=60) == 3
    read = output.read_bytes()
    assert read.startswith(b"first\n")
    assert find_kept(read)[1].read_bytes() == RAW


@pytest.mark.programs
def test_a_success_that_took_long_is_reported(host: Host, prefix: str) -> None:
    """Its host may have moved it to the background, and reports that it was started."""
    with listening(host, b"") as received:
        script = write_script("sleep 2.1")
        assert run_into_file(host, prefix, script, CLAUDE_CODE_SESSION_ID="s-1") == (0, b"")
    assert received[0].startswith(b"POST /v1/successes ")


@pytest.mark.programs
@pytest.mark.parametrize("name", ["ERRCOMPACT", "OTEL_ERRCOMPACT_ENABLED"])
def test_switched_off_a_failure_in_the_file_of_its_host_stays(host: Host, prefix: str, name: str) -> None:
    """As if we were not here."""
    script = write_script(FAILS)
    assert run_into_file(host, prefix, script, **{name: "No"}) == run_into_file(host, "bash", "-c", script)


@pytest.mark.programs
@pytest.mark.parametrize("before", ["ERRCOMPACT=off ", "errcompact exec --raw -- "])
def test_one_command_can_ask_to_stay_as_it_is(host: Host, prefix: str, before: str) -> None:
    """Its words say so at their begin: the output stays raw, and nothing is kept or reported."""
    program = host.folder / "bin" / "errcompact"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nshift 3\nexec "$@"\n')
    program.chmod(0o755)
    script = write_script(f"{before}bash {host.folder / 'fails.sh'}")
    path = f"{program.parent}:{host.environ['PATH']}"
    with listening(host, b"") as received:
        assert run_into_file(host, prefix, script, PATH=path) == (3, RAW)
        assert host.run(prefix, script, merged=True, PATH=path) == Ended(3, RAW, b"")
    assert (received, host.kept) == ([], [])


@pytest.mark.programs
def test_hooks_and_servers_pass_untouched(host: Host, prefix: str) -> None:
    """They are run in our place: their streams, their input, and what they print when they fail."""
    for script in (
        "cat; echo err >&2; exit 3",
        "python3 -c 'import sys; print(sys.stdin.read()); sys.exit(1)'",
        "echo 'we eval nothing'; pwd -P",
        f"eval 'seq 3000'; {shlex.join(['python3', '-c', 'open(1.5)'])}",
        f"pwd -P >| file; eval 'seq 3000'; {shlex.join(['python3', '-c', 'open(1.5)'])}",
        f"seq 3000; {shlex.join(['python3', '-c', 'open(1.5)'])}",
    ):
        assert host.run(prefix, script, given=b"event") == host.run("bash", "-c", script, given=b"event")
    assert host.kept == []


@pytest.mark.programs
def test_a_server_is_answered_at_once(host: Host, prefix: str) -> None:
    """Nothing of a conversation over its streams is held back, and no process of ours stays between."""
    running = host.start(prefix, "exec cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with running:
        for request in (b"one\n", b"two\n"):
            running.stdin.write(request)
            running.stdin.flush()
            assert running.stdout.readline() == request
        assert Path(f"/proc/{running.pid}/comm").read_text() == "cat\n"
        running.stdin.close()
    assert running.returncode == 0


@pytest.mark.programs
def test_the_service_learns_of_the_command_as_the_agent_wrote_it(host: Host, prefix: str) -> None:
    """Its key and its refusals are those of the command, not of the script around it."""
    with listening(host, b"") as received:
        host.run(prefix, write_script("cd /usr && ls 'it'\"'\"'s'"), CLAUDE_CODE_SESSION_ID="s-1")
    sent = json.loads(received[0].partition(b"\r\n\r\n")[2])
    assert (sent["run"], sent["tool"], sent["directory"]) == ("s-1", "Bash", str(host.work))
    assert json.loads(sent["arguments"]) == {"command": "cd /usr && ls 'it'\"'\"'s'"}
    assert sent["turn"] == "unknown"


@pytest.mark.programs
def test_a_time_limit_of_the_host_ends_the_command(host: Host, prefix: str) -> None:
    """The host ends the process that it has started; what runs in it ends too."""
    running = host.start(prefix, write_script("echo $$ > pid; exec sleep 600"), stdout=subprocess.PIPE)
    ends = time.monotonic() + 60
    while not ((host.work / "pid").exists() and (host.work / "pid").read_text()) and time.monotonic() < ends:
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == -signal.SIGTERM
    assert not Path(f"/proc/{(host.work / 'pid').read_text().strip()}").exists()


@pytest.mark.programs
def test_a_background_process_outlives_the_command(host: Host, prefix: str) -> None:
    """`npm run dev &` serves on, and what it prints still arrives."""
    (host.work / "flag").touch()
    script = write_script("(while [ -e flag ]; do sleep 0.05; done; echo late; echo ended > ended) & echo early")
    output = host.folder / "task.output"
    with output.open("wb") as file:
        assert host.start(prefix, script, stdout=file, stderr=file).wait(timeout=60) == 0
    assert output.read_bytes() == b"early\n"
    (host.work / "flag").unlink()
    ends = time.monotonic() + 60
    while output.read_bytes() != b"early\nlate\n" and time.monotonic() < ends:
        time.sleep(0.02)
    assert output.read_bytes() == b"early\nlate\n"


@pytest.mark.programs
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_a_snapshot_of_zsh_is_run_by_zsh(host: Host, prefix: str) -> None:
    """The host's shell is the one whose snapshot the script sources."""
    assert host.run(prefix, write_script("echo $ZSH_VERSION", "zsh")).output != b"\n"


@pytest.mark.programs
@pytest.mark.parametrize("name", ["bash", "zsh"])
@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SHELL", "SHELL"])
def test_the_shell_is_the_users_own_where_it_is_of_the_kind_of_the_snapshot(
    host: Host, prefix: str, name: str, variable: str
) -> None:
    """Of hooks, which have no snapshot, that is bash."""
    own = host.folder / name
    own.write_text('#!/bin/sh\necho "own $1"\n')
    own.chmod(0o755)
    for script in (write_script("true", name), *(["echo hook"] if name == "bash" else [])):
        assert host.run(prefix, script, **{variable: str(own)}).output == b"own -c\n"
    assert host.run(prefix, "echo hook", **{variable: "/bin/sh"}).output == b"hook\n"


@pytest.mark.parametrize(
    ("quoted", "line"),
    [
        ("'ls -l'", "ls -l"),
        ("'ls -l < /dev/null'", "ls -l"),
        ("'ls \\< /dev/null'", "ls"),
        ("'it'\\''s'", "it's"),
        ("'it'\"'\"'s'", "it's"),
        ('"a \\"b\\" \\$c \\d"', 'a "b" $c \\d'),
        ("plain\\ word", "plain word"),
    ],
)
def test_the_command_is_read_out_of_the_script(quoted: str, line: str) -> None:
    """Whichever way the host quotes it."""
    assert shell_prefix.find_line(f"source x || true && eval {quoted} < /dev/null && pwd -P >| f") == line
    assert shell_prefix.find_line(f"eval {quoted}; pwd -P >| f") == line


def test_the_program_is_written_for_its_user_alone_and_anew(host: Host) -> None:
    """An update of the library replaces it in one step."""
    folder = host.folder / "own"
    path = write_launcher(folder)
    path.write_text("older")
    assert write_launcher(folder) == path
    assert path.read_text() == make_launcher()
    assert [each.name for each in folder.iterdir()] == ["errcompact-shell"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


@pytest.mark.programs
def test_without_the_library_commands_run_all_the_same(host: Host) -> None:
    """Whoever removes the environment that the program names keeps a working host."""
    path = host.folder / "left"
    path.write_text(make_launcher(python=str(host.folder / "gone" / "python")))
    path.chmod(0o755)
    script = write_script("seq 3; exit 4")
    assert host.run(str(path), script) == host.run("bash", "-c", script)
    assert host.run(str(path), "printf", "%s", "two words").output == b"two words"


@pytest.mark.programs
def test_several_arguments_are_a_command(host: Host, prefix: str) -> None:
    """A host of another version may hand over words instead of a script."""
    assert host.run(prefix, "printf", "%s|", "two words", "x") == Ended(0, b"two words|x|", b"")
    assert host.run(prefix) == Ended(0, b"", b"")
