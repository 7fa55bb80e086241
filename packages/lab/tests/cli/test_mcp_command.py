"""`errcompact mcp`, as far as it needs no server."""

from __future__ import annotations

import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from packages.lab.tests.cli.test_main import started

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact

SETTINGS = '{"mcpServers": {"files": {"command": "npx", "args": ["files"]}, "odd": {"url": 7}}}\n'
WRAPPED = (
    '{"mcpServers": {"files": {"command": "errcompact", "args": ["mcp", "--", "npx", "files"]}, "odd": {"url": 7}}}\n'
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".mcp.json").write_text(SETTINGS)
    (tmp_path / ".mcp.json").chmod(0o640)
    return tmp_path / ".mcp.json"


def test_a_file_is_wrapped_and_unwrapped(errcompact: Errcompact, settings: Path) -> None:
    """It shows what it changes, and names what it leaves; permissions stay."""
    outcome = errcompact("mcp", "wrap", ".mcp.json", "--yes")
    assert outcome.code == 0
    assert f"-{SETTINGS}" in outcome.out
    assert f"+{WRAPPED}" in outcome.out
    assert outcome.out.endswith(".mcp.json: files changed; start the client again\n")
    assert "'odd' stays as it is: its 'url' is no text\n" in outcome.err
    assert settings.read_text() == WRAPPED
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    assert errcompact("mcp", "unwrap", ".mcp.json", "-y").code == 0
    assert settings.read_text() == SETTINGS
    assert list(settings.parent.iterdir()) == [settings]


def test_without_a_terminal_it_asks_for_yes(errcompact: Errcompact, settings: Path) -> None:
    """Nothing is written unseen."""
    outcome = errcompact("mcp", "wrap", ".mcp.json", "--server", "files")
    assert outcome.code == 1
    assert "nothing was written; repeat the command with --yes, or in a terminal" in outcome.err
    assert settings.read_text() == SETTINGS


def test_what_is_done_already(errcompact: Errcompact, settings: Path) -> None:
    """Is no fault, and changes nothing."""
    outcome = errcompact("mcp", "unwrap", ".mcp.json", "--yes")
    assert (outcome.code, outcome.out, outcome.err) == (0, "nothing to do\n", "")
    assert settings.read_text() == SETTINGS


def test_a_link_stays_a_link(errcompact: Errcompact, settings: Path) -> None:
    """Settings are often kept elsewhere."""
    link = settings.with_name("link.json")
    link.symlink_to(settings)
    assert errcompact("mcp", "wrap", "link.json", "--yes").code == 0
    assert link.is_symlink()
    assert settings.read_text() == WRAPPED


@pytest.mark.programs
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", ".mcp.json is no JSON: line 1, column 2: a key in double quotes, or '}' was expected"),
        (b"\xff", ".mcp.json: is no UTF-8, which settings are written in"),
        (b"{}", ".mcp.json names no MCP server; known are 'mcpServers' (Claude, Cursor, Gemini)"),
    ],
)
def test_a_file_that_cannot_be_read(settings: Path, content: bytes, words: str) -> None:
    """Is left alone, with one line that says why."""
    settings.write_bytes(content)
    done = started("mcp", "wrap", ".mcp.json", "--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert settings.read_bytes() == content


@pytest.mark.programs
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--url", "example.com"], "mcp: 'example.com' is no address; it begins with http:// or https://"),
        (["--url", "http://a", "--", "x"], "mcp: give the server's command behind '--', or its address with --url"),
        (["--url", "http://a", "--transport", "ws"], "mcp: --transport 'ws' is not known; it is http or sse"),
        (["--url", "http://a", "--header", "secret"], "mcp: --header 'secret' is no header; write it as 'NAME: VALUE'"),
        (["--", "no-such-server", "wrap"], "mcp: no program 'no-such-server' is found"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], words: str) -> None:
    """With what to do about it."""
    done = started("mcp", *arguments)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert words in done.stderr


def test_help_shows_what_is_run(errcompact: Errcompact) -> None:
    """Without any argument as well."""
    outcome = errcompact("mcp")
    assert outcome.code == 0
    assert "errcompact mcp -- npx -y @modelcontextprotocol/server-filesystem ." in outcome.out
    assert errcompact("mcp", "--help").out == outcome.out


@pytest.mark.programs
def test_a_server_is_started_without_the_library_of_the_command_line() -> None:
    """A client starts the proxy for every session, and often several."""
    code = (
        "import sys; from otel_errcompact_lab.cli.direct import run_directly\n"
        "status = run_directly(['mcp', '--', 'true'])\n"
        "print(status, [name for name in ('typer', 'rich', 'fastapi', 'mcp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], input="", capture_output=True, text=True, check=True)
    assert done.stdout == "0 []\n"
