"""
The agent's tools. They are real, and so are their failures.

A copy of this file is loaded from the agent's workspace, where a user's own tools would stand: code that runs out of
the installed package would rightly be taken for a library's. So it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from email.message import Message
    from pathlib import Path

COMMAND_TIMEOUT_S: Final = 60
PYTEST: Final = ("pytest", "-q", "--tb=native", "-rN", "-p", "no:cacheprovider")
UNITTEST: Final = ("unittest",)

# What would make the output of a child differ from machine to machine.
_UNWANTED: Final = frozenset({"FORCE_COLOR", "PY_COLORS", "PYTEST_ADDOPTS", "PYTHONPATH", "PYTHONWARNINGS"})
_WANTED: Final = {
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Answer(NamedTuple):
    """What a tool gives back when it raises nothing."""

    text: str
    failed: bool = False
    exit_code: int | None = None


def tools(root: Path) -> Mapping[str, Callable[..., Answer]]:
    """Return the tools by name, at work in the folder `root`."""

    def read_json(path: str) -> Answer:
        document = json.loads((root / path).read_text(encoding="utf-8"))
        return Answer(json.dumps(document))

    def read_line(path: str, line: int) -> Answer:
        return Answer((root / path).read_text(encoding="utf-8").splitlines()[line - 1].strip())

    def edit_line(path: str, line: int, append: str) -> Answer:
        target = root / path
        lines = target.read_text(encoding="utf-8").splitlines()
        lines[line - 1] += append
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return Answer(f"{path}:{line} is now: {lines[line - 1].strip()}")

    def query(sql: str) -> Answer:
        with closing(sqlite3.connect(root / "sales.db")) as connection:
            return Answer(json.dumps(connection.execute(sql).fetchall()))

    def columns(table: str) -> Answer:
        with closing(sqlite3.connect(root / "sales.db")) as connection:
            rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            return Answer(", ".join(name for (name,) in rows))

    def run_tests() -> Answer:
        runner = PYTEST if find_spec("pytest") else UNITTEST
        return _run_command(root, [sys.executable, "-m", *runner, "tests/test_stats.py"])

    def shell(command: str) -> Answer:
        program, *arguments = command.split()
        return _run_command(root, [sys.executable if program == "python" else program, *arguments])

    def publish(report: str, url: str, timeout: int) -> Answer:
        request = Request(url, data=(root / report).read_bytes(), method="POST")  # noqa: S310 - a loopback address
        try:
            # No proxy of the environment stands between the agent and the loopback address.
            with build_opener(ProxyHandler({})).open(request, timeout=timeout) as response:
                return Answer(_as_text(response.status, response.reason, response.headers, response.read()))
        except HTTPError as error:
            with error:
                return Answer(_as_text(error.code, error.reason, error.headers, error.read()), failed=True)

    return {
        tool.__name__: tool for tool in (read_json, read_line, edit_line, query, columns, run_tests, shell, publish)
    }


def _run_command(root: Path, command: Sequence[str]) -> Answer:
    environment = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    environment |= _WANTED
    done = subprocess.run(  # noqa: S603 - the scripted agent's own commands
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False
    )
    return Answer(done.stdout + done.stderr, failed=done.returncode != 0, exit_code=done.returncode)


def _as_text(status: int, reason: str, headers: Message, body: bytes) -> str:
    # As `curl -i` prints it.
    return f"HTTP/1.1 {status} {reason}\n{headers}{body.decode()}"
