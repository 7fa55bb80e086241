"""What the scenarios have in common: agents with few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import otel_errcompact as errcompact

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED_A = """\
FAILED tests/test_a.py::test_total - assert 7.2 == 7.25
1 failed in 0.12s
"""
PASSED = "1 passed in 0.10s\n"


def bash(run: errcompact.Run, command: str, output: str, exit_code: int = 0) -> errcompact.Call:
    """Execute a command that prints `output` and ends with `exit_code`."""
    with run.tool("bash", arguments={"command": command}) as call:
        call.exit_code = exit_code
        call.result = output
    return call


def edit(run: errcompact.Run, path: str, new: str, problem: str = "") -> errcompact.Call:
    """Edit a file, or fail with a problem."""
    with run.tool("edit", arguments={"path": path, "new_string": new}) as call:
        if problem:
            call.fail(problem)
        else:
            call.result = "edited"
    return call


def attempt(
    run: errcompact.Run, name: str, arguments: dict[str, object] | None, function: Callable[[], object]
) -> errcompact.Call:
    """Call a function as the documentation shows it: what is refused is not executed."""
    with run.tool(name, arguments=arguments) as call:
        if not call.refused:
            call.result = function()
    return call


def raising(error: Exception) -> Callable[[], object]:
    """Make a function that raises an error like `error` at the same place each time."""

    def function() -> object:
        raise type(error)(*error.args)

    return function


def words(text: str) -> str:
    return " ".join(text.lower().split())


def steps(run: errcompact.Run) -> list[tuple[str, int, str]]:
    """Each escalation of a run: threshold, count, action."""
    return [
        (answered.escalation.threshold, answered.escalation.count, answered.action)
        for answered in run.report().escalations
    ]
