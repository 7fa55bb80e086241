"""The operation of a call."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.detector.operation.arguments import named_targets, session_targets
from otel_errcompact.detector.operation.command_line import (
    COMMAND_ARGUMENTS,
    MAX_COMMAND,
    NAMES_COMMAND,
    SHELL_TOOLS,
    command_in,
    invocations_in,
    runs_commands,
)
from otel_errcompact.detector.operation.fingerprint import parse_arguments
from otel_errcompact.detector.operation.program_targets import targets_of
from otel_errcompact.detector.operation.programs import row_of
from otel_errcompact.detector.operation.sql import is_sql, tables_in
from otel_errcompact.detector.operation.targets import MAX_TARGET, bound_targets, clean_target, folder_target
from otel_errcompact.errors import Operation
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ARGUMENTS: Final = 1_000_000
"""Characters of JSON arguments beyond which no target is looked for."""

_MAX_PROGRAMS: Final = 8
_FOLDER_ARGUMENTS: Final = (
    "workdir", "cwd", "working_directory", "workingDirectory", "directory", "dir_path", "work_dir",
)  # fmt: skip
_ACTION_ARGUMENTS: Final = ("action", "operation", "method", "subcommand")
_ACTION: Final = lazy_pattern(r"[A-Za-z][\w-]{0,30}\Z")


def operation_of(tool: str, arguments: str | Mapping[str, object] | None, *, target: str = "") -> Operation:
    """
    Return the operation that resolves a failure of this call.

    The program and its subcommand belong to it, so that listing files does not resolve a failing test. The arguments
    are JSON, a mapping, or the command line itself; `target` is known better by the caller.
    """
    if type(tool) is not str:
        tool = str(tool) if isinstance(tool, str) else type(tool).__name__  # pyright: ignore[reportUnnecessaryIsInstance]
    try:
        found = _identify_operation(tool, arguments)
    except Exception:  # noqa: BLE001 - the application's own mappings may raise anything
        found = Operation(tool)
    return Operation(found.name, (clean_target(target),)) if target else found


def _identify_operation(tool: str, arguments: str | Mapping[str, object] | None) -> Operation:
    if isinstance(arguments, str):
        if not runs_commands(tool, arguments):
            return _identify_text(tool, arguments)
        if NAMES_COMMAND.search(arguments) is None and not arguments.lstrip().startswith("{"):
            return _identify_command(tool, arguments[:MAX_COMMAND], {})
        arguments = cast("Mapping[str, object] | None", parse_arguments(arguments))
    if not isinstance(arguments, Mapping):
        return Operation(tool)
    for name in COMMAND_ARGUMENTS:
        if name in arguments:
            if command := command_in(arguments):
                return _identify_command(tool, command, arguments)
            return Operation(tool, named_targets(arguments))
    return _identify_arguments(tool, arguments)


def _identify_text(tool: str, arguments: str) -> Operation:
    if arguments[:1] == "{" or arguments.lstrip()[:1] == "{":
        parsed = parse_arguments(arguments) if len(arguments) <= MAX_ARGUMENTS else None
        if not isinstance(parsed, dict):
            return Operation(tool)
        return _identify_arguments(tool, cast("Mapping[str, object]", parsed))
    word = arguments.strip() if len(arguments) <= MAX_TARGET else ""
    return Operation(tool, (clean_target(word),)) if word and not any(map(str.isspace, word)) else Operation(tool)


def _identify_arguments(tool: str, arguments: Mapping[str, object]) -> Operation:
    name = tool
    for argument in _ACTION_ARGUMENTS:
        action = arguments.get(argument)
        if isinstance(action, str) and _ACTION.match(action):
            name = f"{tool} {action}"
            break
    return Operation(name, named_targets(arguments))


def _identify_command(tool: str, command: str | Sequence[object], arguments: Mapping[str, object]) -> Operation:
    is_shell = tool.lower() in SHELL_TOOLS
    if not is_shell and isinstance(command, str) and is_sql(command):
        return Operation(tool, bound_targets([*tables_in(command), *named_targets(arguments)]))
    targets = [*session_targets(arguments)] if is_shell else [*named_targets(arguments)]
    folder = next((str(arguments[name]) for name in _FOLDER_ARGUMENTS if isinstance(arguments.get(name), str)), "")
    runs = [run for run in islice(invocations_in(command), _MAX_PROGRAMS) if not run.piped]
    if not runs:
        return Operation(tool, bound_targets([*targets, *folder_target(folder)]))
    if len(runs) > 1:
        runs = [run for run in runs if not row_of(run.program).helps] or runs
    own, folder, wide = targets_of(runs[0], folder)
    targets += [*own, *folder_target(folder)]
    # The success of several programs is none of one of them alone.
    wide = wide and len(runs) == 1
    for run in runs[1:]:
        further, _, _ = targets_of(run, "")
        targets += further if run.program == runs[0].program else [f"and {run.program}", *further]
    return Operation(f"{tool} {runs[0].program}", bound_targets(targets), wide)
