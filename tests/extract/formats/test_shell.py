"""What shells and system programs say."""

from __future__ import annotations

import subprocess

import pytest

from otel_errcompact.errors import Facts, RawError
from otel_errcompact.extract import extract
from otel_errcompact.extract.formats.shell import shell_statement


def facts(text: str, **known) -> Facts:
    return extract(RawError(text=text, **known))


@pytest.mark.parametrize(
    "text",
    [
        "bash: jqq: command not found",
        "bash: line 1: jqq: command not found",
        "/bin/bash: line 7: jqq: command not found",
        "sh: 1: jqq: not found",
        "/bin/sh: 1: jqq: not found",
        "-bash: jqq: command not found",
        "zsh: command not found: jqq",
        "zsh:1: command not found: jqq",
        "(eval):1: command not found: jqq",
        "fish: Unknown command: jqq",
        "./run.sh: line 3: jqq: command not found",
        "./run.sh: 3: jqq: not found",
        "'jqq' is not recognized as an internal or external command,",
        "jqq : The term 'jqq' is not recognized as the name of a cmdlet",
    ],
)
def test_missing_command(text):
    """A missing command is one failure, whichever shell says so and on whichever line."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == ("CommandNotFound", "jqq: command not found", "shell")


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        ("cat: notes.txt: No such file or directory", "ENOENT", "cat: notes.txt: No such file or directory"),
        (
            "ls: cannot access 'src/vendor': No such file or directory",
            "ENOENT",
            "ls: cannot access 'src/vendor': No such file or directory",
        ),
        ("bash: ./run: No such file or directory", "ENOENT", "./run: No such file or directory"),
        ("bash: line 2: ./run: Permission denied", "EACCES", "./run: Permission denied"),
        (
            "mkdir: cannot create directory \u2018x\u2019: File exists",
            "EEXIST",
            "mkdir: cannot create directory \u2018x\u2019: File exists",
        ),
        (
            "ssh: connect to host db port 22: Connection refused",
            "ECONNREFUSED",
            "ssh: connect to host db port 22: Connection refused",
        ),
        ("cp: error writing 'x': No space left on device.", "ENOSPC", "cp: error writing 'x': No space left on device"),
        ("/bin/sh: 1: cd: can't cd to /x", "ShellError", "cd: can't cd to /x"),
        (
            "bash: -c: line 1: syntax error near unexpected token `)'",
            "ShellError",
            "-c: line 1: syntax error near unexpected token `)'",
        ),
    ],
)
def test_failures_of_programs(text, kind, cause):
    """What a program prints for an error number has the number's POSIX name as its type."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "shell")


@pytest.mark.parametrize(
    "line",
    [
        "OSError: [Errno 98] Address already in use",
        "error: cannot open x: Permission denied",
        "config: key foo: not found",
        "the file was not found",
        "see also: man bash",
        "No such file or directory",
    ],
)
def test_lines_of_others(line):
    """An exception's message or a sentence is no shell's report."""
    assert shell_statement(line) is None


def test_decisive_line_is_searched_in_the_whole_text():
    """The report may stand below any number of other lines."""
    text = "\n".join([f"step {number} ok" for number in range(200)] + ["bash: line 9: jqq: command not found", "done"])
    assert facts(text).cause == "jqq: command not found"


def test_exit_status_and_further_reports_are_details():
    """The exit status is kept, whoever reports it, as are reports of the same kind."""
    text = "cat: a: No such file or directory\nprogress\ncat: b: No such file or directory\n[exit code: 1]"
    assert facts(text).details == ("exit code 1", "cat: b: No such file or directory")
    assert facts("bash: jqq: command not found", exit_code=127).details == ("exit code 127",)


@pytest.mark.parametrize(
    ("text", "kind", "keyed"),
    [
        (
            "Command failed with exit code 127: make check",
            "exit code 127",
            "Command failed with exit code 127: make check",
        ),
        (
            "Command '['make', 'test']' returned non-zero exit status 2.",
            "exit code 2",
            "Command 'make test' returned non-zero exit status 2",
        ),
        ('command "npm ci" exited with code 1', "exit code 1", 'command "npm ci" exited with code 1'),
        (
            "Process completed with exit code 3 after a while",
            "exit code 3",
            "Process completed with exit code 3 after a while",
        ),
    ],
)
def test_failed_command_alone(text, kind, keyed):
    """Where nothing is known but the command and its exit status, the status is the type."""
    found = facts(text)
    assert (found.type, found.keyed_cause, found.format) == (kind, keyed, "shell")


def test_real_shell():
    """A real shell's real output is understood."""
    done = subprocess.run(["sh", "-c", "nosuchprog --version"], capture_output=True, text=True, check=False)
    found = facts(done.stderr, exit_code=done.returncode)
    assert (found.type, found.cause) == ("CommandNotFound", "nosuchprog: command not found")
    assert found.details == ("exit code 127",)
