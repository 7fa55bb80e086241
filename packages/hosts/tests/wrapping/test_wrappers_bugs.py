"""What other wrappers of agents' commands got wrong, one test for each report."""

from __future__ import annotations

import subprocess

import pytest

from packages.hosts.tests.wrapping.programs import Ended, Host

pytestmark = pytest.mark.programs

SUITE = """\
import sys
for number in range(400):
    print(f"test_{number} ... ok")
print("test_last ... FAILED")
print("401 tests, 1 failed")
"""


def test_the_exit_status_is_not_lost(host: Host) -> None:
    """Status 0 for a failure made agents take broken builds for whole ones."""
    assert [host.wrapped(f"exit {status}").status for status in (0, 1, 2, 101)] == [0, 1, 2, 101]


def test_a_success_has_no_word_of_ours(host: Host) -> None:
    """Neither 'ok' nor a summary: each passing run cost more tokens than without the wrapper."""
    for script in ("true", "echo ok", "echo PASS; echo 'ok  	pkg	0.1s'"):
        assert host.wrapped(script) == host.shell(script)


def test_a_failure_is_never_called_a_success(host: Host) -> None:
    """Green summaries stood above failed builds: ours has the program's own words, and the status is a failure's."""
    (host.work / "suite.py").write_text(f"{SUITE}sys.exit(1)\n")
    ended = host.wrapped("python3 suite.py", merged=True)
    assert ended.status == 1
    assert b"failed" in ended.output
    for claim in (b"passed", b"success", b"identical"):
        assert claim not in ended.output


def test_a_success_that_mentions_failures_is_never_called_a_failure(host: Host) -> None:
    """A log that is printed holds errors; the command that printed it has none."""
    (host.work / "suite.py").write_text(SUITE)
    script = "python3 suite.py > log; cat log"
    assert host.wrapped(script, merged=True) == host.shell(script, merged=True)


def test_two_files_that_differ_are_shown(host: Host) -> None:
    """`diff` said that files were identical which were not."""
    script = "seq 2000 > a; sed s/1999/x/ a > b; diff a b"
    ended = host.wrapped(script)
    assert (ended.status, ended) == (1, host.shell(script))
    assert ended.output == b"1999c1999\n< 1999\n---\n> x\n"


def test_a_pipe_behind_the_command_gets_its_output(host: Host) -> None:
    """Programs that parse what is wrapped found a summary instead."""
    wrapped = " ".join(host.wrap("bash", "-c", "'seq 5000; exit 1'"))
    assert host.shell(f"{wrapped} | grep -c 9 | sed s/^/found:/").output == b"found:1355\n"


@pytest.mark.parametrize(
    "script",
    [
        "echo $(echo $(echo nested))",
        'x=$(printf "a b"); echo "$x" `echo back`',
        "cat <<END | tr a-z A-Z\nheredoc $((1 + 2))\nEND",
        "for i in 1 2 3; do for j in a b; do echo $i$j; done; done",
        "while read -r a b; do echo \"$b $a\"; done <<< 'x y'",
        "seq 10 | while read n; do [ $((n % 2)) = 0 ] && echo $n; done; true",
        "echo one | cat | cat | wc -c",
        "VAR=set bash -c 'echo $VAR'",
        "cd /usr && pwd && cd .. && pwd",
        "echo a && echo b || echo c; echo d & wait",
        "set -o pipefail; false | true; echo ${PIPESTATUS[0]}",
        "f() { local x=1; echo $x \"$*\"; }; f a 'b c'",
        "echo 'single \"double\" \\back' \"double 'single' \\\\back\"",
        "exec 3>&1; echo three >&3",
        "echo {a,b}{1,2} *.none ~root",
    ],
)
def test_the_syntax_of_the_shell_keeps_its_meaning(host: Host, script: str) -> None:
    """Substitutions were corrupted, heredocs and loops broken, later commands of a line skipped."""
    assert host.wrapped(script) == host.shell(script)


def test_no_status_of_ours_is_new_to_the_host(host: Host) -> None:
    """A status that no document named switched all hooks off: ours are those of shells."""
    assert host.run(*host.wrap("no-such-program")).status == host.shell("no-such-program").status == 127
    assert host.run(*host.wrap("/")).status == host.shell("/").status == 126


def test_progress_is_seen_while_a_command_runs(host: Host) -> None:
    """Nothing of a long build was printed before its end."""
    command = host.wrap("bash", "-c", "echo 10%; read -r go; echo 100%", options=("--hold", "0.05"))
    with host.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"10%\n"
        assert running.communicate(b"go\n", timeout=60)[0] == b"100%\n"


def test_standard_input_reaches_the_command(host: Host) -> None:
    """Servers got an empty one and ended."""
    assert host.wrapped("cat; echo; wc -c < /dev/stdin", given=b"x" * 200_000).output[:200_000] == b"x" * 200_000
    assert host.wrapped("read -r a; read -r b; echo $b$a", given=b"1\n2\n") == Ended(0, b"21\n", b"")


def test_a_command_that_reads_the_terminal_does_not_hang(host: Host) -> None:
    """`ssh` waited for an answer that nobody could give; without a terminal it fails as it would alone."""
    script = "exec 0< /dev/null; read -r answer < /dev/tty || echo 'no terminal'"
    running = host.start(*host.wrap("bash", "-c", script), stdout=subprocess.PIPE, start_new_session=True)
    output, _ = running.communicate(timeout=60)
    assert output == b"no terminal\n"


def test_a_background_task_keeps_its_status(host: Host) -> None:
    """A host that runs a command in the background asks for its status later."""
    command = host.wrap("bash", "-c", "sleep 0.2; exit 9")
    ended = host.shell(f"{' '.join(command[:-1])} '{command[-1]}' & wait $!; echo $?")
    assert ended.output == b"9\n"


def test_a_command_is_not_rewritten(host: Host) -> None:
    """Permission rules see the agent's own command, and so does the command: its words are those that it was given."""
    words = ("a b", "", "$HOME", "*", "-n", "--", "'q'", '"', "new\nline", "\\", "\udcff")
    assert host.run(*host.wrap("printf", "%s|", *words)) == host.run("printf", "%s|", *words)
