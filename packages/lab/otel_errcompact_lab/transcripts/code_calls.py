"""Calls as code in texts, which another participant runs (AutoGen)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact_lab.transcripts.run_builder import RunBuilder

_TOOL: Final = "code_executor"
_NAMES: Final = frozenset({"codeexecutor", "codeexecutoragent", "computerterminal", "executor"})
"""Names of participants that run code, without case, spaces and underscores."""

_BLOCK: Final = lazy_pattern(r"```([^\S\n]?[\w+#-]{0,20})[^\n]{0,200}\n(.*?)```", re.DOTALL)
_STATUS: Final = lazy_pattern(
    r"\s{0,20}(?:exitcode: (?=-?[0-9]{1,9} \(execution (?:failed|succeeded)\))"
    r"|The script ran, then exited with (?:an )?error \(POSIX exit code: (?=-?[0-9]{1,9}\))"
    r"|The script ran, then exited with (?:POSIX|Unix) exit code: "
    r"|The script ran but produced no output to console\. The (?:POSIX|Unix) exit code was: )(-?[0-9]{1,9})"
)


@dataclass(slots=True)
class CodeCalls:
    """The code that is run next."""

    builder: RunBuilder
    code: str = ""

    def take(self, text: str, *, speaker: str = "", time_ns: int | None = None) -> None:
        """Read a message: a result of code, or any other text."""
        status = _STATUS.match(text)
        if status or (self.code and re.sub(r"[\s_-]", "", speaker).lower() in _NAMES):
            self.run(text, int(status[1]) if status else None, time_ns)
        else:
            self.builder.say(text)
            self.write([(language.strip(), code) for language, code in _BLOCK.findall(text)])

    def write(self, blocks: list[tuple[str, str]]) -> None:
        """Note blocks of code, each with its language."""
        if blocks:
            code = {"language": blocks[0][0], "code": "\n".join(code for _, code in blocks)}
            self.code = json.dumps(code, ensure_ascii=False, separators=(",", ":"))

    def run(self, output: str, exit_code: int | None, time_ns: int | None) -> None:
        """Read the output of the code."""
        self.builder.request("", tool=_TOOL, arguments=self.code, spoken=True, time_ns=time_ns)
        self.builder.answer("", result=output, exit_code=exit_code, time_ns=time_ns)
        self.code = ""
