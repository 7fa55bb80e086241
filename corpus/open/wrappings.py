"""
How harnesses, protocols, runners and logs wrap the text of an error: the key is that of the text itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _prefix(prefix: str, text: str) -> str:
    return "\n".join(prefix + line for line in text.split("\n"))


def _numbered(text: str) -> str:
    """
    Write each line as BuildKit does: the step, then the seconds since it began.
    """
    return "\n".join(f"#14 {0.31 + number * 0.013:.3f} {line}" for number, line in enumerate(text.split("\n")))


def _timed(text: str) -> str:
    """
    Write each line as a hosted CI does: a time of seven decimals.
    """
    lines = [f"2026-11-23T01:02:{3 + n % 50:02}.{4567890 + n}Z {line}" for n, line in enumerate(text.split("\n"))]
    return "\n".join([*lines, "2026-11-23T01:02:59.9912345Z ##[error]Process completed with exit code 1."])


def _rpc(text: str) -> str:
    content = [{"type": "text", "text": text}]
    return json.dumps({"jsonrpc": "2.0", "id": 7, "result": {"content": content, "isError": True}})


DOWNLOADS: Final = """Collecting depot-sdk
  Downloading depot_sdk-2.4.1-py3-none-any.whl (184 kB)
Installing collected packages: depot-sdk
Successfully installed depot-sdk-2.4.1
"""

WRAPPINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "return code and output tags": lambda text: f"<returncode>1</returncode>\n<output>\n{text}\n</output>",
    "terminal session with wall time": lambda text: (
        f"Chunk ID: 4f2a1c\nWall time: 0.8123 seconds\nProcess exited with code 1\nOriginal token count: 212\n"
        f"Output:\n{text}"
    ),
    "status lines behind": lambda text: (
        f"{text}\n[The command completed with exit code 1.]\n[Current working directory: /home/dev/depot]\n"
        "[Python interpreter: /usr/bin/python3]\n[Command finished with exit code 1]"
    ),
    "observation with prompt": lambda text: (
        f"OBSERVATION:\n{text}\n\n(Open file: n/a)\n(Current directory: /home/dev/depot)\nbash-$"
    ),
    "JSON of a process": lambda text: json.dumps({"success": False, "exit_code": 1, "stdout": "", "stderr": text}),
    "JSON-RPC result with isError": _rpc,
    "repr of a tool message": lambda text: (
        f"ToolMessage(content={text!r}, name='bash', tool_call_id='call_9fQ2LmX0', status='error')"
    ),
    "repr of an MCP result": lambda text: (
        f"CallToolResult(meta=None, content=[TextContent(type='text', text={text!r}, annotations=None)], isError=True)"
    ),
    "sentence and fence": lambda text: f"The command failed with exit code 1:\n\n```console\n{text}\n```",
    "pod prefix": lambda text: _prefix("[pod/depot-api-7d9f8b6c5-x2lqp/api] ", text),
    "hosted CI": _timed,
    "image build step": _numbered,
    "task runner": lambda text: _prefix("@depot/api:build: ", text),
    "system journal": lambda text: _prefix("Nov 23 01:02:03 host-17 depot[4123]: ", text),
    "downloads before, make behind": lambda text: f"{DOWNLOADS}{text}\nmake: *** [Makefile:12: check] Error 1",
}
