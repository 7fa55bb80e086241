"""The last steps of the tutorial, with the real programs: the class is counted, and the pager prints the alert."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Final

from e2e.backends import eventually
from e2e.programs import free_ports
from tests.docs.pages import PAGES, read_blocks

if TYPE_CHECKING:
    from e2e.stack import Stack

PAGE: Final = "docs/tutorial.md"
BLOCKS: Final = read_blocks(PAGE, PAGES[PAGE].read_text(encoding="utf-8"))


def find(start: str) -> str:
    """Return the block that begins so."""
    (found,) = {block.code for block in BLOCKS if block.code.startswith(start)}
    return found


def test_the_tutorial_ends_with_an_alert(bare_stack: Stack, tmp_path: Path) -> None:
    """Its program, its commands and its pager, against the stack that is shipped."""
    for name in ("shop.py", "pager.py"):
        (tmp_path / name).write_text(find(f"# {name}\n"), encoding="utf-8")
    addresses = {
        "http://localhost:4317": bare_stack.collector_grpc,
        "http://localhost:9090": bare_stack.prometheus,
    }

    def command(start: str) -> str:
        code = find(start)
        for there, here in addresses.items():
            code = code.replace(there, here)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["sh", "-ec", code],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert command("OTEL_SERVICE_NAME=shop ").count("#7149") == 4
    eventually(lambda: '"4"' in command("curl -s --get "), seconds=60, what="the class in Prometheus")
    eventually(
        lambda: bare_stack.webhook.firing("AgentErrorRecurring", service_name="shop"), seconds=60, what="the alert"
    )
    (alert, *_) = bare_stack.webhook.firing("AgentErrorRecurring", service_name="shop")
    assert printed_by_the_pager(tmp_path, alert.notification).startswith("firing AgentErrorRecurring ")


def printed_by_the_pager(folder: Path, notification: object) -> str:
    """Return what the pager of the page prints of a notification of Alertmanager."""
    (port,) = free_ports(1)
    code = (folder / "pager.py").read_text(encoding="utf-8").replace("8000", str(port))
    (folder / "pager.py").write_text(code, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "pager.py"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as pager:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps(notification).encode(), method="POST")
        eventually(lambda: _sent(request), seconds=30, what="the pager")
        assert pager.stdout is not None
        line = pager.stdout.readline()
        pager.kill()
    return line


def _sent(request: urllib.request.Request) -> bool:
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False
