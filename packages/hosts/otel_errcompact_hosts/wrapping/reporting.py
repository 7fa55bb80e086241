"""Say how a command has failed, instead of what it printed."""

from __future__ import annotations

import re
import sys
from json import dumps
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact_hosts.client import asking
from otel_errcompact_hosts.client.hook import LIMIT_S, READING_S
from otel_errcompact_hosts.wrapping.command import REPORTED, read_seconds
from otel_errcompact_hosts.wrapping.output import TAIL_BYTES
from otel_errcompact_hosts.wrapping.processes import shell_status
from otel_errcompact_hosts.wrapping.raw_files import list_folders, remove_oldest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from otel_errcompact_hosts.wrapping.command import Command
    from otel_errcompact_hosts.wrapping.output import Output
    from otel_errcompact_hosts.wrapping.running import Execution

ANSWER_VARIABLE: Final = "OTEL_ERRCOMPACT_EXEC_ANSWER_SECONDS"
RESULTS: Final = "/v1/results"
_FINE: Final = 200
MAX_SENT: Final = 1024 * 1024
"""How many bytes of an output are judged: half of them its beginning, half its end."""

WHOLE: Final = "[errcompact: whole output, "
ENDS: Final = f"[errcompact: first and last {TAIL_BYTES >> 20} MiB of the output, "
"""How the line begins that names the file."""

_POINTER: Final = re.compile(
    rf"^(?:{re.escape(WHOLE)}|{re.escape(ENDS)})[0-9,]{{1,20}} bytes: (/[^\n]{{1,4096}})\]$", re.MULTILINE
)

_BINARY_BYTES: Final = 8_000
"""The bytes in which a zero byte shows that an output is no text, as git does it."""

_SHORT_BYTES: Final = 2_000
"""What was streamed and is no longer needs no digest behind it the first time."""

_LAST_BYTES: Final = 4_096
_UNKNOWN_TURN: Final = {"turn": "unknown"}
"""One for all: where no hook says what succeeds between failures, they are not called a row."""


class _Judged(NamedTuple):
    text: str
    seen: int
    is_counted: bool
    """Whether the service has counted it, so that the class and its number mean something later."""

    short: str = ""
    """The name of its class."""

    guidance: str = ""
    """The line with what a human has answered; no later answer of the service has it again."""


def report_end(execution: Execution, command: Command) -> None:
    """
    Print what an agent reads of a command that failed.

    Whatever goes wrong here, the output is printed whole.
    """
    execution.find_pipelines()
    guidance = said = ""
    try:
        replaces = execution.can_replace
        judged = _judge_output(execution, command)
        if judged is not None:
            guidance = judged.guidance
            said = _write_text(judged, execution.output, replaces=replaces)
        if said and replaces:
            execution.replace()
    except Exception:  # noqa: BLE001 - nothing of ours may take the output away
        said = ""
    if not said:
        execution.release()
        said = f"{_break_line(execution.output)}{guidance}\n" if guidance else ""
    # Of separate streams the one for errors: what reads the other expects what the command makes.
    own = [stream for stream in execution.streams if not stream.is_redirected]
    if said:
        execution.write(own[-1], said.encode(errors="surrogateescape"))
    if WHOLE not in said and ENDS not in said:
        execution.output.drop()


def _judge_output(execution: Execution, command: Command) -> _Judged | None:
    if execution.is_unread or all(stream.is_redirected for stream in execution.streams):
        return None
    head, tail, left_out = execution.output.read_ends(MAX_SENT)
    if b"\0" in head[:_BINARY_BYTES] or _is_digested((tail or head)[-_LAST_BYTES:], command):
        return None
    return _judge_text(_decode_output(head, tail, left_out), execution, command)


def _write_text(judged: _Judged, output: Output, *, replaces: bool) -> str:
    if not judged.text:
        return ""
    head, tail, left_out = output.read_ends(MAX_SENT)
    repeats_all = not left_out and _decode_output(head, tail, left_out).strip() in judged.text
    if not _says_more(judged, output.total, replaces=replaces, repeats_all=repeats_all):
        return ""
    before = "" if replaces else _break_line(output)
    text = "\n".join(filter(None, (judged.text.rstrip(), judged.guidance)))
    # Of bytes that are no UTF-8 a digest has only marks.
    if repeats_all and head.strip() in judged.text.encode(errors="surrogateescape"):
        return f"{before}{text}\n"
    pointer = _keep_output(output, judged.short)
    return f"{before}{text}\n{pointer}\n" if pointer else ""


def _break_line(output: Output) -> str:
    head, tail, _ = output.read_ends(_LAST_BYTES)
    return "\n" if (tail or head)[-1:] not in {b"", b"\n"} else ""


def _says_more(judged: _Judged, total: int, *, replaces: bool, repeats_all: bool) -> bool:
    # The digest of what is short repeats it; it is worth reading for its count.
    if judged.seen > 1:
        return True
    if not total:
        return False
    if replaces:
        return not repeats_all or judged.is_counted
    return total > _SHORT_BYTES


def _keep_output(output: Output, short: str) -> str:
    begin = WHOLE if output.is_whole else ENDS
    path = output.keep(short)
    if not path:
        return ""
    remove_oldest(path)
    return f"{begin}{output.total:,} bytes: {path}]"


def _is_digested(end: bytes, command: Command) -> bool:
    # A text may say anything: a line of ours names a file that we keep.
    named = _POINTER.findall(end.decode(errors="surrogateescape"))
    if not named:
        return False
    from pathlib import Path

    folders = {Path(folder).resolve() for folder in list_folders(command.environ)}
    return any(Path(each).is_file() and Path(each).resolve().parent in folders for each in named)


def _judge_text(raw: str, execution: Execution, command: Command) -> _Judged | None:
    status = shell_status(execution.status or 0)
    path = asking.find_socket(command.environ)
    if path:
        turn = {} if command.reports_all else _UNKNOWN_TURN
        body = dumps({**command.describe(), **REPORTED, **turn, "text": raw, "exit_status": status}).encode()
        limit_s = read_seconds(command.environ, ANSWER_VARIABLE, LIMIT_S) + READING_S * len(body) / MAX_SENT
        reply = asking.ask_service(path, RESULTS, body, limit_s=limit_s)
        answer = reply.read() if reply is not None and reply.status == _FINE else {}
        if isinstance(answer.get("outcome"), str):
            return _read_answer(answer)
    return _judge_here(raw, status, command)


def _read_answer(answer: Mapping[str, object]) -> _Judged:
    text, guidance = answer.get("digest"), answer.get("guidance")
    seen, short = _member(answer, "counts", "class"), _member(answer, "class", "short")
    return _Judged(
        text=text if isinstance(text, str) and answer["outcome"] == "failure" else "",
        seen=seen if isinstance(seen, int) else 1,
        is_counted=True,
        short=short if isinstance(short, str) and short.isalnum() else "",
        guidance=guidance if isinstance(guidance, str) else "",
    )


def _member(answer: Mapping[str, object], name: str, inner: str) -> object:
    found = answer.get(name)
    return cast("dict[str, object]", found).get(inner) if isinstance(found, dict) else None


def _judge_here(raw: str, status: int, command: Command) -> _Judged | None:
    if sys.flags.no_site:  # the prefix of shells starts without packages, and few commands fail
        import site

        site.main()
    from otel_errcompact_hosts.wrapping.digesting import judge_command

    found = judge_command(raw, status, command.describe())
    return _Judged(text=found[0], seen=1, is_counted=False, short=found[1]) if found is not None else None


def _decode_output(head: bytes, tail: bytes, left_out: int) -> str:
    if not left_out:
        return head.decode(errors="replace")
    between = f"\n[{left_out:,} bytes left out]\n"
    return f"{head.decode(errors='replace')}{between}{tail.decode(errors='replace')}"
