"""The message lists that are compacted: recorded runs as the agent's program sent them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from otel_errcompact.lab.transcripts import RecordedRun, find, read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEAST_MESSAGES: Final = 16
"""A shorter list has nothing early to lose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    A recorded run as a list of OpenAI chat messages.
    """

    name: str
    source: str
    messages: list[dict[str, Any]]
    system: str = ""
    """What was sent beside the list."""

    @property
    def is_held_out(self) -> bool:
        """Whether it belongs to the half that nobody tunes on: by a hash of its name."""
        return blake2b(self.name.encode(), digest_size=1).digest()[0] % 2 == 1


def read_lists(folder: Path) -> Iterator[Run]:
    """Yield the runs below a folder that are long enough."""
    for path in sorted(folder.rglob("*taubench/*.json")):
        yield from _of_length(_read_taubench(path))
    for path in sorted(find([folder])):
        if "taubench" not in path.parent.name and "jaeger" not in path.parent.name:
            yield from _of_length(_read_calls(path))


def _of_length(runs: Iterator[Run]) -> Iterator[Run]:
    return (run for run in runs if len(run.messages) >= LEAST_MESSAGES)


def _read_taubench(path: Path) -> Iterator[Run]:
    for entry in json.loads(path.read_text()):
        messages = [dict(message) for message in entry["traj"]]
        system = messages.pop(0)["content"] if messages and messages[0]["role"] == "system" else ""
        name = f"{path.stem}/{entry['task_id']}.{entry.get('trial', 0)}"
        yield Run(name=name, source="tau-bench", messages=[_plain(message) for message in messages], system=system)


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None or key == "content"}


def _read_calls(path: Path) -> Iterator[Run]:
    for run in read(path, on_problem=lambda _: None):
        if not isinstance(run, RecordedRun):
            continue
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"Solve {path.stem}."}]
        for number, recorded in enumerate(run.calls):
            asked = {"name": recorded.tool, "arguments": recorded.arguments or "{}"}
            calls = [{"id": f"c{number}", "type": "function", "function": asked}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": recorded.result})
        yield Run(name=f"{path.stem}/{run.run_id}", source=path.parent.name, messages=messages)
