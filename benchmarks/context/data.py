"""
The message lists that are compacted: recorded runs as the agent's program sent them.

Of tau-bench, Claude Code and SWE-agent a list holds the task, what users and the agent said, and all calls with their
results; of OpenHands the task and the calls. The system prompt is kept beside the list. Where a recorded program has
compacted its own list, a new list begins. Traces hold no whole list and are left out.

Lists of your own are read from JSONL files, one list a line: `{"name", "source", "messages"}` with OpenAI chat messages
that begin with the user's task, and a `"system"` prompt where there is one. They are measured with either half.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from otel_errcompact_lab.transcripts import RecordedRun, find, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from otel_errcompact_lab.transcripts import RecordedCall

Messages: TypeAlias = "list[dict[str, Any]]"

LEAST_MESSAGES: Final = 16
"""A shorter list has nothing early to lose."""

_OWN: Final = frozenset({"name", "source", "messages"})
"""What each line holds of lists of your own."""

_PART: Final = " part "
_CONTINUED: Final = "This session is being continued from a previous conversation"
"""How Claude Code begins the list that takes the place of one that it has compacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    A recorded run as a list of OpenAI chat messages.
    """

    name: str
    source: str
    messages: Messages
    system: str = ""
    """What was sent beside the list."""

    is_own: bool = False
    """Whether it is of no half: a list of your own."""

    @property
    def is_held_out(self) -> bool:
        """Whether it belongs to the half that nobody tunes on: by a hash of its name."""
        run = self.name.partition(_PART)[0]
        return blake2b(run.encode(), digest_size=1).digest()[0] % 2 == 1


def read_lists(folder: Path) -> Iterator[Run]:
    """Yield the runs below a folder that are long enough."""
    for path in sorted(folder.rglob("*taubench/*.json")):
        yield from _of_length(_read_taubench(path))
    for path in sorted(find([folder])):
        if "taubench" not in path.parent.name and "jaeger" not in path.parent.name:
            rows = _read_rows(path) if path.suffix == ".jsonl" else []
            is_own = bool(rows) and rows[0].keys() >= _OWN
            yield from _of_length(_read_own(rows) if is_own else _read_calls(path, rows))


def _of_length(runs: Iterable[Run]) -> Iterator[Run]:
    return (run for run in runs if len(run.messages) >= LEAST_MESSAGES)


def _read_taubench(path: Path) -> Iterator[Run]:
    for entry in json.loads(path.read_text(encoding="utf-8")):
        messages = [dict(message) for message in entry["traj"]]
        system = messages.pop(0)["content"] if messages and messages[0]["role"] == "system" else ""
        name = f"{path.stem}/{entry['task_id']}.{entry.get('trial', 0)}"
        yield Run(name=name, source="tau-bench", messages=[_plain(message) for message in messages], system=system)


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None or key == "content"}


def _read_rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _read_own(rows: Iterable[dict[str, Any]]) -> Iterator[Run]:
    for row in rows:
        yield Run(**{key: row[key] for key in (*_OWN, "system") if key in row}, is_own=True)


def _read_calls(path: Path, rows: Sequence[dict[str, Any]]) -> Iterator[Run]:
    for run in read(path, on_problem=lambda _: None):
        if not isinstance(run, RecordedRun):
            continue
        name = f"{path.stem}/{run.run_id}"
        source = path.parent.name
        if source.startswith("claude"):
            for number, part in enumerate(_parts_of(from_claude_code(rows, run.calls))):
                yield Run(name=f"{name}{_PART}{number + 1}" if number else name, source=source, messages=part)
        elif path.suffix == ".traj":
            yield _from_swe_agent(json.loads(path.read_text(encoding="utf-8")), run, name, source)
        else:
            tasks = {_name_of(row): str(row.get("instruction") or "") for row in rows}
            task = tasks.get(run.run_id) or f"Solve {run.run_id}."
            yield Run(name=name, source=source, messages=[_said(task), *_turns(("", [call]) for call in run.calls)])


def _name_of(row: dict[str, Any]) -> str:
    issue = row.get("issue") or {}
    if issue:
        return f"{issue.get('owner')}/{issue.get('repo')}#{issue.get('number')}"
    return str(row.get("instance_id") or "")


def _said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _turns(steps: Iterable[tuple[str, Sequence[RecordedCall]]]) -> Iterator[dict[str, Any]]:
    """Yield the messages of steps: what the agent says, its calls, and their results."""
    number = 0
    for text, answered in steps:
        ids = [call.call_id or f"call_{number + index}" for index, call in enumerate(answered)]
        number += len(ids)
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if ids:
            message["tool_calls"] = [
                {"id": name, "type": "function", "function": {"name": call.tool, "arguments": _arguments_of(call)}}
                for name, call in zip(ids, answered, strict=True)
            ]
        if text or ids:
            yield message
        for name, call in zip(ids, answered, strict=True):
            yield {"role": "tool", "tool_call_id": name, "content": call.result}


def _arguments_of(call: RecordedCall) -> str:
    """Return arguments as JSON, of agents that write a command line too."""
    try:
        if isinstance(json.loads(call.arguments), dict):
            return call.arguments
    except ValueError:
        pass
    return json.dumps({"command": call.arguments})


def from_claude_code(rows: Iterable[dict[str, Any]], calls: Iterable[RecordedCall]) -> Messages:
    """
    Return the list of a session's main chain, or of a file of one sub-agent.

    Args:
        rows: The records of the file.
        calls: Its calls, as the reader of transcripts found them.
    """
    by_id = {call.call_id: call for call in calls}
    made: list[dict[str, Any] | tuple[list[str], list[RecordedCall]]] = []
    answers: dict[str, tuple[list[str], list[RecordedCall]]] = {}
    for row in rows:
        if row.get("type") not in {"user", "assistant"}:
            continue
        content = row["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [block["text"] for block in blocks if block["type"] == "text" and block["text"].strip()]
        if row["type"] == "user":
            made += [_said(text) for text in texts]
            continue
        name = row["message"].get("id") or row.get("uuid") or str(len(made))
        if name not in answers:
            answers[name] = ([], [])
            made.append(answers[name])
        answers[name][0].extend(texts)
        asked = [by_id.pop(block["id"], None) for block in blocks if block["type"] == "tool_use"]
        answers[name][1].extend(call for call in asked if call is not None)
    return [
        message
        for one in made
        for message in ([one] if isinstance(one, dict) else _turns([("\n".join(one[0]), one[1])]))
    ]


def _parts_of(messages: Messages) -> list[Messages]:
    parts: list[Messages] = [[]]
    for message in messages:
        if message["role"] == "user" and str(message["content"]).startswith(_CONTINUED) and parts[-1]:
            parts.append([])
        parts[-1].append(message)
    return parts


def _from_swe_agent(document: dict[str, Any], run: RecordedRun, name: str, source: str) -> Run:
    told = [entry for entry in document["history"] if not entry.get("is_demo")]
    opening = [(entry["role"], _text_of(entry)) for entry in takewhile(lambda one: one["role"] != "assistant", told)]
    # The reader makes a call of each step that has acted or seen something.
    steps = [step for step in document["trajectory"] if step["action"].strip() or step["observation"]]
    thoughts = [str(step.get("thought") or "").strip() for step in steps]
    messages = [_said(text) for role, text in opening if role != "system"]
    messages += _turns((text, [call]) for text, call in zip(thoughts, run.calls, strict=True))
    system = "\n".join(text for role, text in opening if role == "system")
    return Run(name=name, source=source, messages=messages, system=system)


def _text_of(entry: dict[str, Any]) -> str:
    content = entry["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
