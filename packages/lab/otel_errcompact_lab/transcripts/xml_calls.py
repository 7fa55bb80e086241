"""Calls as XML in texts of a chat, as of Cline."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from otel_errcompact_lab.transcripts.run_builder import RunBuilder

MAX_PARAMETERS: Final = 64
"""Parameters of one call that are read."""

_HEADER: Final = lazy_pattern(
    r"\[(?P<tool>[a-z]\w{1,60})(?: for '[^\n]{0,4000}?'[^\]\n]{0,200}| [^\]\n]{0,400})?\] Result:\s{0,4}"
)
_OPENING: Final = lazy_pattern(r"<(\w{1,60})>")
_FAILED: Final = "The tool execution failed with the following error:"
_MISSING: Final = "Missing value for required parameter"
_ABOUT: Final = ("<environment_details>", "[TASK RESUMPTION]", "<feedback>", "<user_message>")
"""What the harness or the user adds behind a result."""


@dataclass(slots=True)
class XmlCalls:
    """The newest message of the model, whose calls are answered next."""

    builder: RunBuilder
    written: str = ""

    def write(self, text: str) -> None:
        """Note a text of the model."""
        self.written = text if "</" in text else self.written

    def take(self, texts: Iterable[str]) -> list[str]:
        """Read the results among texts; return the other texts."""
        others: list[str] = []
        tool, said = "", list[str]()
        for text in texts:
            header = _HEADER.match(text) if text.startswith("[") else None
            if header is None and tool and not text.lstrip().startswith(_ABOUT):
                said.append(text)
                continue
            self._answer(tool, said)
            tool, said = "", []
            if header is None:
                others.append(text)
                continue
            tool = header["tool"]
            said = [text[header.end() :]] if header.end() < len(text) else []
        self._answer(tool, said)
        return others

    def _answer(self, tool: str, said: list[str]) -> None:
        if not tool:
            return
        result = "\n".join(said).strip("\n")
        self.builder.request("", tool=tool, arguments=_arguments_of(self.written, tool), spoken=True)
        failed = result.startswith((_FAILED, _MISSING))
        self.builder.answer("", result=result, flagged=True if failed else None)


def _arguments_of(text: str, tool: str) -> str:
    start = text.find(f"<{tool}>")
    if start < 0:
        return ""
    start += len(tool) + 2
    end = text.find(f"</{tool}>", start)
    body = text[start : end if end >= 0 else len(text)]
    found: dict[str, str] = {}
    position = 0
    while len(found) < MAX_PARAMETERS and (opening := _OPENING.search(body, position)) is not None:
        close = body.find(f"</{opening[1]}>", opening.end())
        position = close + len(opening[0]) + 1 if close >= 0 else len(body)
        found[opening[1]] = body[opening.end() : close if close >= 0 else len(body)].strip("\n")
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
