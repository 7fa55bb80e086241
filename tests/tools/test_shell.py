"""What shells and system programs say."""

from __future__ import annotations

import subprocess

import pytest

from otel_errcompact.extract.shell_statements import shell_statement
from tests.extract.reading import facts


@pytest.mark.parametrize(
    "text",
    [
        *("bash: jqq: command not found", "bash: line 12: jqq: command not found"),
        *("/bin/bash: line 19: jqq: command not found", "sh: 1: jqq: not found", "/bin/sh: 1: jqq: not found"),
        *("-bash: jqq: command not found", "zsh: command not found: jqq", "zsh:1: command not found: jqq"),
        *("(eval):1: command not found: jqq", "fish: Unknown command: jqq"),
        *("./run.sh: line 3: jqq: command not found", "./run.sh: 3: jqq: not found"),
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
            "SyntaxError",
            "syntax error near unexpected token `)'",
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
        *("OSError: [Errno 98] Address already in use", "error: cannot open x: Permission denied"),
        *("config: key foo: not found", "the file was not found", "see also: man bash"),
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


@pytest.mark.parametrize(
    ("text", "cause", "details"),
    [
        pytest.param(
            "usage: deploy.py [-h] env\ndeploy.py: error: unrecognized arguments: --foo",
            "deploy.py: unrecognized arguments: --foo",
            ("usage: deploy.py [-h] env",),
            id="argparse",
        ),
        pytest.param(
            "loading\nusage: run [-h]\nrun: error: the following arguments are required: x",
            "run: the following arguments are required: x",
            ("usage: run [-h]",),
            id="argparse, arguments",
        ),
        pytest.param(
            "usage: a.py [-h] {x}\na.py: error: argument c: invalid choice: 'y' (choose from 'x')",
            "a.py: argument c: invalid choice: 'y' (choose from 'x')",
            ("usage: a.py [-h] {x}",),
            id="choice",
        ),
        pytest.param(
            "Usage: cli [OPTIONS]\nTry 'cli --help' for help.\n\nError: No such option: --foo",
            "No such option: --foo",
            ("Usage: cli [OPTIONS]",),
            id="click",
        ),
        pytest.param(
            'Error: unknown command "x" for "app"\n\nDid you mean this?\n\ty\n',
            'unknown command "x" for "app"',
            ("Did you mean this? y",),
            id="cobra",
        ),
        pytest.param(
            "ls: unrecognized option '--foo'\nTry 'ls --help' for more information.",
            "ls: unrecognized option '--foo'",
            (),
            id="getopt",
        ),
        pytest.param("cp: missing file operand\nTry 'cp --help'", "cp: missing file operand", (), id="coreutils"),
        pytest.param(
            "flag provided but not defined: -n\nUsage of ./a:", "flag provided but not defined: -n", (), id="Go"
        ),
    ],
)
def test_usage_errors(text, cause, details):
    """A wrong command line is one kind of failure, shown with the suggestion and the usage line."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == ("UsageError", cause, "shell")
    assert found.details == details


@pytest.mark.parametrize("text", ["usage: x [-h]\nall is well", "usage: x\n: error: y", "the usage: see below"])
def test_usage_without_an_error(text):
    """A usage line alone is no failure of the command line."""
    assert facts(text).type != "UsageError"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "place"),
    [
        (
            "run.sh: line 2: 19006 Segmentation fault      (core dumped) ./a --fast",
            "SIGSEGV",
            "Segmentation fault (core dumped): ./a --fast",
            "run.sh:2",
        ),
        ("bash: line 1: 19006 Killed                  ./a", "SIGKILL", "Killed: ./a", ""),
        ("Killed", "SIGKILL", "Killed", ""),
        ("Aborted (core dumped)", "SIGABRT", "Aborted (core dumped)", ""),
        (
            "./deploy.sh: line 3: REGION: unbound variable",
            "UnboundVariable",
            "REGION: unbound variable",
            "./deploy.sh:3",
        ),
        ('deploy.sh: 3: Syntax error: "fi" unexpected', "SyntaxError", 'Syntax error: "fi" unexpected', "deploy.sh:3"),
        ("./deploy.sh: line 3: ./x: Permission denied", "EACCES", "./x: Permission denied", "./deploy.sh:3"),
        ("zsh:1: no matches found: *.foo", "NoMatch", "no matches found: *.foo", ""),
        ("zsh: no such file or directory: ./x", "ENOENT", "./x: No such file or directory", ""),
        ("(eval):1: permission denied: ", "EACCES", "Permission denied", ""),
        ("jq: parse error: Invalid literal at line 1", "jq", "jq: parse error: Invalid literal at line 1", ""),
        (
            "/usr/bin/sed: -e expression #1, char 5: unknown",
            "sed",
            "/usr/bin/sed: -e expression #1, char 5: unknown",
            "",
        ),
        (
            "Failed to start x.service: Unit x.service not found.",
            "UnitNotFound",
            "Failed to start x.service: Unit x.service not found.",
            "",
        ),
        ("Host key verification failed.", "HostKeyRejected", "Host key verification failed.", ""),
        ("dev@web: Permission denied (publickey).", "EACCES", "dev@web: Permission denied (publickey).", ""),
    ],
)
def test_shells_and_programs(text, kind, cause, place):
    """Signals, faults of scripts and programs of the system have types of their own, and scripts a place."""
    found = facts(text)
    assert (found.type, found.cause, str(found.location), found.format) == (kind, cause, place, "shell")


@pytest.mark.parametrize(("code", "signal"), [(137, "SIGKILL"), (139, "SIGSEGV"), (143, "SIGTERM")])
def test_silent_end_by_a_signal(code, signal):
    """An exit status without a word tells the signal; another status tells nothing."""
    found = facts("", exit_code=code)
    assert (found.type, found.format) == (signal, "shell")
    assert f"exit code {code}" in found.cause
    assert facts("", exit_code=1).format == "prose"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "place"),
    [
        pytest.param(
            "Get-Item : Cannot find path 'C:\\x' because it\ndoes not exist.\nAt C:\\a\\b.ps1:3 char:1\n+ Get-Item\n"
            "+ ~~~~\n    + CategoryInfo : ObjectNotFound\n    + FullyQualifiedErrorId : PathNotFound,Microsoft",
            "PathNotFound",
            "Get-Item : Cannot find path 'C:\\x' because it does not exist.",
            "C:\\a\\b.ps1:3",
            id="older view",
        ),
        pytest.param(
            "Get-Item : no path\nAt line:1 char:1\n+ x\n    + FullyQualifiedErrorId : PathNotFound,M",
            "PathNotFound",
            "Get-Item : no path",
            "",
            id="typed in",
        ),
        pytest.param("no path\n    + FullyQualifiedErrorId : PathNotFound", "PathNotFound", "no path", "", id="cut"),
        pytest.param(
            "Get-Item: /src/b.ps1:3\nLine |\n   3 |  Get-Item ./x\n     |  ~~~~\n     | Cannot find path '/src/x'.",
            "Get-Item",
            "Cannot find path '/src/x'.",
            "/src/b.ps1:3",
            id="newer view",
        ),
        pytest.param(
            "ParserError: /src/b.ps1:3:5\nLine |\n   3 |  if {",
            "ParserError",
            "ParserError",
            "/src/b.ps1:3",
            id="newer view, cut",
        ),
    ],
)
def test_powershell(text, kind, cause, place):
    """Both views of PowerShell's errors name what failed and where."""
    found = facts(text)
    assert (found.type, found.cause, str(found.location), found.format) == (kind, cause, place, "shell")


@pytest.mark.parametrize("text", ["x\nFullyQualifiedErrorId is a field", "a table\nLine |\n   3 | x"])
def test_words_of_powershell_in_prose(text):
    """Its words in other text are no error of it."""
    assert facts(text).format != "shell"


@pytest.mark.programs
def test_real_shell():
    """A real shell's real output is understood."""
    done = subprocess.run(["sh", "-c", "nosuchprog --version"], capture_output=True, text=True, check=False)
    found = facts(done.stderr, exit_code=done.returncode)
    assert (found.type, found.cause) == ("CommandNotFound", "nosuchprog: command not found")
    assert found.details == ("exit code 127",)


@pytest.mark.parametrize("text", ["Failed to load config: no such file", "Failed to parse args: missing x"])
def test_failures_of_other_programs_are_not_of_systemd(text):
    """`Failed to <verb> <noun>:` is systemd's only where the noun is a unit."""
    assert facts(text).type != "UnitFailed"
    assert facts("Failed to restart nginx.service: Access denied").type == "UnitFailed"
