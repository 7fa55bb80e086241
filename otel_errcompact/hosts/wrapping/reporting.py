"""Say how a command has ended, in place of what it has printed."""

from __future__ import annotations

import sys
from json import dumps
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.hosts.wrapping import asking
from otel_errcompact.hosts.wrapping.processes import shell_status
from otel_errcompact.hosts.wrapping.raw_files import remove_oldest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact.hosts.wrapping.command import Command
    from otel_errcompact.hosts.wrapping.output import Output
    from otel_errcompact.hosts.wrapping.running import Execution

RESULTS: Final = "/v1/results"
MAX_SENT: Final = 1024 * 1024
"""How many bytes of an output are judged: half of them its beginning, half its end."""

POINTER: Final = "[errcompact: whole output, "
"""How the line begins that names the file."""

_BINARY_BYTES: Final = 8_000
"""The bytes in which a zero byte shows that an output is no text, as git does it."""

_SHORT_BYTES: Final = 2_000
"""What was streamed and is no longer needs no digest behind it the first time."""

_LAST_BYTES: Final = 4_096


class _Judged(NamedTuple):
    is_failure: bool
    text: str
    seen: int
    is_counted: bool
    """Whether the service has counted it, so that the class and its number mean something later."""


def report_end(execution: Execution, command: Command) -> None:
    """
    Print what an agent reads of a command that may have failed.

    Whatever goes wrong here, the output is printed whole.

    Args:
        execution: The command after its end.
        command: What it was.
    """
    try:
        said = _replace(execution, command)
    except Exception:  # noqa: BLE001 - nothing of ours may take the output away
        said = ""
    if not said:
        execution.release()
        execution.output.drop()
        return
    execution.is_held = False
    # Of separate streams the one for errors: what reads the other expects what the command makes.
    own = [stream for stream in execution.streams if not stream.is_redirected]
    own[-1].write(said.encode(errors="surrogateescape"))


def _replace(execution: Execution, command: Command) -> str:
    output = execution.output
    if execution.is_unread or all(stream.is_redirected for stream in execution.streams):
        return ""
    head, tail, left_out = output.read_ends(MAX_SENT)
    if b"\0" in head[:_BINARY_BYTES] or POINTER.encode() in (tail or head)[-_LAST_BYTES:]:
        return ""
    raw = _decode(head, tail, left_out)
    judged = _judge(raw, execution, command)
    if judged is None or not judged.is_failure or not judged.text:
        return ""
    is_whole = not left_out and raw.strip() in judged.text
    if not _says_more(judged, output.total, is_held=execution.is_held, is_whole=is_whole):
        return ""
    before = "" if execution.is_held or raw.endswith("\n") or not raw else "\n"
    text = f"{before}{judged.text.rstrip()}\n"
    if is_whole:
        output.drop()
        return text
    pointer = _keep(output)
    return f"{text}{pointer}\n" if pointer else ""


def _says_more(judged: _Judged, total: int, *, is_held: bool, is_whole: bool) -> bool:
    # The digest of what is short repeats it; it is worth reading for its count.
    if judged.seen > 1:
        return True
    if not total:
        return False
    if is_held:
        return not is_whole or judged.is_counted
    return total > _SHORT_BYTES


def _keep(output: Output) -> str:
    is_whole, total = output.is_whole, output.total
    path = output.keep()
    if not path:
        return ""
    remove_oldest(path)
    cut = "" if is_whole else " without its middle"
    return f"{POINTER}{total:,} bytes{cut}: {path}]"


def _judge(raw: str, execution: Execution, command: Command) -> _Judged | None:
    status = shell_status(execution.status or 0)
    path = asking.find_socket(command.environ)
    if path:
        body = {**command.describe(), "text": raw, "exit_code": status}
        answer = asking.ask(path, RESULTS, dumps(body).encode())
        if answer is not None and isinstance(answer.get("outcome"), str):
            return _read(answer)
    # A success that only looks like a failure is left to the service.
    return _judge_here(raw, status, command) if status else None


def _read(answer: Mapping[str, object]) -> _Judged:
    text, count = answer.get("text"), answer.get("count")
    return _Judged(
        is_failure=answer["outcome"] == "failure",
        text=text if isinstance(text, str) else "",
        seen=count if isinstance(count, int) else 1,
        is_counted=True,
    )


def _judge_here(raw: str, status: int, command: Command) -> _Judged:
    _find_packages()
    from otel_errcompact.hosts.calls import HostCall, HostResult
    from otel_errcompact.hosts.wrapping.digesting import conclude

    answer = conclude(HostCall(**command.describe()), HostResult(text=raw, exit_code=status))
    return _Judged(is_failure=answer.outcome == "failure", text=answer.text, seen=answer.count, is_counted=False)


def _find_packages() -> None:
    # The prefix of shells starts without them, and few commands fail.
    if sys.flags.no_site:
        import site

        site.main()


def _decode(head: bytes, tail: bytes, left_out: int) -> str:
    if not left_out:
        return head.decode(errors="replace")
    between = f"\n[{left_out:,} bytes left out]\n"
    return f"{head.decode(errors='replace')}{between}{tail.decode(errors='replace')}"
