"""Code in an agent's messages, executed by another participant (AutoGen)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.lab.transcripts.run_builder import RunBuilder

TOOL: Final = "code_executor"

_NAMES: Final = frozenset({"codeexecutor", "codeexecutoragent", "computerterminal", "executor"})
"""Names of participants that run code, without case, spaces and underscores."""

_BLOCK: Final = lazy_pattern(r"```([^\S\n]?[\w+#-]{0,20})[^\n]{0,200}\n(.*?)```", re.DOTALL)
_STATUS: Final = lazy_pattern(
    r"\s{0,20}(?:exitcode: (-?[0-9]{1,9}) \(execution (?:failed|succeeded)\)"
    r"|The script ran, then exited with (?:an )?error \(POSIX exit code: (-?[0-9]{1,9})\)"
    r"|The script ran, then exited with (?:POSIX|Unix) exit code: (-?[0-9]{1,9})"
    r"|The script ran but produced no output to console\. The (?:POSIX|Unix) exit code was: (-?[0-9]{1,9}))"
)


@dataclass(slots=True)
class Executor:
    """The code that is executed next."""

    builder: RunBuilder
    code: str = ""

    def take(self, text: str, *, speaker: str = "", line: int | None = None, time_ns: int | None = None) -> None:
        """Read a message: a result of code, or any other text."""
        status = exit_code_of(text)
        ran = self.code and re.sub(r"[\s_-]", "", speaker).lower() in _NAMES
        if status is None and not ran:
            self.builder.say(text)
            self.code = _code_in(text) or self.code
            return
        self.builder.request("", tool=TOOL, arguments=self.code, spoken=True, time_ns=time_ns)
        self.builder.answer("", result=text, exit_code=status, line=line, time_ns=time_ns)
        self.code = ""


def exit_code_of(text: str) -> int | None:
    """Return the exit status above the output of code; None without one."""
    found = _STATUS.match(text)
    return int(next(group for group in found.groups() if group is not None)) if found else None


def code_of(blocks: list[tuple[str, str]]) -> str:
    """Return blocks of code as the arguments of a call."""
    if not blocks:
        return ""
    written = {"language": blocks[0][0], "code": "\n".join(code for _, code in blocks)}
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def _code_in(text: str) -> str:
    return code_of([(language.strip(), code) for language, code in _BLOCK.findall(text)])
