"""What a command pays for being wrapped: nothing is imported that it does not need."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from otel_errcompact_hosts.wrapping.launcher import write_launcher
from otel_errcompact_lab.cli.app import app
from packages.hosts.tests.wrapping.programs import EXEC, Host
from packages.hosts.tests.wrapping.test_shell_prefix import write_script

HEAVY = {
    *("typing", "re", "enum", "json", "signal", "subprocess", "socket", "contextlib", "dataclasses", "pathlib"),
    *("logging", "typer", "click", "rich", "pydantic", "opentelemetry", "asyncio"),
}


def _list_imports(host: Host, *command: str) -> set[str]:
    ended = subprocess.run(
        command, cwd=host.work, env=host.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^import time: .*\| +([\w.]+)$", ended.stderr, re.MULTILINE))


@pytest.mark.programs
def test_a_success_imports_nothing_heavy(host: Host) -> None:
    """Neither before the command nor behind it."""
    start = "import sys; sys.argv[1:] = ['exec', '--', 'true']; from otel_errcompact_lab.cli.start import main; main()"
    bare = _list_imports(host, sys.executable, "-X", "importtime", "-c", "pass")
    found = _list_imports(host, sys.executable, "-X", "importtime", "-c", start) - bare
    assert "otel_errcompact_hosts.wrapping.executing" in found
    assert found & HEAVY == set()
    packages = {name.partition(".")[0] for name in found if name.startswith("otel_errcompact")}
    assert packages == {"otel_errcompact_hosts", "otel_errcompact_lab"}


@pytest.mark.programs
def test_the_prefix_imports_nothing_heavy(host: Host) -> None:
    """It starts the interpreter without its packages."""
    path = write_launcher(host.folder / "own")
    path.write_text(path.read_text().replace("-I -S -c", "-I -S -X importtime -c"))
    found = _list_imports(host, str(path), write_script("true"))
    assert "otel_errcompact_hosts.wrapping.shell_prefix" in found
    assert found & HEAVY == set()


@pytest.mark.programs
@pytest.mark.parametrize(
    "options",
    [[], ["--raw"], ["--run", "r"], ["--run=r", "--tool", "t"], ["--hold", "5", "--tool=t"], ["--hold=0.5"]],
)
def test_plain_forms_need_no_library_of_the_command_line(host: Host, options: list[str]) -> None:
    """Their options are read by hand."""
    (host.folder / "broken").mkdir()
    (host.folder / "broken" / "typer.py").write_text("raise ImportError('not needed')")
    path = f"{host.folder / 'broken'}:{host.environ['PYTHONPATH']}"
    for words in (["--", "echo", "--run", "x"], ["echo", "--run", "x"]):
        assert host.run(*EXEC, *options, *words, PYTHONPATH=path).output == b"--run x\n"


def test_every_option_is_described() -> None:
    """What is read by hand is what the help shows."""
    from typer.main import get_command

    from otel_errcompact_lab.cli.start import _OPTIONS

    described = {name for option in get_command(app).commands["exec"].params for name in option.opts}
    assert described - {"command", "--help", "-h"} == {*_OPTIONS, "--raw"}


@pytest.mark.programs
def test_help_is_shown(host: Host) -> None:
    """As of any other command."""
    ended = host.run(*EXEC, "--help")
    assert ended.status == 0
    assert b"OTEL_ERRCOMPACT_EXEC_HOLD_SECONDS" in ended.output


@pytest.mark.programs
def test_raw_leaves_a_failure_as_it_is(host: Host) -> None:
    """Bytes, streams and status, and nothing is kept."""
    failing = ("sh", host.environ["FAILING"])
    assert host.run(*EXEC, "--raw", "--", *failing) == host.run(*failing)
    assert host.run(*EXEC, "--raw=yes", "--", "true").status == 2
    assert host.kept == []
