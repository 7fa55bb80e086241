"""Fifteen ways in which one raw error reaches an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


def _prefixed(prefix: str) -> Callable[[str], str]:
    return lambda raw: "\n".join(prefix + line for line in raw.rstrip("\n").split("\n")) + "\n"


def _between(before: str, after: str) -> Callable[[str], str]:
    return lambda raw: f"{before}{raw.rstrip()}\n{after}"


def _counted(form: str) -> Callable[[str], str]:
    return lambda raw: "".join(
        form.format(minute=at // 60, second=at % 60, part=at * 7_919 % 1_000, line=line)
        for at, line in enumerate(raw.rstrip("\n").split("\n"), start=7)
    )


def _as_stderr(raw: str) -> str:
    return json.dumps({"stdout": "", "stderr": raw, "exit_code": 1, "duration_ms": 1843}, ensure_ascii=False)


def _as_mcp(raw: str) -> str:
    return json.dumps({"content": [{"type": "text", "text": raw}], "isError": True}, ensure_ascii=False)


WRAPPINGS: Final[dict[str, Callable[[str], str]]] = {
    "harness header": _between("Exit code 1\n", ""),
    "harness header of five lines": _between(
        "Chunk ID: 9c41e0\nWall time: 2.0417 seconds\nProcess exited with code 1\nOriginal token count: 212\nOutput:\n",
        "",
    ),
    "JSON with stderr": _as_stderr,
    "MCP result with isError": _as_mcp,
    "Python repr": repr,
    "Markdown fence": _between("```\n", "```\n"),
    "compose prefix": _prefixed("web-1  | "),
    "progress before": _between(
        "[1/5] Resolving packages...\n[2/5] Fetching packages...\n[3/5] Linking dependencies...\n"
        "[4/5] Building fresh packages...\n[5/5] Done in 3.41s.\n",
        "",
    ),
    "trailer behind": _between(
        "", "[The command completed with exit code 1.]\n[Current working directory: /home/dev]\n"
    ),
    "log prefix with time": _counted("2026-11-22 20:{minute:02d}:{second:02d},{part:03d} INFO runner: {line}\n"),
    "pid prefix": _prefixed("(41207) "),
    "CI time": _counted("2026-11-22T20:{minute:02d}:{second:02d}.{part:03d}1948Z {line}\n"),
    "colours": lambda raw: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in raw.rstrip("\n").split("\n")),
    "runner prefix": _prefixed("[lint:go] "),
    "CRLF and indented": lambda raw: "".join(f"    {line}\r\n" for line in raw.rstrip("\n").split("\n")),
}
"""What it is called, and what makes it of a bare raw error."""
