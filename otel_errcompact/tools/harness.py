"""What agent harnesses say of their own tools: a failed edit, a file not read yet, a time-out, an unknown tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.clipping import MAX_DETAIL, clip, details
from otel_errcompact.extract.grammar import (
    NOWHERE,
    Facts,
    Format,
    Found,
    Lines,
    Location,
    Text,
    form,
    place_of,
    split_names,
)
from otel_errcompact.extract.messages.calls import read_call
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.stacks.python import HEADER
from otel_errcompact.extract.statements import is_telling, statement_of
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_HEAD: Final = 2_000
"""Characters at the start in which a harness says what was wrong."""

_MAX_QUOTED: Final = 80
_MAX_ERRORS: Final = 6
_MAX_LINES_OF_OUTPUT: Final = 3
_MAX_LINES_OF_ECHO: Final = 12


class _Form(NamedTuple):
    """One thing a harness says, by how it begins."""

    begins: str
    type: str
    pattern: str = ""
    """What follows the beginning where that alone does not tell; with `file` and `line` where it names them."""

    quotes: bool = False
    """Whether the lines that follow quote what the agent itself has sent."""


_FILE: Final = r"[`'\"]?(?P<file>[^\s`'\":]{1,400}?)[`'\"]?"
_OPERAND: Final = rf"(?: {_FILE}(?=\s|\Z))?(?!.{{0,1000}}\n    at )"
_FORMS: Final = (
    # Claude Code
    _Form("String to replace not found in file", "StringNotFound", quotes=True),
    _Form("Found ", "AmbiguousString", r"[0-9]{1,6} matches of the string to replace", quotes=True),
    _Form("File has not been read yet", "FileNotRead"),
    _Form("File has been modified since read", "FileModified"),
    _Form("File has been unexpectedly modified", "FileModified"),
    _Form("File must be read first", "FileNotRead"),
    _Form("File content (", "FileTooLarge", r".{1,40}\) exceeds maximum allowed "),
    _Form("File does not exist", "FileNotFound"),
    _Form("Path does not exist", "FileNotFound", rf"(?:: {_FILE}\.?(?=\s|\Z))?"),
    _Form("Directory does not exist", "FileNotFound", rf"(?:: {_FILE}\.?(?=\s|\Z))?"),
    _Form("No changes to make: ", "NoChange", "old_string and new_string are exactly the same"),
    _Form("Cannot create new file - file already exists", "FileExists"),
    _Form("No such tool available: ", "UnknownTool"),
    _Form("Unknown skill: ", "UnknownSkill"),
    _Form("Skill ", "UnknownSkill", r"\"?[\w:.-]{1,100}\"? (?:not found|does not exist|is not available)"),
    _Form("Agent type '", "UnknownAgent", r"[^'\n]{1,100}' not found"),
    _Form("Permission to use ", "PermissionDenied", r"[^\n]{1,1500} has been (?:auto-)?denied"),
    _Form("Claude requested permissions to ", "PermissionDenied", r"[^\n]{1,1500} you haven't granted it yet"),
    _Form("This command requires approval", "PermissionDenied"),
    _Form("Unable to verify if domain ", "PermissionDenied"),
    _Form("Shell cwd was reset", "WorkingDirectoryReset"),
    _Form("No task found with ID", "UnknownTask"),
    _Form("No shell found with ID", "UnknownTask"),
    # Codex
    _Form("execution error: ", "ExecutionFailed"),
    _Form("failed in sandbox", "SandboxDenied"),
    _Form("sandbox denied", "SandboxDenied"),
    _Form("sandbox error: ", "SandboxDenied"),
    _Form("failed to parse function arguments: ", "InvalidArguments"),
    _Form("unsupported call: ", "UnknownTool"),
    _Form("unsupported custom tool call: ", "UnknownTool"),
    _Form("write_stdin failed: ", "UnknownTask"),
    _Form("patch rejected: ", "EditRejected"),
    _Form("apply_patch handler received ", "EditRejected"),
    # OpenHands and the editor tool it shares with others
    _Form("Invalid `", "InvalidArguments", r"\w{1,60}` parameter: (?:(?P<file>/[^\s`]{1,400}?)(?=[.:]?\s))?"),
    _Form("Parameter `", "InvalidArguments", r"\w{1,60}` is required"),
    _Form("Parameter '", "InvalidArguments", r"\w{1,60}' is expected to be one of "),
    _Form("Missing required ", "InvalidArguments", r"(?:parameters?|arguments?)\b"),
    _Form("Missing value for required parameter", "InvalidArguments"),
    _Form("Unrecognized command ", "InvalidArguments"),
    _Form("Failed to parse tool call arguments", "InvalidArguments"),
    _Form("File already exists at: ", "FileExists", rf"{_FILE}\.?(?=\s|\Z)"),
    _Form("File not found: ", "FileNotFound", rf"{_FILE}\.?(?=\s|\Z)"),
    _Form("No edit history found for ", "NoEditHistory", rf"{_FILE}\.?(?=\s|\Z)"),
    # SWE-agent
    _Form("No file open", "NoFileOpen"),
    _Form("No exact match found in ", "StringNotFound", quotes=True),
    # Gemini CLI and Qwen Code
    _Form("Failed to edit, could not find the string to replace", "StringNotFound"),
    _Form("Failed to edit, 0 occurrences found for old_string in ", "StringNotFound", rf"{_FILE}\.?\s"),
    _Form("Failed to edit, ", "AmbiguousString", rf"[Ee]xpected [^\n]{{1,80}} in file: {_FILE}\.?(?=\s|\Z)"),
    _Form('Tool "', "UnknownTool", r"[^\"\n]{1,100}\" (?:not found|does not exist|is not available)"),
    _Form("params must have required property ", "InvalidArguments"),
    _Form("params/", "InvalidArguments", r"[\w/]{1,100} must "),
    _Form("File path must be ", "InvalidArguments"),
    _Form("Path not in workspace: ", "PermissionDenied"),
    # Copilot CLI, Cursor, Cline, Zed and their kin
    _Form("No match found", "StringNotFound", r"(?: for replacement| in the file)?[.:]?(?=\s|\Z)", quotes=True),
    _Form("Multiple matches found", "AmbiguousString", quotes=True),
    _Form("Could not find the string to replace", "StringNotFound", quotes=True),
    _Form("The string to replace was not found", "StringNotFound", quotes=True),
    _Form("The specified string to replace was not found", "StringNotFound", quotes=True),
    _Form("No sufficiently similar match found", "StringNotFound", quotes=True),
    _Form("oldText not found", "StringNotFound", quotes=True),
    _Form("old_string not found", "StringNotFound", quotes=True),
    _Form("oldString not found", "StringNotFound", quotes=True),
    _Form("Could not find exact match for edit", "StringNotFound", quotes=True),
    # LangGraph, LangChain, OpenAI's agents, pydantic-ai, CrewAI, smolagents, AutoGen, MCP
    _Form("Unknown tool", "UnknownTool", r"(?: name)?[: ][^\n]{1,300}"),
    _Form("Unknown function", "UnknownTool", r"[: ][^\n]{1,300}"),
    _Form("Tool '", "UnknownTool", r"[^'\n]{1,100}' (?:not found|does not exist|is not available|is not registered)"),
    _Form("Tool ", "UnknownTool", r"[\w.:/-]{1,100} (?:not found(?: in agent [^\n]{1,100})?\.?\Z|not listed\.?\Z)"),
    _Form("Function ", "UnknownTool", r"[\w.:/-]{1,100} (?:not found|is not found)\.?\Z"),
    _Form("Action '", "UnknownTool", r"[^'\n]{1,100}' don't exist, these are the only available Actions"),
    _Form("Error in code parsing:", "InvalidCode"),
    _Form("Error executing tool ", "ToolError", r"[\w.:/-]{1,100}\Z"),
    # Node, which most harnesses are written in; with a stack it is no harness that speaks
    _Form("EISDIR: ", "EISDIR", rf"illegal operation on a directory, \w{{1,20}}{_OPERAND}"),
    _Form("ENOENT: ", "ENOENT", rf"no such file or directory, \w{{1,20}}{_OPERAND}"),
    _Form("EACCES: ", "EACCES", rf"permission denied, \w{{1,20}}{_OPERAND}"),
    _Form("ENOTDIR: ", "ENOTDIR", rf"not a directory, \w{{1,20}}{_OPERAND}"),
    _Form("EEXIST: ", "EEXIST", rf"file already exists, \w{{1,20}}{_OPERAND}"),
)

_PREFIX: Final = form(r"(?:(?:ERROR|Error|error|Tool error|Tool execution error):\s{0,3})?\[?")
_QUOTED: Final = form(r"(?:String: ?|[`>]{0,3})(?P<line>[^\n]{0,1000})")


def read(text: Text) -> Facts | None:
    """Return the facts of a text that begins in a harness's own words."""
    body = text.body
    last = body.rfind(_TIMED_OUT_AT_END)
    if last > 0 and "\n" not in body[last + 1 :]:
        return _timed_out_at_end(body, last)
    start = 0 if body[:1] not in _STARTS_OF_PREFIX else _end_of_prefix(body)
    reading = read_call(body[start:])
    if reading is not None:
        found = _build_facts(reading.type, reading.cause, more=reading.details, key=reading.key)
        return replace(found, key_is_whole=True)
    if not body.startswith(_BEGINNINGS, start):
        return _unknown_tool(body, start)
    for begins, read in _READERS:
        if body.startswith(begins, start):
            facts = read(body, start)
            if facts is not None:
                return facts
    return None


def _end_of_prefix(body: str) -> int:
    # Return where the words begin, behind `Error: ` and an opening bracket.
    found = _PREFIX.match(body)
    return found.end() if found else 0


def _build_facts(
    kind: str, cause: str, *, location: Location = NOWHERE, more: Iterable[str] = (), key: str = ""
) -> Facts:
    return Facts(type=kind, cause=clip(cause), location=location, details=details(more), key_cause=key)


def _split_lines(body: str, start: int = 0) -> list[str]:
    return [line for line in map(str.strip, body[start : start + MAX_HEAD].split("\n")) if line]


# --- sentences -------------------------------------------------------------------------------------------------------


def _build_reader(row: _Form) -> Callable[[str, int], Facts | None]:
    pattern = form(re.escape(row.begins) + row.pattern, re.DOTALL)

    def read(body: str, start: int) -> Facts | None:
        found = pattern.match(body, start)
        if found is None:
            return None
        first, *rest = _split_lines(body, start)
        file = found["file"] if "file" in pattern.groupindex else None
        return _build_facts(
            row.type,
            first.removesuffix("]"),
            location=Location(file=file.rstrip(".,") if file else ""),
            more=_first_quoted(rest) if row.quotes else rest[:_MAX_LINES_OF_OUTPUT],
        )

    return read


def _first_quoted(lines: Lines) -> list[str]:
    # Return the first line of what the agent has sent, which tells it which of its calls is meant.
    found = next((found["line"] for found in map(_QUOTED.match, lines) if found and found["line"].strip()), "")
    return [f"> {clip(found, _MAX_QUOTED)}"] if found else []


# --- edits -----------------------------------------------------------------------------------------------------------

_NOT_REPLACED: Final = form(
    r"No replacement was performed, old_str [`'\"]?(?P<old>.{0,60000}?)[`'\"]? did not appear verbatim in "
    r"(?P<file>[^\s`]{1,400}?)\.?(?=\s|\Z)",
    re.DOTALL,
)
_NOT_UNIQUE: Final = form(
    r"No replacement was performed\. Multiple occurrences of old_str [`'\"]?"
    r"(?P<old>.{0,60000}?)[`'\"]? in lines:? (?P<lines>[^\n]{1,200})",
    re.DOTALL,
)
_ECHO: Final = "This is how your edit would have looked"
_ECHOED_FILE: Final = form(r"\n\[File: (?P<file>[^\n]{1,400}?) \({number} lines total\)\]")
_ORIGINAL: Final = "This is the original code before your edit"
_LISTED: Final = form(r"(?m)^(?P<number>{number})[:|](?P<code>.*)$")
_MAX_LISTED: Final = 20_000
"""Characters of a listing in which the edges of an edit are looked for."""

_LEFT_BELOW: Final = form(r"(?m)^\((?P<count>{number}) more lines? below\)$")
_QUOTED_TOKEN: Final = form(r"'(?P<token>[^'\s\w]{1,3})'")
_MAX_TOKENS: Final = 2
"""Lines of an edit that are shown because they hold nothing but the token that the linter quotes."""

_PLACE: Final = form(r"(?P<file>/{path}):{line}(?::{number})?(?:: {message})?\Z")
_PATCHED_FILE: Final = form(
    r" (?:in|update|delete|file|at) (?P<file>(?:[A-Za-z]:)?[^\s:]{0,400}[./\\]{path}?)(?=:|\s|\Z)"
)
_SEARCH_BLOCK: Final = form(r"## \w{1,60}: (?P<message>[^\n]{1,300}? in (?P<file>[^\s]{1,400}))\s")
_ACTUAL_LINES: Final = form(r"\nDid you mean to match some of these actual lines[^\n]*\n\s{0,9}```[^\n]*\n")


def _not_replaced(body: str, start: int) -> Facts | None:
    # Read `No replacement was performed`: the text sought is the agent's own and may be long.
    found = _NOT_REPLACED.match(body, start)
    if found is not None:
        file = found["file"]
        return _build_facts(
            "StringNotFound",
            f"No replacement was performed, old_str did not appear verbatim in {file}",
            location=Location(file=file),
            more=_first_quoted(_split_lines(found["old"])),
        )
    found = _NOT_UNIQUE.match(body, start)
    if found is not None:
        return _build_facts(
            "AmbiguousString",
            f"No replacement was performed. Multiple occurrences of old_str in lines {found['lines']}",
            more=_first_quoted(_split_lines(found["old"])),
            key="No replacement was performed. Multiple occurrences of old_str",
        )
    return _build_facts("EditRejected", _split_lines(body, start)[0])


def _rejected_edit(body: str, start: int) -> Facts:
    # Read a linter's veto: what the linter found, without the file around it, which is echoed twice.
    end = body.find(_ECHO, start)
    first, *rest = _split_lines(body[: end if end >= 0 else len(body)], start)
    echoed = _ECHOED_FILE.search(body, end) if end >= 0 else None
    location = Location(file=echoed["file"]) if echoed else NOWHERE
    errors: list[str] = []
    for line in rest[:_MAX_LINES_OF_ECHO]:
        place = _PLACE.match(line)
        if place is not None:
            location = location if errors else place_of(place)
            errors += [place["message"]] if place["message"] else []
        elif line.startswith("- "):
            errors.append(line[2:])
    errors = list(dict.fromkeys(errors))
    return _build_facts(
        "EditRejected",
        errors[0] if errors else first.partition(". ")[0].strip("[]."),
        location=location,
        more=(*errors[1:_MAX_ERRORS], *_show_edit(body, end, location.line, errors[0] if errors else "")),
        key=" + ".join(sorted(set(errors))),
    )


def _show_edit(body: str, start: int, line: int | None, error: str) -> list[str]:
    # Return the line that the linter names, else the edges of the edit: there brackets and margins break.
    original = body.find(_ORIGINAL, start) if start >= 0 else -1
    if original < 0:
        return []
    before, after = _read_listing(body[original:]), _read_listing(body[start:original])
    named = next((at for at, (number, _) in enumerate(after.lines) if number == str(line)), None)
    shown = _find_edges(before, after, error) if named is None else [at for at in (named - 1, named) if at >= 0]
    return [_write_listed(*after.lines[at]) for at in shown if after.lines[at][1]]


class _Listing(NamedTuple):
    """A part of a file, as an editor lists it."""

    lines: list[tuple[str, str]]
    """Numbers and code."""

    below: int
    """Lines of the file below it."""


def _read_listing(part: str) -> _Listing:
    below = _LEFT_BELOW.search(part)
    lines = [(found["number"], found["code"].rstrip()) for found in _LISTED.finditer(part[:_MAX_LISTED])]
    return _Listing(lines, int(below["count"]) if below else 0)


def _find_edges(before: _Listing, after: _Listing, error: str) -> list[int]:
    numbers = dict(before.lines)
    codes = [code for _, code in after.lines]
    first = next((at for at, (number, code) in enumerate(after.lines) if numbers.get(number, code) != code), None)
    first = len(codes) - 1 if first is None else first
    last = max(_last_changed(before, after), first)
    quoted = _QUOTED_TOKEN.search(error)
    alone = [at for at in range(first, min(last + 2, len(codes))) if quoted and codes[at].strip() == quoted["token"]]
    shown = {first - 1, first, last, last + 1, *alone[:_MAX_TOKENS]}
    return sorted(at for at in shown if 0 <= at < len(codes))


def _last_changed(before: _Listing, after: _Listing) -> int:
    # The two listings may end at different lines of the file; behind the edit the distance to its end is the same.
    shift = after.below - before.below
    old = before.lines[: max(len(before.lines) - max(shift, 0), 0)]
    new = after.lines[: max(len(after.lines) - max(-shift, 0), 0)]
    pairs = zip(reversed(old), reversed(new), strict=False)
    same = next((at for at, ((_, one), (_, other)) in enumerate(pairs) if one != other), min(len(old), len(new)))
    return len(new) - 1 - same


def _write_listed(number: str, code: str) -> str:
    margin = len(code) - len(code.lstrip())
    return f"> {number}{f' (indented {margin})' if margin else ''}: {clip(code, _MAX_QUOTED)}"


def _read_patch(body: str, start: int) -> Facts:
    # Read the words of `apply_patch`, which are followed by lines of the patch.
    said, _, patch = body[start : start + MAX_HEAD].partition("\n")
    place = _PATCHED_FILE.search(said)
    return _build_facts(
        "EditRejected",
        said.removesuffix(":"),
        location=Location(file=place["file"]) if place else NOWHERE,
        more=_first_quoted(_split_lines(patch)),
    )


def _search_block(body: str, start: int) -> Facts | None:
    first = body[start : start + MAX_HEAD].partition("\n")[0]
    if "SEARCH/REPLACE block" not in first or "failed to match" not in first:
        return None
    block = _SEARCH_BLOCK.search(body, start)
    similar = _ACTUAL_LINES.search(body, start)
    lines = body[similar.end() : similar.end() + MAX_HEAD].partition("```")[0].split("\n") if similar else ()
    return _build_facts(
        "StringNotFound",
        block["message"] if block else first.lstrip("# "),
        location=Location(file=block["file"]) if block else NOWHERE,
        more=(f"did you mean: {line}" for line in lines[:_MAX_LINES_OF_OUTPUT] if line.strip()),
    )


# --- time-outs, arguments, tools -------------------------------------------------------------------------------------

_TIMED_OUT: Final = form(
    r"(?i)\[?(?:(?:the )?(?:command|execution|tool(?: call)?)(?: '[^\n]{1,500}')? (?:execution )?timed out"
    r"|execution of (?:the )?command timed out|the command '"
    r"(?P<command>.{1,2000}?)' was cancelled because it took more)[^\n]*",
    re.DOTALL,
)
_TIMED_OUT_AT_END: Final = "\n[The command timed out"
_INVALID: Final = form(
    r"InputValidationError: (?P<tool>[\w.:-]{1,100}) failed due to the following issues?:\s{1,3}(?P<issues>.{1,2000})",
    re.DOTALL,
)
_NO_VALID_TOOL: Final = form(r"(?P<tool>[\w.:/-]{1,100}) is not a valid tool, try (?:one of|another one)\b")
_EXECUTING: Final = form(
    r"(?:Error (?:executing|invoking|running|calling) tool|Tool|Failed to (?:execute|call) tool"
    r"|Error in tool) [`'\"]?(?P<tool>[\w.:/-]{1,100})[`'\"]?(?: with kwargs [^\n]{1,1000} with error"
    r"| execution failed| failed)?:\s{1,4}(?P<message>\S.{0,20000})",
    re.DOTALL,
)
_RUNNING: Final = form(
    r"(?:An error occurred while running the tool\. Please try again\. Error:|Tool execution (?:failed"
    r"|error):|I encountered an error while trying to use the tool\. This was the error:"
    r"|The tool execution failed with the following error:|Code execution failed at line '[^\n]{1,500}' "
    r"due to:|exec_command failed for `[^\n]{1,2000}`:)\s{0,4}(?P<message>\S.{0,20000})",
    re.DOTALL,
)
_REPRESENTED: Final = form(
    r"(?P<type>[A-Z]\w{1,80})\((?P<quote>['\"])(?P<message>.{1,4000})(?P=quote)(?:,\s?)?\)\Z", re.DOTALL
)
_ADVICE: Final = form(
    r"\s+(?:Please fix (?:your mistakes|the error and try again)\.?|Fix the errors and try again\.?"
    r"|Tool [\w.-]{1,100} accepts these inputs: .{0,4000})\Z",
    re.DOTALL,
)
_INVALID_FIELDS: Final = form(r"(?:\A{number} validation errors?(?: for |:)|\A\s?[\w.]{1,100}: Field required)")


def _timed_out(body: str, start: int) -> Facts | None:
    found = _TIMED_OUT.match(body, start)
    if found is None:
        return None
    said = [line for line in body[found.end() :].split("\n") if is_telling(line)]
    return _build_facts(
        "ToolTimeout", found[0].strip("[]"), more=said[-_MAX_LINES_OF_OUTPUT:], key=_key_of_time_out(found)
    )


def _timed_out_at_end(body: str, start: int) -> Facts:
    said = [line for line in body[:start].split("\n") if is_telling(line)]
    return _build_facts("ToolTimeout", body[start:].strip("\n[]"), more=said[-_MAX_LINES_OF_OUTPUT:], key="timed out")


def _key_of_time_out(found: Found) -> str:
    return f"timed out: {found['command']}" if found["command"] else "timed out"


def _read_invalid(body: str, start: int) -> Facts | None:
    # Read Claude Code's list of what is wrong with a call's arguments.
    found = _INVALID.match(body, start)
    if found is None:
        return None
    issues = _split_lines(found["issues"])
    reading = read_message(found["issues"])
    if reading.type:
        cause = f"{found['tool']}: {reading.cause}"
        return replace(_build_facts(reading.type, cause, more=reading.details, key=reading.key), key_is_whole=True)
    return _build_facts("InvalidArguments", f"{found['tool']}: {issues[0]}", more=issues[1:_MAX_ERRORS])


def _unknown_tool(body: str, start: int) -> Facts | None:
    # Read `x is not a valid tool, try one of [...]`, which begins with the name that is none.
    if " is not a valid tool, try " not in body[start : start + MAX_DETAIL]:
        return None
    found = _NO_VALID_TOOL.match(body, start)
    return _build_facts("UnknownTool", _split_lines(body, start)[0]) if found else None


def _read_tool_exception(body: str, start: int) -> Facts | None:
    # Read what a framework says of a tool that raised: the tool's name, then the exception's message.
    found = _EXECUTING.match(body, start) if HEADER not in body else None
    return _read_wrapped_message(found["tool"], found["message"]) if found else None


def _read_run_exception(body: str, start: int) -> Facts | None:
    found = _RUNNING.match(body, start) if HEADER not in body else None
    return _read_wrapped_message("", found["message"]) if found else None


def _read_wrapped_message(tool: str, message: str) -> Facts:
    message = _ADVICE.sub("", message)
    represented = _REPRESENTED.match(message)
    first = message.partition("\n")[0]
    stated = None if represented else statement_of(first)
    if represented is not None:
        kind, message = represented["type"], represented["message"].replace("\\n", "\n").replace("\\'", "'")
        inner = _EXECUTING.match(message)
        if inner is not None:
            return _read_wrapped_message(inner["tool"], inner["message"])
    elif stated is not None:
        kind, message = stated.type, stated.message + message[len(first) :]
    else:
        kind = "InvalidArguments" if _INVALID_FIELDS.search(message) else "ToolError"
    reading = read_message(message)
    before = f"{tool}: " if tool and not reading.cause.startswith(f"{tool}: ") else ""
    if reading.type:
        found = _build_facts(reading.type, f"{before}{reading.cause}", more=reading.details, key=reading.key)
        return replace(found, key_is_whole=True)
    return _build_facts(
        kind, f"{before}{reading.cause}", more=reading.details, key=f"{before}{reading.key}" if reading.key else ""
    )


# --- the table -------------------------------------------------------------------------------------------------------

_READERS: Final[tuple[tuple[str | tuple[str, ...], Callable[[str, int], Facts | None]], ...]] = (
    ("No replacement was performed", _not_replaced),
    ("Your proposed edit has introduced new syntax error", _rejected_edit),
    ("apply_patch verification failed: ", _read_patch),
    ("# ", _search_block),
    (("Command timed out", "command timed out", "EXECUTION TIMED OUT", "Execution timed out"), _timed_out),
    (("The command ", "Execution of ", "Tool execution timed out", "Tool timed out", "Command execution"), _timed_out),
    ("InputValidationError: ", _read_invalid),
    (("Error executing tool", "Error invoking tool", "Error running tool", "Error calling tool"), _read_tool_exception),
    (("Error in tool", "Failed to execute tool", "Failed to call tool"), _read_tool_exception),
    (
        ("An error occurred while running the tool", "I encountered an error while trying", "Code execution f"),
        _read_run_exception,
    ),
    (("The tool execution failed with", "exec_command failed for", "Tool execution "), _read_run_exception),
    *((row.begins, _build_reader(row)) for row in _FORMS),
    ("Tool ", _read_tool_exception),
)
_BEGINNINGS: Final = tuple(
    begins for beginning, _ in _READERS for begins in ((beginning,) if isinstance(beginning, str) else beginning)
)
_STARTS_OF_PREFIX: Final = frozenset("EeT[: \n")

FORMAT: Final = Format(
    name="harness",
    rejects=split_names(
        "AmbiguousString, EditRejected, FileModified, FileNotRead, FileTooLarge, InvalidArguments, InvalidCode, "
        "NoChange, NoEditHistory, NoFileOpen, PermissionDenied, StringNotFound, UnknownAgent, UnknownSkill, "
        "UnknownTask, UnknownTool, ValidationError"
    ),
    read=read,
    markers=(),
    openings=_BEGINNINGS,
)
