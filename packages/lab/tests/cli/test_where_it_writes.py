"""The command line writes what it was given, and nothing else anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.programs

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1\n'
COMMANDS = [
    pytest.param(["key"], TRACE, set(), id="key"),
    pytest.param(["digest"], TRACE, set(), id="digest"),
    pytest.param(["analyze", "runs.jsonl"], "", set(), id="analyze"),
    pytest.param(["replay", "runs.jsonl"], "", set(), id="replay"),
    pytest.param(
        ["replay", "runs.jsonl", "--trajectory", "given.jsonl"],
        "",
        {"given.jsonl", "given.runs.jsonl"},
        id="replay to a file",
    ),
    pytest.param(["report", "runs.jsonl", "-o", "page.html"], "", {"page.html"}, id="report"),
    pytest.param(["stack", "export", "given"], "", {"given"}, id="stack export"),
    pytest.param(["demo", "--help"], "", set(), id="demo --help"),
]


@pytest.mark.parametrize(("command", "given", "written"), COMMANDS)
def test_nothing_is_written_but_what_was_asked_for(
    tmp_path: Path, command: list[str], given: str, written: set[str]
) -> None:
    """Not in the working directory, not in the home, and no temporary file stays."""
    here, home, temporary = (tmp_path / name for name in ("here", "home", "temporary"))
    for folder in (here, home, temporary):
        folder.mkdir()
    failed = {"role": "tool", "tool_call_id": "1", "content": TRACE}
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [{"role": "user", "content": "go"}, asked, failed]
    (here / "runs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in messages), encoding="utf-8")
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", "from otel_errcompact_lab.cli.main import main; main()", *command],
        cwd=here,
        env=environ,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert {path.name for path in here.iterdir()} - {"runs.jsonl"} == written
    assert (list(home.iterdir()), list(temporary.iterdir())) == ([], [])
