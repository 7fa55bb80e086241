"""Open envelopes, in which protocols and frameworks wrap the output of tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.extract.cleaning.literals import Call, NotRead, read_literal
from otel_errcompact.extract.payload.values import is_list, is_object
from otel_errcompact.extract.statements import is_exception_name
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_ENVELOPE: Final = 262_144
"""Characters of an envelope that is opened; a larger one is read as the text it is."""

MAX_DEPTH: Final = 6
"""Envelopes inside envelopes that are opened at once."""

_MARGIN: Final = 64
_CLOSING: Final = {"{": "}", "[": "]", "'": "'", '"': '"', "`": "`"}
_CALL: Final = lazy_pattern(r"[A-Za-z_][\w.]{1,120}\(")
_PAIRS: Final = lazy_pattern(r"[a-z_]\w{0,60}=[\[({'\"\w<]")
_BYTES: Final = lazy_pattern(r"[bBuU]['\"]")
_FENCE: Final = "```"
_HOLDER: Final = lazy_pattern(r"(?:[\w.]*\.)?[A-Z]\w*(?:Content|Result|Message|Output|Response|Block|Observation)$")
_OF_TOOLS: Final = lazy_pattern(r"(?:[\w.]*\.)?Tool(?:Invocation|Execution|Call|Use)?(?:Error|Exception)$")
"""Exceptions that frameworks raise for whatever a tool says."""

_STREAMS: Final = ("stderr", "stdout", "output", "error", "result", "observation", "logs")
_OF_COMMANDS: Final = frozenset({"stderr", "stdout"})
_STATUSES: Final = ("exitcode", "returncode", "exitstatus", "retcode", "rc", "code", "status")
_NUMBERS_OF_ANYTHING: Final = frozenset({"code", "status"})
"""Names of a status that is an exit status only beside the streams of a command."""

_MAX_STATUS: Final = 255
_ABOUT: Final = frozenset((
    *_STATUSES, "iserror", "success", "ok", "type", "tool", "toolname", "toolcallid", "tooluseid", "callid",
    "metadata", "interrupted", "isimage", "timedout", "timeout", "duration", "durationms", "durationseconds", "elapsed",
    "elapsedms", "walltime", "walltimeseconds", "command", "cmd", "args", "cwd", "workdir", "workingdirectory",
    "directory", "structuredcontent", "meta", "nooutputexpected", "resulttype", "role", "name", "annotations",
    "killed", "signal", "pid", "shell", "artifact", "additionalkwargs", "responsemetadata", "truncated", "jsonrpc",
    "killsignal", "sessionid", "chunkid", "processid", "originaltokencount", "stdouttruncated", "stderrtruncated",
))  # fmt: skip
"""Fields that say something of the output and are none of it."""

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})


class Opened(NamedTuple):
    """What an envelope holds."""

    text: str
    exit_code: int | None = None


def open_envelope(text: str) -> Opened | None:
    """
    Return the output in an envelope, nothing if `text` is none.

    Envelopes are MCP's results and lists of content blocks, objects whose only content are the streams of a command,
    strings as JSON, Python and JavaScript print them, and all of these as an object prints itself. One line in a
    flag's company is left to those who read error bodies: that is the answer of an API.
    """
    begin, end = text[:_MARGIN].lstrip(), text[-_MARGIN:].rstrip()[-1:]
    if not _may_be_envelope(begin, end) or len(text) > MAX_ENVELOPE:
        return None
    try:
        return _open_value(_read_value(text.strip(), begin[0]), 0)
    except (NotRead, RecursionError):
        return None


def _may_be_envelope(begin: str, end: str) -> bool:
    first = begin[:1]
    if first in _CLOSING and not begin.startswith(_FENCE):
        return end == _CLOSING[first]
    if end == ")":
        return _CALL.match(begin) is not None
    return _PAIRS.match(begin) is not None or (end in ("'", '"') and _BYTES.match(begin) is not None)


def _read_value(text: str, first: str) -> object:
    if first in ("{", "["):
        lowered = text.lower()
        if not any(name in lowered for name in ("text", "content", *_STREAMS)):
            raise NotRead
    if first in ("{", "[", '"'):
        try:
            return json.loads(text, strict=False)
        except ValueError:
            pass
    return read_literal(text)


def _open_value(value: object, depth: int) -> Opened | None:
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, str):
        return Opened(value)
    if isinstance(value, Call):
        return _open_call(value, depth)
    if is_list(value):
        return _join_blocks(value, depth)
    return _open_object(value, depth) if is_object(value) else None


def _open_call(call: Call, depth: int) -> Opened | None:
    # Open the call that prints an object; an exception becomes `Type: message`.
    if not call.positional:
        return _open_object(call.fields, depth)
    only = call.positional[0] if len(call.positional) == 1 and not call.fields else None
    if not isinstance(only, str):
        return None
    if is_exception_name(call.name) and not _OF_TOOLS.match(call.name):
        # Python quotes the message of a KeyError, because it is a key.
        return Opened(f"{call.name}: {only!r}" if call.name == "KeyError" else f"{call.name}: {only}")
    return Opened(only) if _HOLDER.match(call.name) or _OF_TOOLS.match(call.name) else None


def _open_object(value: Mapping[str, Any], depth: int) -> Opened | None:
    result = value.get("result")
    if "jsonrpc" in value and is_object(result):
        return _open_object(result, depth + 1)
    content = value.get("content")
    if content is not None and _is_about(value, {"content", "id"}):
        return None if content == "" else _open_value(content, depth + 1)
    if isinstance(value.get("text"), str) and value.get("type") in _TEXTS:
        return Opened(value["text"])
    return _join_streams(value)


def _is_about(fields: Iterable[str], besides: Iterable[str]) -> bool:
    return all(name in besides or _normalise_name(name) in _ABOUT for name in fields)


def _normalise_name(name: str) -> str:
    # Unify the spellings of a field: `exit_code`, `exitCode`, `exit-code`.
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _join_blocks(blocks: list[Any], depth: int) -> Opened | None:
    fields = [block.fields if isinstance(block, Call) else block for block in blocks]
    if not all(is_object(block) and isinstance(block.get("type"), str) for block in fields):
        return None
    texts = [_open_object(block, depth + 1) for block in fields if block["type"] != "image"]
    said = [opened.text for opened in texts if opened is not None]
    return Opened("\n".join(said)) if said else None


def _join_streams(fields: Mapping[str, Any]) -> Opened | None:
    named = {_normalise_name(name): value for name, value in fields.items()}
    if named.keys().isdisjoint(_STREAMS) or not _is_about(named, _STREAMS):
        return None
    streams = [named[name] for name in _STREAMS if named.get(name) is not None]
    if not all(isinstance(stream, str) for stream in streams):
        return None
    said = "\n".join(dict.fromkeys(stream for stream in streams if stream.strip()))
    exit_code = next(_list_exit_codes(named), None)
    if exit_code is None and ("\n" not in said.strip() and named.keys().isdisjoint(_OF_COMMANDS)):
        return None
    return Opened(said, exit_code) if said or exit_code else None


def _list_exit_codes(fields: Mapping[str, Any]) -> Iterator[int]:
    of_command = not fields.keys().isdisjoint(_OF_COMMANDS)
    metadata = fields.get("metadata")
    inner = {_normalise_name(name): value for name, value in metadata.items()} if is_object(metadata) else {}
    for source in (fields, inner):
        for name in _STATUSES:
            value = source.get(name)
            is_status = of_command or name not in _NUMBERS_OF_ANYTHING
            if is_status and type(value) is int and abs(value) <= _MAX_STATUS:
                yield value
