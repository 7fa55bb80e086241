"""The proxy and servers that others have written: from npm, and from PyPI by release 1 of the SDK."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integrations.links.inspection import PROXY, Inspector, compare

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[3]
CACHE = ROOT / ".environments" / "mcp-strangers"
FROM_NPM = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/inspector@0.15.0",
)
FROM_PYPI = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")

Calls = list[tuple[str, dict[str, Any]]]


def install(*command: str | Path) -> None:
    """Run a program that installs."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def npm() -> Path:
    """The folder of the packages from npm."""
    if shutil.which("npm") is None:
        if os.environ.get("CI"):
            pytest.fail("npm is missing")
        pytest.skip("npm is missing, which has the servers")
    folder = CACHE / "npm"
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != "\n".join(FROM_NPM):
        folder.mkdir(parents=True, exist_ok=True)
        install("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *FROM_NPM)
        stamp.write_text("\n".join(FROM_NPM))
    return folder / "node_modules"


@pytest.fixture(scope="module")
def pypi() -> Path:
    """The folder of the programs from PyPI."""
    folder = CACHE / "pypi"
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != "\n".join(FROM_PYPI):
        install(sys.executable, "-m", "venv", "--clear", folder)
        install(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *FROM_PYPI)
        stamp.write_text("\n".join(FROM_PYPI))
    return folder / "bin"


async def hold(tmp_path: Path, server: Sequence[str], mode: str, calls: Calls, failures: Calls) -> Inspector:
    """Compare what an inspector finds directly and through the proxy."""
    direct, through = Inspector(server, tmp_path), Inspector((*PROXY, "--", *server), tmp_path)
    expected = await direct.inspect(mode, [*calls, *failures])
    found = await through.inspect(mode, [*calls, *failures])
    compare(expected, found, failures)
    assert through.heard == direct.heard
    return through


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without a commit."""
    install("git", "init", "--quiet", tmp_path / "shop")
    return tmp_path / "shop"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_server_that_has_everything(tmp_path: Path, npm: Path, mode: str) -> None:
    """From npm, in TypeScript: sampling, elicitation, progress, structured content, pictures, links."""
    server = ("node", str(npm / "@modelcontextprotocol/server-everything/dist/index.js"))
    calls: Calls = [
        ("echo", {"message": "hello"}),
        ("get-structured-content", {"location": "New York"}),
        ("trigger-long-running-operation", {"duration": 1, "steps": 3}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-resource-links", {"count": 2}),
        ("get-tiny-image", {}),
        ("trigger-sampling-request", {"prompt": "tea?", "maxTokens": 9}),
        ("trigger-elicitation-request", {}),
    ]
    through = await hold(tmp_path, server, mode, calls, [("echo", {}), ("no-such-tool", {})])
    assert {heard[0] for heard in through.heard} >= {"progress", "sampling", "elicitation"}


async def test_a_server_of_files(tmp_path: Path, npm: Path) -> None:
    """From npm: reading works, and what it refuses is a digest."""
    (tmp_path / "tea.txt").write_text("three euros")
    server = ("node", str(npm / "@modelcontextprotocol/server-filesystem/dist/index.js"), str(tmp_path))
    calls: Calls = [("read_text_file", {"path": str(tmp_path / "tea.txt")}), ("list_allowed_directories", {})]
    failures: Calls = [
        ("read_text_file", {"path": str(tmp_path / "milk.txt")}),
        ("read_text_file", {"path": "/etc/passwd"}),
        ("edit_file", {"path": str(tmp_path / "tea.txt"), "edits": [{"oldText": "four", "newText": "five"}]}),
    ]
    await hold(tmp_path, server, "legacy", calls, failures)


async def test_servers_of_the_old_sdk(tmp_path: Path, pypi: Path, repository: Path) -> None:
    """From PyPI, in Python: the time and git."""
    calls: Calls = [("convert_time", {"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Tokyo"})]
    await hold(tmp_path, (str(pypi / "mcp-server-time"),), "auto", calls, [("get_current_time", {"timezone": "X/Y"})])
    calls = [("git_status", {"repo_path": str(repository)})]
    failures: Calls = [("git_status", {"repo_path": str(tmp_path)}), ("git_log", {"repo_path": str(repository)})]
    await hold(tmp_path, (str(pypi / "mcp-server-git"),), "auto", calls, failures)


def test_the_inspector(tmp_path: Path, npm: Path) -> None:
    """The project's own inspector prints the same, byte for byte, and of a failure the digest."""
    server = ("node", str(npm / "@modelcontextprotocol/server-everything/dist/index.js"))

    def inspect(*command: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)}
        inspector = ("node", str(npm / "@modelcontextprotocol/inspector/cli/build/cli.js"), "--cli")
        done = subprocess.run(
            [*inspector, *command], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
        )
        return done.stdout

    through = ("sh", "-c", f"exec {' '.join(PROXY)} -- {' '.join(server)}")
    for method in (
        ("tools/list",),
        ("resources/list",),
        ("tools/call", "--tool-name", "get-sum", "--tool-arg", "a=1", "b=2"),
    ):
        direct = inspect(*server, "--method", *method)
        assert direct.startswith("{")
        assert inspect(*through, "--method", *method) == direct
    failing = ("--method", "tools/call", "--tool-name", "no-such-tool")
    assert '"isError": true' in inspect(*server, *failing)
    failed = inspect(*through, *failing)
    assert '"isError": true' in failed
    assert "Tool no-such-tool not found #" in failed
