"""Small transcripts as programs write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "Error: no such host found"


def conversation(run_id: str, *results: str) -> dict[str, object]:
    """Make a conversation in which one tool was called for each result."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "How many rows?"}]
    for number, result in enumerate(results):
        function = {"name": "db.query", "arguments": "{}"}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    return {"task_id": run_id, "reward": 1.0, "traj": messages}


def write_lines(path: Path, *values: object) -> Path:
    """Write JSON lines; texts are written as they are."""
    lines = (value if isinstance(value, str) else json.dumps(value) for value in values)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
